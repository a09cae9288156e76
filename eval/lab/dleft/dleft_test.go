package dleft

import (
	"errors"
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

func newFilter(t *testing.T, keys uint64, fpr float64, counting bool) *Filter {
	t.Helper()
	f, err := New(keys, fpr, counting)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPublishedRate compares the bits per key with Hua et al. (2008, section II.B), 16 for a rate of 2^-7, and with the
// 24·2^-bits of Bonomi et al.
func TestPublishedRate(t *testing.T) {
	for _, c := range []struct{ fpr, bits float64 }{{1. / 128, 16}, {0.01, 16}, {0.001, 20}, {0.0001, 24}} {
		i := newFilter(t, 240_000, c.fpr, false).Info()
		if got := float64(i.Bits) / 240_000; got != c.bits {
			t.Errorf("rate %g: %g bits per key, want %g", c.fpr, got, c.bits)
		}
	}
	f := newFilter(t, 24_000, 1./128, false)
	if got := f.rate(24_000); math.Abs(got*4096/24-1) > 0.004 {
		t.Errorf("rate %g", got)
	}
	if _, err := New(1000, 1e-12, false); err == nil {
		t.Error("a rate that 32 bits do not keep")
	}
}

// TestFluidLimit integrates the differential equations of d-left hashing (Vöcking; Mitzenmacher): the shares of buckets
// with at least x keys while a table of very many buckets fills to its capacity. A key goes to a bucket of x keys in
// subtable i if its buckets in the subtables before i have more than x keys, and its buckets in the subtables after i
// have at least x keys.
func TestFluidLimit(t *testing.T) {
	const steps, most = 200_000, cells + 2
	var share [most + 1][subtables]float64 // share[x][i]: buckets of subtable i with x keys or more
	share[0] = [subtables]float64{1, 1, 1, 1}
	for range steps {
		now := share
		for x := 1; x <= most; x++ {
			for i := range subtables {
				grows := now[x-1][i] - now[x][i]
				for j := range subtables {
					switch {
					case j < i:
						grows *= now[x][j]
					case j > i:
						grows *= now[x-1][j]
					}
				}
				share[x][i] += grows * keysPerBucket / steps
			}
		}
	}
	if eight, nine := share[8][0], share[9][0]; math.Abs(eight/5.1e-10-1) > 0.02 || nine > 1e-100 {
		t.Errorf("%g of the buckets come to eight keys, %g to nine", eight, nine)
	}
}

// TestLookAlikes removes half of the keys from tables so small that most keys collide with others. No other key may be
// lost, and all cells of an empty table must be zero.
func TestLookAlikes(t *testing.T) {
	for _, counting := range []bool{false, true} {
		for seed := range uint64(20) {
			const n = 2000
			f := newFilter(t, n, 0.9, counting)
			hs := filtertest.Hashes(n, seed)
			for i, h := range hs {
				if err := f.Add(h); err != nil {
					t.Fatalf("key %d: %v", i, err)
				}
			}
			for i, h := range hs {
				for _, present := range hs[i:] {
					if i == n/2 && !f.Has(present) {
						t.Fatalf("counting %t, seed %d: a key is lost", counting, seed)
					}
				}
				if err := f.Remove(h); err != nil {
					t.Fatalf("counting %t, seed %d, key %d: %v", counting, seed, i, err)
				}
			}
			for _, w := range f.words {
				if w != 0 || f.keys != 0 {
					t.Fatalf("%d keys are left", f.keys)
				}
			}
		}
	}
}

// TestCopies adds one key until its four buckets are full, and removes it again.
func TestCopies(t *testing.T) {
	key := filtertest.Hashes(1, 3)[0]
	for counting, most := range map[bool]int{false: subtables * cells, true: subtables * cells * copies} {
		f := newFilter(t, 10_000, 0.01, counting)
		for n := range most {
			if err := f.Add(key); err != nil {
				t.Fatalf("copy %d: %v", n+1, err)
			}
		}
		if err := f.Add(key); !errors.Is(err, filter.ErrFull) {
			t.Errorf("copy %d: %v", most+1, err)
		}
		for n := range most {
			if err := f.Remove(key); err != nil {
				t.Fatalf("removal of copy %d: %v", most-n, err)
			}
		}
		if err := f.Remove(key); !errors.Is(err, filter.ErrNotFound) || f.Has(key) {
			t.Errorf("removal of an absent key: %v", err)
		}
	}
}

// TestObservedRate compares false positives with the rates that Info predicts.
func TestObservedRate(t *testing.T) {
	for _, counting := range []bool{false, true} {
		const n, absent = 100_000, 400_000
		f := newFilter(t, n, 0.01, counting)
		for _, h := range filtertest.Hashes(n, 1) {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		seen := uint64(0)
		for _, h := range filtertest.Hashes(absent, 2) {
			if f.Has(h) {
				seen++
			}
		}
		i := f.Info()
		if tail := stat.UpperTail(seen, absent, i.FPRPosterior); tail < 1e-5 || tail > 1-1e-5 {
			t.Errorf("%d false positives in %d, posterior rate %g", seen, absent, i.FPRPosterior)
		}
		if i.FPRPrior > 0.01 || math.Abs(i.FPRPosterior/i.FPRPrior-1) > 0.02 {
			t.Errorf("prior rate %g, posterior %g", i.FPRPrior, i.FPRPosterior)
		}
	}
}

// Remove undoes one Add of h. It returns an error wrapping filter.ErrNotFound and changes nothing if no cell of the
// key's buckets contains its remainder. Only keys that were added may be removed.
func (f *Filter) Remove(h filter.Hash) error {
	p := f.placeOf(h)
	found, copiesFound := uint64(0), uint64(0) // the cell with the fewest copies, so that copies remain in few cells
	for _, first := range p.first {
		for i := first; i < first+cells; i++ {
			if r, n := f.cell(i); r == p.remainder && (copiesFound == 0 || n < copiesFound) {
				found, copiesFound = i, n
			}
		}
	}
	if copiesFound == 0 {
		return filter.ErrNotFound
	}

	f.setCell(found, p.remainder, copiesFound-1)
	f.keys--
	return nil
}
