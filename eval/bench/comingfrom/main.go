// Command comingfrom asks filters of other Go libraries and ours for the same 100,000 present and 100,000 absent keys.
// It fails after a false negative, and if an observed rate is significantly above the predicted one. Each file is a
// program that was written for another library, beside the same program for this one, and makes every call in a table
// of docs/guides/coming-from.md.
//
//	go -C eval/bench run ./comingfrom [bits-and-blooms | xorfilter | cuckoofilter]
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/internal/stat"
)

// keys is the number of present keys, and of absent keys.
const keys = 100_000

// programs are the comparisons. dir is an empty folder for files.
var programs = []struct {
	from string
	run  func(ctx context.Context, w io.Writer, dir string) error
}{
	{"bits-and-blooms", fromBitsAndBlooms}, {"xorfilter", fromXorfilter}, {"cuckoofilter", fromCuckoofilter},
}

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "comingfrom:", err)
		os.Exit(1)
	}
}

// run compares ours with the named libraries, by default all.
func run(ctx context.Context, w io.Writer, libraries []string) error {
	for _, p := range programs {
		if len(libraries) > 0 && !slices.Contains(libraries, p.from) {
			continue
		}

		dir, err := os.MkdirTemp("", "comingfrom")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)

		if err := p.run(ctx, w, dir); err != nil {
			return fmt.Errorf("%s: %w", p.from, err)
		}
	}
	return nil
}

// words returns the present or the absent keys of a comparison.
func words(kind string) []string {
	all := make([]string, keys)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%d.example", kind, i)
	}
	return all
}

// side is a filter of the present keys.
type side[K any] struct {
	name      string
	has       func(K) bool
	predicted float64 // false-positive rate predicted from the geometry and the number of keys
	size      int     // bytes of its stored form
}

// compare asks each side for all keys and prints a line for it.
func compare[K any](w io.Writer, present, absent []K, sides ...side[K]) error {
	var faults []string
	for _, s := range sides {
		lost := 0
		for _, key := range present {
			if !s.has(key) {
				lost++
			}
		}
		var wrong uint64
		for _, key := range absent {
			if s.has(key) {
				wrong++
			}
		}

		n := uint64(len(absent))
		fmt.Fprintf(w, "%-24s %d false negatives, rate: predicted %s, observed %s, %.2f bytes per key\n", s.name, lost,
			stat.Percent(s.predicted), stat.Percent(float64(wrong)/float64(n)), float64(s.size)/float64(len(present)))
		// Less than once in 10^9 runs with other keys, if the prediction is right within 2%.
		if lost > 0 || stat.UpperTail(wrong, n, 1.02*s.predicted) < 1e-9 {
			faults = append(faults, s.name)
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("false negatives, or a rate above the predicted one: %s", strings.Join(faults, ", "))
	}
	return nil
}

// want returns an error if a result is not as the page says.
func want(what string, is bool) error {
	if !is {
		return fmt.Errorf("not as docs/guides/coming-from.md says: %s", what)
	}
	return nil
}
