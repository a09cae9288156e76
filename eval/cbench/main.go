// Bench times queries of the C reader beside queries of the Go reader: 1M keys of 23 bytes, the same files, in one
// process each, in alternating turns, in processor time. It prints a table of medians and ratios, or JSON with --json.
// With --batches it times single queries of the C reader beside batches instead, for strings of 16 bytes and for
// integers.
//
//	go run . --queries ../../c/build/queries
//	go run . --queries ../../c/build/queries --batches 1000000,10000000
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/bloomery/bloomery"
)

// width is the length of a key in bytes.
const width = 23

// specs has one filter of each family, and other forms of query code.
var specs = []string{
	"standard(fpr=0.01)", "blocked(fpr=0.01)", "blocked(fpr=0.01,layout=split)", "fuse(width=8)", "counting(fpr=0.01)",
	"partitioned(bits_per_key=8,effort=fast)", "blockpartitioned(bits_per_key=8,effort=fast)",
	"twochoice(bits_per_key=10,effort=fast)", "rankindexed(fpr=0.01)",
	"ribbon(r=8)", "ribbon(r=8,w=128)", "ribbon(fpr=0.01)", "guava(fpr=0.01)", "bitsandblooms(fpr=0.01)",
	"redisbloom(capacity=1000000,fpr=0.01)",
}

// Row is the result for one filter. Times are medians in nanoseconds a query; ratios are medians of C over Go, turn by
// turn. They are processor time, hash of the key included.
type Row struct {
	Spec         string  `json:"spec"`
	PresentGo    float64 `json:"present_go"`
	PresentC     float64 `json:"present_c"`
	PresentRatio float64 `json:"present_ratio"`
	AbsentGo     float64 `json:"absent_go"`
	AbsentC      float64 `json:"absent_c"`
	AbsentRatio  float64 `json:"absent_ratio"`
	Open         float64 `json:"open"` // milliseconds a MiB in C, checksums included
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
		return runBatches(w, o, sizes)
	}
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	keys := newKeys(2 * *n)
	path := filepath.Join(dir, "keys")
	if err := os.WriteFile(path, keys, 0o600); err != nil {
		return err
	}
	c, err := start(o.queries, path, width)
	if err != nil {
		return fmt.Errorf("%w; run make -C c bench", err)
	}
	defer c.stop()
	var rows []Row
	for _, spec := range specs {
		if !strings.HasPrefix(spec, o.only) {
			continue
		}
		r, err := measure(c, dir, spec, keys, *n, o.turns)
		if err != nil {
			return fmt.Errorf("%s: %w", spec, err)
		}
		rows = append(rows, r)
	}
	if o.json {
		return json.NewEncoder(w).Encode(rows)
	}
	fmt.Fprintln(w, "| filter | present: Go | C | C/Go | absent: Go | C | C/Go | open, ms/MiB |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Fprintf(w, "| `%s` | %.0f ns | %.0f ns | %.2f | %.0f ns | %.0f ns | %.2f | %.2f |\n", r.Spec,
			r.PresentGo, r.PresentC, r.PresentRatio, r.AbsentGo, r.AbsentC, r.AbsentRatio, r.Open)
	}
	return nil
}

// newKeys returns that many different keys of width bytes, in random order.
func newKeys(n int) []byte {
	keys := make([]byte, 0, n*width)
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		keys = fmt.Appendf(keys, "key-%0*d", width-4, i*7919)
	}
	return keys
}

// build builds a filter of the first n keys, saves it and opens the file. The search of a family is short.
func build(path, spec string, keys []byte, n int) (*bloomery.Set, error) {
	ctx := context.Background()
	var all iter.Seq[[]byte] = func(yield func([]byte) bool) {
		for i := range n {
			if !yield(keys[i*width:][:width]) {
				return
			}
		}
	}
	s, err := bloomery.Build(ctx, all, bloomery.Config{Spec: spec, Keys: uint64(n)})
	if err != nil {
		return nil, err
	}
	if err := s.Save(ctx, path); err != nil {
		return nil, err
	}
	return bloomery.Open(ctx, path)
}

// measure times one filter.
func measure(c *reader, dir, spec string, keys []byte, n, turns int) (Row, error) {
	path := filepath.Join(dir, "filter.bloom")
	s, err := build(path, spec, keys, n)
	if err != nil {
		return Row{}, err
	}
	defer s.Close()
	opening, size, err := c.ask("open %s", path)
	if err != nil {
		return Row{}, err
	}
	r := Row{Spec: spec, Open: opening / 1e6 / (float64(size) / (1 << 20))}
	for _, part := range []struct {
		from              int
		inGo, inC, ratios *float64
	}{{0, &r.PresentGo, &r.PresentC, &r.PresentRatio}, {n, &r.AbsentGo, &r.AbsentC, &r.AbsentRatio}} {
		var inGo, inC, ratio []float64
		for range turns + 1 {
			g, found := timed(s, keys, part.from, part.from+n)
			t, foundC, err := c.ask("time %d %d", part.from, part.from+n)
			if err != nil {
				return Row{}, err
			}
			if found != foundC {
				return Row{}, fmt.Errorf("%d keys found in Go, %d in C", found, foundC)
			}
			inGo, inC, ratio = append(inGo, g/float64(n)), append(inC, t/float64(n)), append(ratio, t/g)
		}
		*part.inGo, *part.inC, *part.ratios = median(inGo[1:]), median(inC[1:]), median(ratio[1:])
	}
	return r, nil
}

// timed returns the nanoseconds of the queries, and how many keys were found.
func timed(s *bloomery.Set, keys []byte, from, to int) (ns float64, found int) {
	start := processorTime()
	for i := from; i < to; i++ {
		if s.Contains(keys[i*width:][:width]) {
			found++
		}
	}
	return processorTime() - start, found
}

// processorTime returns the time that this process has used, in nanoseconds. Other processes do not disturb it.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it cannot fail with these arguments
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func median(v []float64) float64 {
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// reader is a running program of ../../c/test/queries.c.
type reader struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(program, keys string, width int) (*reader, error) {
	c := &reader{cmd: exec.Command(program, keys, fmt.Sprint(width))}
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	return c, c.cmd.Start()
}

// ask sends a line and returns the two numbers of the answer.
func (c *reader) ask(format string, args ...any) (ns float64, n int, err error) {
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		return 0, 0, err
	}
	_, err = fmt.Fscanln(c.out, &ns, &n)
	return ns, n, err
}

func (c *reader) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}
