package paper

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// smallest lists the bits per key, counted as in the paper, that the search finds at n = 10^5, P_o = 10^-10. The paper
// has 10.6, 14.4, 18.2, and 13.0, 16.8, 20.6 with counters. With the rate λ/2^r instead of 1-exp(-λ/2^r), and λ at most
// 1.5, a search finds 10.16, 14.02, 18.03, and 12.47, 16.36, 20.40: the limits atMost.
var smallest = []struct {
	fpr          float64
	counting     bool
	bits, atMost float64
}{
	{1e-2, false, 10.146, 10.16}, {1e-3, false, 14.006, 14.02}, {1e-4, false, 17.823, 18.03},
	{1e-2, true, 12.453, 12.47}, {1e-3, true, 16.343, 16.36}, {1e-4, true, 20.103, 20.40},
}

func TestRankIndexedPlan(t *testing.T) {
	for _, want := range smallest {
		start := time.Now()
		g, err := RankIndexed{Keys: 1e5, Counting: want.counting, FPR: want.fpr}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		bits := float64(RankIndexedBits(g)) / 1e5
		t.Logf("%g: %.3f bits, %+v in %v", want.fpr, bits, g, time.Since(start))
		if math.Abs(bits-want.bits) > 0.005 || bits > want.atMost {
			t.Errorf("%g, counting %v: %.4f bits per key, want %.3f", want.fpr, want.counting, bits, want.bits)
		}
		if err := valid(g); err != nil || g.Chains > RankIndexedChains || OverflowBound(g) > 1e-10 ||
			g.FPR(1e5) > want.fpr*(1+1e-9) {
			t.Errorf("%+v: %v, overflow %g, rate %g", g, err, OverflowBound(g), g.FPR(1e5))
		}
	}
}

// valid returns the error of package rankindexed for a geometry.
func valid(g rankindexed.Geometry) error {
	_, err := rankindexed.Config{Geometry: &g}.Plan()
	return err
}

// TestRankIndexedPlanAnywhere searches for few and for many keys: rate and overflow must be kept.
func TestRankIndexedPlanAnywhere(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 10, 64, 300, 1e4, 1e6} {
		for _, c := range []RankIndexed{
			{Keys: n, FPR: 0.3}, {Keys: n, Overflow: 0.1}, {Keys: n, FPR: 1e-9, ValueBits: 12},
		} {
			g, err := c.Plan()
			if err != nil {
				t.Fatal(err)
			}
			fpr, overflow := c.FPR, c.Overflow
			if fpr == 0 {
				fpr = rankindexed.DefaultFPR
			}
			if overflow == 0 {
				overflow = rankindexed.DefaultOverflow
			}
			if err := valid(g); err != nil || OverflowBound(g) > overflow || g.FPR(n) > fpr*(1+1e-9) ||
				g.ValueBits != c.ValueBits {
				t.Errorf("%d keys: %+v: %v, overflow %g, rate %g", n, g, err, OverflowBound(g), g.FPR(n))
			}
		}
	}
	for _, c := range []RankIndexed{
		{Overflow: 1e-12}, {Overflow: 0.2}, {Overflow: math.NaN()}, {FPR: 1e-35}, {FPR: 1}, {FPR: math.NaN()},
		{ValueBits: -1},
		{ValueBits: rankindexed.MaxValueBits + 1}, {ValueBits: 1, Counting: true},
	} {
		if _, err := c.Plan(); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := (RankIndexed{Keys: maxRankIndexedKeys + 1}).Plan(); !errors.Is(err, filter.ErrTooLarge) {
		t.Error(err)
	}
}

// TestRankIndexedBits compares RankIndexedBits with a count by hand.
func TestRankIndexedBits(t *testing.T) {
	g := rankindexed.Geometry{
		Buckets:   10,
		Chains:    60,
		Cells:     [3]int{45, 8, 20},
		Pools:     [3]uint64{0, 4, 1},
		Remainder: 6,
	}
	if got, want := RankIndexedBits(g), uint64(10*(60+45+45*6+3)+4*(1+8+8*6+1)+1*(1+20+20*6)); got != want {
		t.Errorf("%d bits, want %d", got, want)
	}
	g.Counting = true
	if got, want := RankIndexedBits(g), uint64(10*(60+45+45*8+3)+4*(1+8+8*8+1)+1*(1+20+20*8)); got != want {
		t.Errorf("counting: %d bits, want %d", got, want)
	}
	g = rankindexed.Geometry{Buckets: 7, Chains: 9, Cells: [3]int{11}, Remainder: 5}
	if got, want := RankIndexedBits(g), uint64(7*(9+11+55)); got != want {
		t.Errorf("one level: %d bits, want %d", got, want)
	}
}

// TestRankIndexedOverflow fills filters that are sized with a high P_o. OverflowBound must hold and be at most twice
// the observed share. The test also compares OverflowBound with bounds by hand.
func TestRankIndexedOverflow(t *testing.T) {
	const fills, n = 400, 1000
	g, err := RankIndexed{Keys: n, Overflow: 0.1}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	full := 0
	for i := range uint64(fills) {
		f, err := rankindexed.New(rankindexed.Config{Geometry: &g})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range filtertest.Hashes(n, i+1) {
			if f.Add(h) != nil {
				full++
				break
			}
		}
	}
	// Theorem 1 has a factor of 2 that is mostly not needed.
	if p := float64(full) / fills; p > OverflowBound(g)+3*math.Sqrt(0.1/fills) || p < OverflowBound(g)/20 {
		t.Errorf("%d of %d filters were full early, the bound is %g", full, fills, OverflowBound(g))
	}
	// By hand: 2·Pr[Bin(3, p) > 1] + 3·Pr[Bin(6, 1/3) > 5] with p = Pr[Poisson(2) > 3].
	p := 1 - math.Exp(-2)*(1+2+2+8./6)
	want := 2*(3*p*p*(1-p)+p*p*p) + 3*math.Pow(1./3, 6)
	three := rankindexed.Geometry{
		Capacity:  6,
		Buckets:   3,
		Chains:    4,
		Cells:     [3]int{3, 2},
		Pools:     [3]uint64{0, 1},
		Remainder: 3,
	}
	if got := OverflowBound(three); math.Abs(got-want) > 1e-12 {
		t.Errorf("three buckets: %g, want %g", got, want)
	}
	one := rankindexed.Geometry{Capacity: 10, Buckets: 1, Chains: 4, Cells: [3]int{9}, Remainder: 3}
	if OverflowBound(one) != 1 {
		t.Errorf("nine cells for ten keys: %g", OverflowBound(one))
	}
	if one.Cells[0] = 10; OverflowBound(one) != 0 {
		t.Errorf("ten cells for ten keys: %g", OverflowBound(one))
	}
}

func BenchmarkRankIndexedPlan(b *testing.B) {
	for b.Loop() {
		if _, err := (RankIndexed{Keys: 1e5}).Plan(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPlanOverflow requires that geometries keep the bound of the paper on an overflow.
func TestPlanOverflow(t *testing.T) {
	for _, c := range []rankindexed.Config{
		{Keys: 1e5}, {Keys: 1e5, Size: family.Sizing{FPR: 1e-4}}, {Keys: 5000, Counting: true}, {Keys: 7},
		{Keys: 1e5, Overflow: 1e-3},
	} {
		limit := c.Overflow
		if limit == 0 {
			limit = rankindexed.DefaultOverflow
		}
		g, err := c.Plan()
		if bound := OverflowBound(g); err != nil || bound > limit*(1+1e-9) {
			t.Errorf("%+v: bound %g, want at most %g: %v", g, bound, limit, err)
		}
	}
}
