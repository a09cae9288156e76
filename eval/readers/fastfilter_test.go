package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/FastFilter/xorfilter"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/interop"
)

// fastFilter is a filter of FastFilter's Go library.
type fastFilter interface {
	Save(io.Writer) error
	Contains(uint64) bool
}

// fastFilters builds FastFilter's filters of keys.
var fastFilters = map[interop.Format]func(keys []uint64) (fastFilter, error){
	interop.XorFilter8:  func(keys []uint64) (fastFilter, error) { return xorfilter.NewBinaryFuse[uint8](keys) },
	interop.XorFilter16: func(keys []uint64) (fastFilter, error) { return xorfilter.NewBinaryFuse[uint16](keys) },
	interop.XorFilter32: func(keys []uint64) (fastFilter, error) { return xorfilter.NewBinaryFuse[uint32](keys) },
}

// TestFastFilter converts files of FastFilter. The library must answer as FastFilter does, and all readers as the
// library.
func TestFastFilter(t *testing.T) {
	const absent = 100_000
	o, err := parse([]string{"--quiet", "--keep", filepath.Join(t.TempDir(), "faults")}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if python := os.Getenv("BLOOMERY_PYTHON"); python != "" {
		o.python, o.readers = python, append(o.readers, "python")
	} else {
		fmt.Println("NOT RUN: the Python package; BLOOMERY_PYTHON names an interpreter that has it")
	}
	tr := &trial{options: o, dir: t.TempDir(), report: newReport(1), log: io.Discard}
	if tr.command, err = newGoCommand(t.Context(), tr.dir); err != nil {
		t.Fatal(err)
	}
	if tr.readers, err = newDrivers(t.Context(), o, tr.dir, []string{"-O2"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range tr.readers {
		defer r.close()
	}
	for format, build := range fastFilters {
		for _, members := range []int{1, 100, 50_000} {
			r := rand.New(rand.NewPCG(7, uint64(members)))
			numbers := make([]uint64, members+absent)
			for i := range numbers {
				numbers[i] = r.Uint64() >> r.IntN(30)
			}
			original, set := convert(t, format, build, numbers[:members])
			s := &subject{
				path: filepath.Join(tr.dir, "fastfilter.bloom"), spec: set.Info().Spec.String(), secret: "-",
				plan: plan{spec: string(format), keys: members},
			}
			for i, n := range numbers {
				if got, want := bloomery.Keyed[uint64](set).Contains(n), original.Contains(n); got != want {
					t.Fatalf("%s: %d is %t, in FastFilter %t", format, n, got, want)
				}
				s.keys, s.held = append(s.keys, integerKey(n)), append(s.held, i < members)
			}
			for source := newKeySource(r); len(s.keys) < len(numbers)+1000; { // of kinds that FastFilter does not have
				s.keys, s.held = append(s.keys, source.key()), append(s.held, false)
			}
			if err := set.Save(t.Context(), s.path); err != nil {
				t.Fatal(err)
			}
			if err := tr.compare(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(tr.report.Faults) > 0 {
		t.Errorf("%+v", tr.report.Faults)
	}
	for _, name := range append(o.readers, "go") {
		if n := tr.report.Answers[name]; n < 9*absent {
			t.Errorf("%s gave %d answers", name, n)
		}
	}
}

// convert returns a filter of FastFilter and the filter to which its file is converted.
func convert(t *testing.T, f interop.Format, build func([]uint64) (fastFilter, error), keys []uint64) (
	fastFilter, *bloomery.Set,
) {
	t.Helper()
	original, err := build(slices.Clone(keys)) // build changes their order
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := original.Save(&file); err != nil {
		t.Fatal(err)
	}
	set, err := interop.Read(&file, f, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return original, set
}
