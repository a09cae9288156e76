// Command cbench compares the processor time of queries of the C reader and of the Go reader for 1M keys of 23 bytes.
// Both read the same files, each in a process of its own, in alternating turns. It prints a table of medians and
// ratios, or JSON with --json. With --batches it compares single queries and batches of the C reader, for strings of 16
// bytes and for integers.
//
//	go run . --queries ../../c/build/queries
//	go run . --queries ../../c/build/queries --batches 1000000,10000000
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/eval/child"
	"github.com/bloomery/bloomery/eval/lab/clock"
)

// width is the length of a key in bytes.
const width = 23

// specs lists one filter of each family, and one for each further form of the query code.
var specs = []string{
	"standard(fpr=0.01)", "blocked(fpr=0.01)", "blocked(fpr=0.01,layout=split)", "fuse(width=8)", "counting(fpr=0.01)",
	"partitioned(bits_per_key=8,effort=fast)", "blockpartitioned(bits_per_key=8,effort=fast)",
	"twochoice(bits_per_key=10,effort=fast)", "rankindexed(fpr=0.01)",
	"ribbon(r=8)", "ribbon(r=8,w=128)", "ribbon(fpr=0.01)", "guava(fpr=0.01)", "bitsandblooms(fpr=0.01)",
	"redisbloom(capacity=1000000,fpr=0.01)",
}

// Times are medians in nanoseconds of processor time for a query, hash of the key included. Ratio is the median of the
// ratios of second to first in each turn.
type Times struct {
	First  float64 `json:"first"`  // time in Go, or of single queries in C
	Second float64 `json:"second"` // time in C, or of batches in C
	Ratio  float64 `json:"ratio"`
}

// Row is the result for one filter and a kind of keys. Half of the keys of Mixed are present, in random order.
type Row struct {
	Spec    string  `json:"spec"`
	Keys    int     `json:"keys"`
	Kind    string  `json:"kind,omitempty"`
	Present Times   `json:"present"`
	Absent  Times   `json:"absent"`
	Mixed   *Times  `json:"mixed,omitempty"` // times of batches
	Open    float64 `json:"open"`            // milliseconds per MiB in C, checksums included
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags of both modes.
type options struct {
	queries, only string
	turns         int
	plain, json   bool
}

func run(args []string, w io.Writer) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.queries, "queries", "../../c/build/queries", "program of ../../c/test/queries.c")
	n := flags.Int("keys", 1_000_000, "number of keys")
	batches := flags.String("batches", "", "time batches instead, in filters of these numbers of keys, with commas")
	flags.IntVar(&o.turns, "turns", 9, "turns of each measurement")
	flags.StringVar(&o.only, "only", "", "measure only filters whose spec begins with this text")
	flags.BoolVar(&o.plain, "plain", false, "with --batches: query without AVX2 and BMI2")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *batches != "" {
		var sizes []int
		for text := range strings.SplitSeq(*batches, ",") {
			size, err := strconv.Atoi(text)
			if err != nil || size < 1 {
				return fmt.Errorf("--batches: %q is not a number of keys", text)
			}
			sizes = append(sizes, size)
		}
		return o.runBatches(w, sizes)
	}

	keys := newKeys(2 * *n)
	rows, err := o.each(specs, keys, width, func(c *reader, path, spec string) (Row, error) {
		return o.measure(c, path, spec, keys, *n)
	})
	if err != nil {
		return err
	}
	return o.print(w, rows, "| filter | present: Go | C | C/Go | absent: Go | C | C/Go | open, ms/MiB |")
}

// each starts the C reader for keys of the given width, and returns the rows of the chosen specs.
func (o options) each(
	specs []string, keys []byte, width int, measure func(c *reader, path, spec string) (Row, error),
) (rows []Row, err error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "keys")
	if err := os.WriteFile(path, keys, 0o600); err != nil {
		return nil, err
	}
	process, err := child.Start(context.Background(), "c", o.queries, path, fmt.Sprint(width))
	if err != nil {
		return nil, fmt.Errorf("%w; run make -C c bench bench-batches", err)
	}
	defer func() { _ = process.Close() }()

	for _, spec := range specs {
		if !strings.HasPrefix(spec, o.only) {
			continue
		}
		r, err := measure(&reader{process}, filepath.Join(dir, "filter.bloom"), spec)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// print prints the rows as JSON, or as a table with the given header.
func (o options) print(w io.Writer, rows []Row, head string) error {
	if o.json {
		return json.NewEncoder(w).Encode(rows)
	}
	fmt.Fprintf(w, "%s\n|%s\n", head, strings.Repeat("---|", strings.Count(head, "|")-1))
	for _, r := range rows {
		fmt.Fprintf(w, "| `%s`", r.Spec)
		if r.Kind != "" {
			fmt.Fprintf(w, " | %.3gM %s", float64(r.Keys)/1e6, r.Kind)
		}
		all := []Times{r.Present, r.Absent}
		if r.Mixed != nil {
			all = append(all, *r.Mixed)
		}
		for _, t := range all {
			fmt.Fprintf(w, " | %.1f ns | %.1f ns | %.2f", t.First, t.Second, t.Ratio)
		}
		fmt.Fprintf(w, " | %.2f |\n", r.Open)
	}
	return nil
}

// newKeys returns n different keys of width bytes, in random order.
func newKeys(n int) []byte {
	keys := make([]byte, 0, n*width)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		keys = fmt.Appendf(keys, "key-%0*d", width-4, i*7919)
	}
	return keys
}

// save builds a filter of keys with a short search and saves it.
func save(path, spec string, keys iter.Seq[[]byte], n int) error {
	s, err := bloomery.Build(context.Background(), keys, bloomery.Config{Spec: spec, Keys: uint64(n)})
	if err != nil {
		return err
	}
	return s.Save(context.Background(), path)
}

// measure times one filter of the first n keys.
func (o options) measure(c *reader, path, spec string, keys []byte, n int) (r Row, err error) {
	if err := save(path, spec, slices.Chunk(keys[:n*width], width), n); err != nil {
		return r, err
	}
	s, err := bloomery.Open(context.Background(), path)
	if err != nil {
		return r, err
	}
	defer s.Close()
	r = Row{Spec: spec, Keys: n}
	if r.Open, err = c.open(path); err != nil {
		return r, err
	}
	for part, times := range []*Times{&r.Present, &r.Absent} {
		from := part * n
		*times, err = o.alternate(n,
			func() (float64, int, error) { return timed(s, keys, from, from+n) },
			func() (float64, int, error) { return c.ask("time %d %d", from, from+n) })
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// alternate times n queries in two ways, in turn. Each returns the nanoseconds and how many keys were found. The first
// turn does not count.
func (o options) alternate(n int, first, second func() (ns float64, found int, err error)) (Times, error) {
	var firsts, seconds, ratios []float64
	for range o.turns + 1 {
		a, found, err := first()
		if err != nil {
			return Times{}, err
		}
		b, others, err := second()
		if err != nil {
			return Times{}, err
		}
		if found != others {
			return Times{}, fmt.Errorf("%d keys found in one way, %d in the other", found, others)
		}
		firsts, seconds = append(firsts, a/float64(n)), append(seconds, b/float64(n))
		ratios = append(ratios, b/a)
	}
	return Times{median(firsts[1:]), median(seconds[1:]), median(ratios[1:])}, nil
}

// timed returns the nanoseconds of queries of the Go reader, and how many keys were found.
func timed(s *bloomery.Set, keys []byte, from, to int) (ns float64, found int, err error) {
	start := clock.ProcessTime()
	for i := from; i < to; i++ {
		if s.Contains(keys[i*width:][:width]) {
			found++
		}
	}
	return float64(clock.ProcessTime() - start), found, nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// reader is a running program of ../../c/test/queries.c.
type reader struct{ *child.Process }

// ask sends a line and returns the two numbers of the answer.
func (c *reader) ask(format string, args ...any) (ns float64, n int, err error) {
	line := fmt.Sprintf(format, args...)
	reply, err := c.Call(line)
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscan(reply, &ns, &n); err != nil {
		return 0, 0, c.Wrong(line, reply)
	}
	return ns, n, nil
}

// open opens a file and returns the milliseconds per MiB.
func (c *reader) open(path string) (float64, error) {
	ns, size, err := c.ask("open %s", path)
	return ns / 1e6 / (float64(size) / (1 << 20)), err
}
