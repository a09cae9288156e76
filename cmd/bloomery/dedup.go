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
		Short: "Print the lines that were not seen before, or not within a time",
		Long: `Print the lines of the inputs, or of standard input, in their order and as soon as they come, without those
that repeat an earlier line. It takes the memory of a filter. No line is printed twice. A new line is taken for a
repeated one, and not printed, at the false-positive rate.

Without --ttl all lines are remembered. Memory grows with the number of different lines, 2 to 7 bytes each at
0.1%, or is fixed by --keys: the command then stops at the first new line for which there is no room.

With --ttl 24h a line is printed if it was not printed within the last 24 hours; with --refresh, if it was not seen
within them. A line is remembered for a seventh longer at most. --keys is the number of different lines that come within
that time, and the memory 2.2 bytes for each at 0.1%. If more come, the oldest are forgotten too early, with a warning.

With --input-format csv or tsv the key of a row is its --column. Whole rows are printed as they are in the input, after
its header row if it has one; several inputs must have the same header row.

Time comes from the clock, or with --time-column from the rows: RFC 3339 or Unix seconds. Rows must be about in
the order of their times: a row that is late counts as one of the latest time so far. One that is more than a day ahead
of the machine is bad, since time does not go back.

A line or a row of tsv with a NUL byte is like any other, and a warning says how many there were. At other bad rows,
such as one without a time, the command ends after all rows before were printed. --bad-rows changes both.

--state FILE holds what is remembered. It is read at the start, if it exists. It is replaced every --save, at the end
and when the command is interrupted, each time after all lines that it remembers were printed. So no new line is lost
if the command is killed, and the next run prints again at most what was printed since the state was last saved. All
runs must have the same --ttl, --keys, --fpr, --time-column and --secret-file. Without --ttl the file is a filter for
bloomery check. With --ttl a state from a clock that is ahead by more than --ttl and a minute is an error.

--count prints the number of lines instead; with --json a report, also of how many lines were read, remembered and late.
With --json alone each line gets a line such as {"key":"yopmail.com"}, with "row" if it has a row.`,
		Example: `  bloomery dedup log.txt > first.txt
  bloomery dedup --keys 10M --fpr 0.01% log.txt all.txt.zst > both.txt
  cat log.txt | bloomery dedup --ttl 24h --keys 1M --state seen.state
  bloomery dedup --input-format csv --column id --time-column at --ttl 7d --keys 1M events.csv > new.csv
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
	parse(c, &f.keys, "keys", "`number` of different keys that come within --ttl, or without it, of all (default: the "+
		"memory grows)", parseCount)
	parseDefault(c, &f.fpr, "fpr", dedupFPR, "false-positive `rate`: the share of new keys that are not printed",
		parseRate)
	parse(c, &f.ttl, "ttl", "`time` after which a key is new again, such as 90s, 24h or 7d (default: never)", parseSpan)
	c.Flags().BoolVar(&f.refresh, "refresh", false, "the time counts from the last row with the key, printed or not")
	const timeHelp = "csv, tsv: column with the time of a row, `name` in the header row, or number from 1"
	c.Flags().Func("time-column", timeHelp, named(&f.timeColumn, "column"))
	c.Flags().Func("state", "`file` with what is remembered: read if it exists, and replaced", named(&f.state, "file"))
	parseDefault(c, &f.interval, "save", "30s", "`time` between two replacements of the state", parseSpan)
	c.Flags().BoolVar(&f.repeats, "repeats", false, "print the rows that are repeated instead")
	c.Flags().BoolVarP(&f.count, "count", "c", false, "print the number of rows instead")
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
	f.in.rows = f.in.columns() && !f.count
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
