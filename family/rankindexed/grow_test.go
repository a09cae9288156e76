package rankindexed

import (
	"errors"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestGrow adds past the capacity until the filter can double no more. At every size the rate keeps the promise, nothing is
// lost, and the filter is that which adding all keys to the larger one would have made.
func TestGrow(t *testing.T) {
	const promise, start, doublings = 0.02, 500, 6
	for _, counting := range []bool{false, true} {
		f, err := New(Config{Keys: start, Growth: doublings, Counting: counting, Size: filter.Sizing{FPR: promise}})
		if err != nil {
			t.Fatal(err)
		}
		hs := filtertest.Hashes(start<<doublings, 5)
		absent := filtertest.Hashes(200_000, 6)
		for i, h := range hs {
			if err := f.Add(h); err != nil {
				t.Fatalf("key %d: %v", i, err)
			}
			if n := i + 1; n&(n-1) != 0 && n != len(hs) && n%start != 0 || n&(n/start-1)*start != 0 {
				continue
			}
			for j, h := range hs[:i+1] {
				if !f.Has(h) {
					t.Fatalf("%d keys: key %d is lost", i+1, j)
				}
			}
			var seen uint64
			for _, h := range absent {
				if f.Has(h) {
					seen++
				}
			}
			if info := f.Info(); info.FPRPosterior > promise || stat.UpperTail(seen, uint64(len(absent)), promise) < 1e-5 {
				t.Errorf("%d keys: observed %d of %d, posterior %g, promised %g", i+1, seen, len(absent), info.FPRPosterior, promise)
			}
		}
		if f.g.Growth != 0 || f.g.Capacity != start<<doublings {
			t.Errorf("it has %d doublings left at a capacity of %d", f.g.Growth, f.g.Capacity)
		}
		at, err := newFilter(f.g)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hs {
			if err := at.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		a, _ := at.tidy()
		b, _ := f.tidy()
		if !slices.EqualFunc(a.Encode().Sections, b.Encode().Sections, slices.Equal[[]uint64]) || a.keys != b.keys {
			t.Error("the grown filter is not the one that the keys make")
		}
		for i, h := range hs {
			if err := f.Remove(h); err != nil {
				t.Fatalf("key %d: %v", i, err)
			}
		}
		for _, section := range f.Encode().Sections {
			if slices.Max(append(section, 0)) != 0 {
				t.Error("an emptied filter is not all 0")
			}
		}
		if err := f.Grow(); !errors.Is(err, filter.ErrFull) {
			t.Errorf("growing once more: %v", err)
		}
	}
}
