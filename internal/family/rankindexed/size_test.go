package rankindexed

import (
	"fmt"
	"math"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestSizes requires fewer bits per key at n = 100,000 and P_o = 1e-10 than the paper prints: 10.6, 14.4 and 18.2
// plain, and 13.0, 16.8 and 20.6 counting.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		fpr      float64
		counting bool
		most     float64
	}{
		{0.01, false, 10.2}, {0.001, false, 14.1}, {0.0001, false, 18.1},
		{0.01, true, 12.5}, {0.001, true, 16.4}, {0.0001, true, 20.5},
		{0.01, false, math.Log2(1/0.01) + 1.44 + 1.5},
	} {
		g, err := Config{Keys: 100_000, Size: family.Sizing{FPR: c.fpr}, Counting: c.counting}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(g.Bits()) / 100_000; got > c.most || g.FPR(100_000) > c.fpr {
			t.Errorf("%g counting %v: %.3f bits per key, want %.2f; rate %g: %+v", c.fpr, c.counting, got, c.most, g.FPR(100_000), g)
		}
		if c.counting || testing.Short() {
			continue
		}
		// The filter must have room for all keys and keep its rate.
		trials := uint64(3 / c.fpr * 1000)
		f := filled(t, g, 1)
		var seen uint64
		for _, h := range filtertest.Hashes(int(trials), 99) {
			if f.Has(h) {
				seen++
			}
		}
		if tail := stat.UpperTail(seen, trials, c.fpr); tail < 1e-5 || tail > 1-1e-5 {
			t.Errorf("%g: observed %d of %d (tail %g)", c.fpr, seen, trials, tail)
		}
	}
}

// filled returns a filter of the given geometry that contains as many random keys as its capacity.
func filled(t *testing.T, g Geometry, seed uint64) *Filter {
	t.Helper()
	f := ofGeometry(t, g)
	addAll(t, f, filtertest.Hashes(int(g.Capacity), seed))
	return f
}

// TestNeverFull fills filters to their capacity. With P_o = 1e-10, none of a thousand may be full earlier.
func TestNeverFull(t *testing.T) {
	for _, n := range []uint64{1, 30, 1000, 100_000} {
		if testing.Short() && n > 1000 {
			continue
		}
		for _, c := range []Config{
			{}, {Counting: true, Size: family.Sizing{FPR: 0.001}}, {Fast: true}, {Bucket: 512}, {Bucket: 16384},
		} {
			seeds := 1000
			if !*long && n > 1000 {
				seeds = 3
			}
			if testing.Short() {
				seeds = 2
			}
			c.Keys = n
			g, err := c.Plan()
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(seeds) {
				filled(t, g, seed+1000)
			}
		}
	}
}

// TestFullAbove checks the table of docs/families/rankindexed.md: how many keys fit above the capacity.
func TestFullAbove(t *testing.T) {
	for _, x := range []struct {
		keys, filters int
		least, most   float64 // shares of the capacity
	}{
		{1000, 20, 0.15, 0.45}, {10_000, 4, 0.05, 0.12}, {100_000, 2, 0.015, 0.04}, {1_000_000, 1, 0.004, 0.015},
	} {
		if testing.Short() && x.keys > 10_000 {
			continue
		}
		for seed := range x.filters {
			f := made(t, Config{Keys: uint64(x.keys), Size: family.Sizing{FPR: 0.01}})
			n := 0
			for _, h := range filtertest.Hashes(2*x.keys, uint64(seed)) {
				if f.Add(h) != nil {
					break
				}
				n++
			}
			over := float64(n)/float64(x.keys) - 1
			t.Logf("%d keys: full at %+.1f%%", x.keys, 100*over)
			if over < x.least || over > x.most {
				t.Errorf("%d keys, seed %d: full at %+.1f%%, docs/families/rankindexed.md says about %.0f%%", x.keys, seed,
					100*over, 100*x.least)
			}
		}
	}
}

// TestOverflowHappens fills filters with small pools, some of which are full before their capacity. Their share must be
// within the bound.
func TestOverflowHappens(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const seeds = 1000
	for _, p := range []float64{0.1, 0.02} {
		g, err := Config{Keys: 5000, Overflow: p}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		var full uint64
		for seed := range uint64(seeds) {
			f, _ := newFilter(g)
			for _, h := range filtertest.Hashes(5000, seed+77) {
				if f.Add(h) != nil {
					full++
					break
				}
			}
		}
		if tail := stat.UpperTail(full, seeds, p); tail < 1e-5 {
			t.Errorf("P_o = %g: %d of %d filters were full", p, full, seeds)
		}
		if full == 0 {
			t.Errorf("P_o = %g: no filter was full: the bound is far off", p)
		}
	}
}

// TestPlanEdges requires a valid geometry or an error for extreme configurations. A run tests a third of them.
func TestPlanEdges(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := filtertest.Third(t, *long)
	for _, n := range []uint64{0, 1, 2, 7, 50, 3000, 1e6, 1e9, 1e12, maxKeys} {
		for _, fpr := range []float64{0.9, 0.5, 0.03, 1e-4, 1e-9, 1e-13, 1e-300} {
			for _, c := range []Config{{}, {Counting: true}, {ValueBits: 32}, {Fast: true}, {Bucket: 512}, {Bucket: 64}, {Growth: 5}, {Bucket: 1 << 14}} {
				if !runs() {
					continue
				}
				c.Keys, c.Size.FPR = n, fpr
				g, err := c.Plan()
				if err != nil {
					continue
				}
				if err := g.validate(); err != nil || g.FPR(max(n, 1)) > fpr*1.0001 {
					t.Errorf("n=%d fpr=%g %+v: %+v, rate %g, %v", n, fpr, c, g, g.FPR(n), err)
				}
				if n < 1000 && n > 0 {
					filled(t, g, 3)
				}
			}
		}
	}
	for _, bits := range []float64{3, 5, 8, 9.5, 20, 40} {
		for _, n := range []uint64{100, 10_000, 5_000_000} {
			g, err := Config{Keys: n, Size: family.Sizing{BitsPerKey: bits}}.Plan()
			if err != nil {
				t.Errorf("%d keys at %g bits: %v", n, bits, err)
				continue
			}
			if got := float64(g.Bits()) / float64(n); got > bits && g.Bits() > leastBits || n > 1000 && got < bits*0.93-0.5 {
				t.Errorf("%d keys at %g bits: got %g", n, bits, got)
			}
		}
	}
}

// BenchmarkPlan measures the search for a geometry.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []uint64{1000, 100_000, 20_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := (Config{Keys: n}).Plan(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
