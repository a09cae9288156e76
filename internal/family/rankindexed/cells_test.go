package rankindexed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// cellsOf returns an empty table.
func cellsOf(t testing.TB, g Geometry) *Cells {
	t.Helper()
	f, err := NewCells(g)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dump returns the cells of a bucket by chain, in order.
func (f *Cells) dump(b uint64) [][]uint64 {
	u := f.bucket(b)
	chains := make([][]uint64, f.chains)
	for chain := range f.chains {
		for at := chain; u.indexBit(at); {
			c := u.rankOf(at)
			chains[chain] = append(chains[chain], u.cellValue(c))
			at = f.chains + c
		}
	}
	return chains
}

// check fails the test unless Decode accepts the table, which means that no bit is out of place.
func (f *Cells) check(t *testing.T, what string) {
	t.Helper()
	if _, err := Decode(f.Encode()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// cellShapes lists geometries with buckets of many sizes, in which all levels become full.
var cellShapes = []Geometry{
	{Buckets: 5, Chains: 20, Cells: [levels]int{12, 4, 6}, Pools: [levels]uint64{0, 3, 2}, Remainder: 3, ValueBits: 3},
	{Buckets: 3, Chains: 260, Cells: [levels]int{178, 24, 83}, Pools: [levels]uint64{0, 3, 2}, Remainder: 6, ValueBits: 3},
	{Buckets: 2, Chains: 316, Cells: [levels]int{172, 24, 60}, Pools: [levels]uint64{0, 2, 2}, Remainder: 9, ValueBits: 3},
	{Buckets: 1, Chains: 300, Cells: [levels]int{211, 0, 0}, Remainder: 1, ValueBits: 3},
	{Buckets: 2, Chains: 7, Cells: [levels]int{30, 70, 50}, Pools: [levels]uint64{0, 2, 2}, Remainder: 20, ValueBits: 4},
	{Buckets: 9, Chains: 12, Cells: [levels]int{7, 0, 0}, Remainder: 3, ValueBits: 3},
	{Buckets: 9, Chains: 30, Cells: [levels]int{2, 3, 0}, Pools: [levels]uint64{0, 7, 0}, Remainder: 10, ValueBits: 3},
	{Buckets: 2, Chains: 5, Cells: [levels]int{3, 1, 1}, Pools: [levels]uint64{0, 2, 2}, Remainder: 45, ValueBits: 3},
	{Buckets: 3, Chains: 64, Cells: [levels]int{64, 64, 64}, Pools: [levels]uint64{0, 3, 3}, Remainder: 1, ValueBits: 1},
	{Buckets: 2, Chains: 200, Cells: [levels]int{512, 0, 0}, Remainder: 4, ValueBits: 3},
	{Buckets: 2, Chains: 100, Cells: [levels]int{90, 60, 2}, Pools: [levels]uint64{0, 2, 2}, Remainder: 28, ValueBits: 3},
}

// TestCells runs random operations on a table and on lists of chains, and compares all cells.
func TestCells(t *testing.T) {
	rounds := uint64(12)
	if testing.Short() {
		rounds = 3
	}
	for _, g := range cellShapes {
		for seed := range rounds {
			cellsAgainst(t, g, seed)
		}
	}
}

func cellsAgainst(t *testing.T, g Geometry, seed uint64) {
	t.Helper()
	f := cellsOf(t, g)
	r := newReference(g)
	rng := rand.New(rand.NewPCG(seed, 1))
	values := uint64(1) << g.ValueBits
	for step := range 2500 {
		what := fmt.Sprintf("%+v seed %d step %d", g, seed, step)
		h := filter.Hash{Hi: rng.Uint64(), Lo: rng.Uint64()}
		b, chain, remainder := r.walk.Locate(h.Hi, h.Lo)
		value, replace := rng.Uint64N(values), rng.IntN(2) == 0
		at, was := r.find(b, chain, remainder)
		present, err := f.Put(h, value, replace)
		switch {
		case was && replace:
			r.buckets[b][chain][at] = remainder<<r.s.payload | value
		case !was:
			if want := r.put(b, chain, remainder<<r.s.payload|value); want != err {
				t.Fatalf("%s: %v, want %v", what, err, want)
			}
		}
		if present != was || f.Bucket(h) != b || f.Has(h) != (was || err == nil) {
			t.Fatalf("%s: present %t, want %t", what, present, was)
		}
		if errors.Is(err, filter.ErrFull) || rng.IntN(60) == 0 {
			dead := rng.Uint64() & rng.Uint64() & (1<<values - 1)
			if rng.IntN(9) == 0 {
				dead = 1<<values - 1
			}
			var want uint64
			for chain, cells := range r.buckets[b] {
				kept := slices.DeleteFunc(cells, func(c uint64) bool { return dead>>(c&(values-1))&1 != 0 })
				want += uint64(len(cells) - len(kept))
				r.buckets[b][chain] = kept
			}
			r.load[b] -= want
			if got := f.Sweep(b, dead); got != want {
				t.Fatalf("%s: Sweep removed %d, want %d", what, got, want)
			}
			for chain, cells := range f.dump(b) {
				if !slices.Equal(cells, r.buckets[b][uint64(chain)]) {
					t.Fatalf("%s: after Sweep(%b) chain %d is %x, want %x", what, dead, chain, cells, r.buckets[b][uint64(chain)])
				}
			}
		}
		if step%500 == 499 {
			f.check(t, what)
		}
	}
	counts, used := make([]uint64, values), uint64(0)
	for b := range f.buckets {
		used += f.Used(b)
		f.CountValues(b, counts)
		f.Clear(b)
	}
	for _, n := range counts {
		used -= n
	}
	if used != 0 || f.Extensions() != 0 || slices.ContainsFunc(f.table, func(w uint64) bool { return w != 0 }) {
		t.Fatalf("%+v seed %d: not empty after Clear, or values counted wrong by %d", g, seed, int64(used))
	}
}

// TestSelect compares selectBit with a loop.
func TestSelect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		x, k := r.Uint64()&^(r.Uint64()>>r.UintN(64)), uint64(0)
		for at := range uint64(64) {
			if x>>at&1 != 0 {
				if got := selectBit(x, byteSums(x), k); got != at {
					t.Fatalf("selectBit(%x, %d) = %d, want %d", x, k, got, at)
				}
				k++
			}
		}
	}
}

// even returns loads that differ slightly.
func even(uint64) []float64 { return []float64{14. / 15, 16. / 15} }

// TestPlanCells checks that a plan exists for the whole range of rates, and that Sweep supports its buckets.
func TestPlanCells(t *testing.T) {
	for _, n := range []float64{1, 10, 1000, 1e5, 3e6} {
		for _, fpr := range []float64{0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-9, 1e-12} {
			g, err := PlanCells(CellsConfig{Keys: n, FPR: fpr, Overflow: 1e-6, ValueBits: 3, Loads: even, Most: uint64(2 * n)})
			if err != nil {
				t.Errorf("%g keys at %g: %v", n, fpr, err)
				continue
			}
			c, err := NewCells(g)
			if err != nil {
				t.Errorf("%g keys at %g: %+v: %v", n, fpr, g, err)
			} else if c.Bytes() < g.Bits()/8 || g.FPR(g.Capacity) > fpr*(1+1e-9) {
				t.Errorf("%+v: %d bytes, rate %g", g, c.Bytes(), g.FPR(g.Capacity))
			}
		}
	}
	for _, g := range []Geometry{
		{Buckets: 1, Chains: 9, Cells: [levels]int{9, 0, 0}, Remainder: 3},
		{Buckets: 1, Chains: 9, Cells: [levels]int{9, 0, 0}, Remainder: 3, Counting: true},
		{Buckets: 1, Chains: 9, Cells: [levels]int{513, 0, 0}, Remainder: 3, ValueBits: 3},
		{Buckets: 1, Chains: 1000, Cells: [levels]int{100, 0, 0}, Remainder: 3, ValueBits: 3},
		{Buckets: 1, Chains: 9, Cells: [levels]int{400, 0, 0}, Remainder: 40, ValueBits: 3},
	} {
		if _, err := NewCells(g); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", g, err)
		}
	}
}

// BenchmarkSweep sweeps buckets in which an eighth of the cells have expired, and fills them again. It also reports the
// time of Put alone.
func BenchmarkSweep(b *testing.B) {
	g, err := PlanCells(CellsConfig{Keys: 107_000, FPR: 0.01, Overflow: 1e-6, ValueBits: 3, Loads: even, Most: 214_000})
	if err != nil {
		b.Fatal(err)
	}
	f := cellsOf(b, g)
	hs := filtertest.Hashes(112_000, 1)
	for i, h := range hs {
		_, _ = f.Put(h, uint64(i)%8, false)
	}
	b.Run("op=sweep", func(b *testing.B) {
		at, value, gone := uint64(0), uint64(0), uint64(0)
		for b.Loop() {
			gone += f.Sweep(at, 1<<value)
			if at++; at == f.buckets {
				b.StopTimer()
				at = 0
				for i, h := range hs {
					if uint64(i)%8 == value {
						_, _ = f.Put(h, value, false)
					}
				}
				value = (value + 1) % 8
				b.StartTimer()
			}
		}
		b.ReportMetric(float64(gone)/float64(b.N), "cells/op")
	})
}
