package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/keyio"
)

// dedupFPR is the false-positive rate of dedup without --fpr. A false positive is a new row that is not printed.
const dedupFPR = "0.1%"

type dedupFlags struct {
	in             inputFlags
	timeColumn     string
	keys           uint64
	fpr            float64
	ttl            time.Duration // 0: rows are never forgotten
	refresh        bool
	state          string
	interval       time.Duration
	repeats, count bool
}

func (a *app) dedupCommand() *cobra.Command {
	var f dedupFlags
	c := &cobra.Command{
		Use:   "dedup [INPUT...]",
		Short: "Print lines that were not seen before, or not within a time",
		Long: `Lines are printed in order, as soon as they are read, and none twice. A filter in memory remembers them,
so a new line is lost at the rate of --fpr.

Without --ttl, lines are remembered forever, in 2 to 7 bytes each at 0.1%; --keys fixes the memory, and the command
stops when it is full. With --ttl 24h, a line is printed if it was not printed within 24 hours, or with --refresh not
seen. It is remembered for up to a seventh longer, in 2.2 bytes; if more than --keys different lines arrive within
--ttl, the oldest are forgotten early, with a warning.

Times come from the clock, or from --time-column, as RFC 3339 or Unix seconds in about ascending order: an older row
counts as one of the latest time. A time a day ahead of the machine is bad.

--state is replaced every --save and at the end, after the lines that it remembers were printed, so no line is lost if
the command is killed; the next run may repeat lines since the last save. All runs need the same flags. check, info and
verify read the state. With --state, standard output must not be closed.

--count --json reports how many lines were read, remembered and late.`,
		Example: `  bloomery dedup log.txt > first.txt
  bloomery dedup --keys 10M --fpr 0.01% log.txt all.txt.zst > both.txt
  cat log.txt | bloomery dedup --ttl 24h --keys 1M --state seen.state
  bloomery dedup --input-format csv --column id --time-column at \
    --ttl 7d --keys 1M events.csv > new.csv
  bloomery dedup --input-format jsonl --column user.id log.jsonl > new.jsonl
  bloomery dedup --repeats --count addresses.txt`,
		RunE: func(c *cobra.Command, inputs []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			if err := a.mayRemember(f); err != nil {
				return err
			}
			return a.dedup(c.Context(), f, inputs)
		},
	}
	f.register(c)
	return c
}

func (f *dedupFlags) register(c *cobra.Command) {
	f.in.register(c)
	f.in.badRows(c, keyio.Pass)
	f.in.keepEmpty(c)
	parse(c, &f.keys, "keys", "`N`: different keys, within --ttl or in all", parseCount)
	parseDefault(c, &f.fpr, "fpr", dedupFPR, "`RATE`: share of new keys that are not printed", parseRate)
	parse(c, &f.ttl, "ttl", "`TIME`: time until a key is new again, such as 7d", parseSpan)
	c.Flags().BoolVar(&f.refresh, "refresh", false, "--ttl begins again when a key repeats")
	const timeHelp = "`NAME`: column of the time, or its number"
	c.Flags().StringVar(&f.timeColumn, "time-column", "", timeHelp)
	c.Flags().StringVar(&f.state, "state", "", "`FILE`: file that remembers lines between runs")
	parseDefault(c, &f.interval, "save", "30s", "`TIME`: time between two saves of --state", parseSpan)
	c.Flags().BoolVar(&f.repeats, "repeats", false, "print the repeated rows instead")
	c.Flags().BoolVarP(&f.count, "count", "c", false, "print only the number of rows")
}

// check returns an error if the flags contradict each other.
func (f *dedupFlags) check(c *cobra.Command) error {
	given := func(name string) bool { return c.Flags().Changed(name) }
	switch {
	case given("keys") && f.keys == 0:
		return errors.New("--keys 0: want the number of different keys, such as 10M")
	case f.ttl > 0 && f.keys == 0:
		return fmt.Errorf("--ttl %v needs --keys, the number of different keys that come within it, such as --keys 10M",
			f.ttl)
	case f.ttl > 0 && f.ttl < time.Millisecond:
		return fmt.Errorf("--ttl %v: want 1ms or more", f.ttl)
	case f.fpr < minDedupFPR || f.fpr > maxDedupFPR:
		return fmt.Errorf("--fpr %g: want %g to %g", f.fpr, float64(minDedupFPR), maxDedupFPR)
	case f.refresh && f.ttl == 0:
		return errors.New("--refresh renews a time to live, and there is none; add --ttl")
	case f.timeColumn != "" && f.ttl == 0:
		return errors.New("--time-column is the time of rows for --ttl, which is not given")
	case given("save") && f.state == "":
		return errors.New("--save is the time between two replacements of a state; add --state FILE")
	case f.interval < time.Millisecond:
		return fmt.Errorf("--save %v: want 1ms or more", f.interval)
	}

	f.in.numbers = true
	f.in.second, f.in.secondFlag = f.timeColumn, "time-column"
	if f.timeColumn != "" {
		f.in.parse = parseRowTime
	}

	f.in.block = 64 << 10 // less memory
	f.in.rows = f.in.printsRows() && !f.count
	f.in.oneKey = true
	return nil
}

// mayRemember returns an error if the state cannot be written, or if rows that it remembers would not be printed.
func (a *app) mayRemember(f dedupFlags) error {
	if f.state == "" {
		return nil
	}
	if err := cli.NoStdout("--state", "a state is read and replaced", f.state); err != nil {
		return err
	}
	if err := a.stdoutFree(f.state); err != nil {
		return err
	}
	if cli.Closed(a.stdout) {
		return cli.Advise(errors.New("standard output is closed, or /dev/null in its place: --state would remember "+
			"lines that were never printed"), "Send the lines to a file or a pipe; > /dev/null drops them.")
	}
	return nil
}

// The range of --fpr.
const minDedupFPR, maxDedupFPR = 1e-12, 0.5

// keepEmpty makes empty lines and fields keys: a command that drops only some rows must not drop the empty ones.
func (f *inputFlags) keepEmpty(c *cobra.Command) {
	f.keep = true
	_ = c.Flags().MarkHidden("keep-empty")
}

// mostAhead is how far the time of a row may be ahead of the clock of this machine. Time does not go back: after one
// wrong row, all later rows would count as having its time.
const mostAhead = 24 * time.Hour

// parseRowTime is rowTime with a limit of mostAhead from now.
func parseRowTime(text []byte) (uint64, error) {
	t, err := rowTime(string(text), time.Now().Add(mostAhead))
	return uint64(t), err
}

// rowTime reads the time of a row, RFC 3339 or Unix seconds, in ns since 1970. It must not be after latest.
func rowTime(text string, latest time.Time) (int64, error) {
	t, err := parseTime(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("time %.80q: want RFC 3339, such as 2026-01-31T12:00:00Z, or Unix seconds", text)
	case t.After(latest):
		return 0, fmt.Errorf("time %.80q is more than a day ahead of this machine: "+
			"time does not go back, so correct it", text)
	}
	return t.UnixNano(), nil
}

// The first and the last whole second since 1970 whose time in ns fits in an int64.
const firstSecond, lastSecond = -1 << 63 / 1_000_000_000, (1<<63-1)/1_000_000_000 - 1

var errTime = errors.New("no time")

func parseTime(text string) (t time.Time, err error) {
	whole, fraction, dot := strings.Cut(text, ".")
	if seconds, err := strconv.ParseInt(whole, 10, 64); err == nil {
		t = time.Unix(seconds, 0)
		if dot {
			part, err := strconv.ParseFloat("0."+fraction, 64)
			if err != nil || fraction == "" || strings.Trim(fraction, "0123456789") != "" {
				return t, errTime
			}
			if whole[0] == '-' {
				part = -part
			}
			t = t.Add(time.Duration(math.Round(part * 1e9)))
		}
	} else if t, err = time.Parse(time.RFC3339, text); err != nil {
		return t, err
	}
	if s := t.Unix(); s < firstSecond || s > lastSecond {
		return t, errTime
	}
	return t, nil
}
