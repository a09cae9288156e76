package rankindexed

import (
	"errors"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestGrow adds keys until the filter has no doubling left. At every size the rate must be at most the promised one,
// and no key may be lost. In the end the filter must equal an empty filter of its size to which all keys were added.
func TestGrow(t *testing.T) {
	const promise, start, doublings = 0.02, 500, 6
	for _, counting := range []bool{false, true} { // a few keys come several times, so that chains have cells that are alike
		f := made(t, Config{Keys: start, Growth: doublings, Counting: counting, Size: family.Sizing{FPR: promise}})
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
		at := ofGeometry(t, f.g)
		addAll(t, at, hs)
		a, _ := at.renumberExtensions()
		b, _ := f.renumberExtensions()
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

// TestGrowAlike doubles filters in which many cells differ only in their counter or value.
func TestGrowAlike(t *testing.T) {
	hs := filtertest.Hashes(200, 8)
	counts := made(t, Config{Keys: 3000, Growth: 3, Counting: true})
	values := made(t, Config{Keys: 3000, Growth: 3, ValueBits: 8})
	for i, h := range hs {
		for n := range 1 + i%11 {
			if err := errors.Join(counts.Add(h), values.AddValue(h, uint64(n))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		if err := errors.Join(counts.Grow(), values.Grow()); err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range hs {
		n := uint64(1 + i%11)
		if got := countOf(counts, h); got != n {
			t.Errorf("key %d counts %d, want %d", i, got, n)
		}
		if v, ok := values.Get(h); v != n-1 || !ok {
			t.Errorf("key %d has the value %d, want the value of the last added, %d", i, v, n-1)
		}
		if err := counts.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	if want := uint64(0); true {
		for i := range hs {
			want += uint64(2+i%11+3) / 4
		}
		if counts.used != want {
			t.Errorf("%d cells, want %d: a counter that is not full was not found", counts.used, want)
		}
	}
}

// TestGrowOnlyForCells requires that a filter at its capacity grows only if another cell is needed.
func TestGrowOnlyForCells(t *testing.T) {
	hs := filtertest.Hashes(301, 9)
	f := made(t, Config{Keys: 300, Growth: 3, ValueBits: 4})
	addAll(t, f, hs[:300])
	c := newConcurrent(f)
	bits := c.Info().Bits
	if err := errors.Join(c.Put(hs[0], 3), c.Remove(hs[1]), c.Add(hs[1])); err != nil || c.Info().Bits != bits || c.Info().Keys != 300 {
		t.Errorf("%v: %d keys in %d bits, want 300 in %d", err, c.Info().Keys, c.Info().Bits, bits)
	}
	if err := c.Remove(hs[300]); !errors.Is(err, filter.ErrNotFound) || c.Info().Bits != bits {
		t.Errorf("removing an absent key: %v", err)
	}
	if err := c.Add(hs[300]); err != nil || c.Info().Bits == bits || c.Info().Capacity != 600 {
		t.Errorf("one key more: %v, capacity %d", err, c.Info().Capacity)
	}
}
