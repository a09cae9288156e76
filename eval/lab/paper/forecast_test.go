package paper

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// searchedFill returns the fill after Greedy at random keys.
func searchedFill(t *testing.T, r Greedy, seed uint64) float64 {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	hs := make([]filter.Hash, r.Keys)
	for i := range hs {
		hs[i] = filter.Hash{Hi: rnd.Uint64(), Lo: rnd.Uint64()}
	}
	r.Group, r.Bit = RandomFunctions(hs, r.Groups, r.Bits)
	c, err := r.Search(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return c.Fills[len(c.Fills)-1]
}

func TestGreedyFill(t *testing.T) {
	for _, r := range []Greedy{
		{Keys: 1000, Groups: 25, Functions: 64, K: 6, Bits: 7100},
		{Keys: 1000, Groups: 10, Functions: 256, K: 5, Bits: 7600},
		{Keys: 1000, Groups: 50, Functions: 128, K: 7, Bits: 5550},
	} {
		var mean float64
		for seed := range uint64(3) {
			mean += searchedFill(t, r, seed) / 3
		}
		got := GreedyFill(r.Keys, int(r.Bits), r.K, r.Groups, r.Functions)
		if math.Abs(got/mean-1) > 0.03 {
			t.Errorf("%d groups, %d functions: %.4f, searched %.4f", r.Groups, r.Functions, got, mean)
		}
		choices := float64(r.Groups*r.K) * math.Log2(float64(r.Functions))
		if floor := ChoiceFloor(r.Keys, int(r.Bits), r.K, choices); floor >= mean {
			t.Errorf("%d groups: searched %.4f, below the floor %.4f", r.Groups, mean, floor)
		}
	}
}

// TestChooseGreedy requires a choice near the published ones, which are best in simulations, and no better neighbor.
func TestChooseGreedy(t *testing.T) {
	for _, c := range []struct{ per, g, k int }{{8, 250, 6}, {16, 250, 12}, {32, 180, 24}} {
		g, k, rate := ChooseGreedy(10_000, 10_000*c.per, 16384)
		if g < c.g-50 || g > c.g+50 || k < c.k-1 || k > c.k+1 {
			t.Errorf("%d bits per key: g = %d, k = %d, published %d and %d", c.per, g, k, c.g, c.k)
		}
		bits := int(GreedyBits(uint64(10_000*c.per), c.g, c.k, 16384))
		if other := math.Pow(GreedyFill(10_000, bits, c.k, c.g, 16384), float64(c.k)); rate > 1.01*other {
			t.Errorf("%d bits per key: forecast %.3g, %.3g for the published choice", c.per, rate, other)
		}
	}
	if _, _, rate := ChooseGreedy(100, 1, 16384); rate != 1 {
		t.Errorf("no filter fits, rate %g", rate)
	}
}

// TestChoiceFloor compares the floor with the exact law of one choice and of many independent ones.
func TestChoiceFloor(t *testing.T) {
	law := NewBits(8000, 0, 6000)
	for _, choices := range []float64{0, 20, 100, 400} {
		below, y := 0.0, 0
		for ; below+law[y] < math.Exp2(-choices-1); y++ {
			below += law[y]
		}
		want := float64(y) / 8000
		if got := ChoiceFloor(1000, 8000, 6, choices); got > want || got < want*0.97 {
			t.Errorf("2^%g choices: %.4f, by the exact law %.4f", choices, got, want)
		}
	}
	for _, bad := range []float64{ChoiceFloor(0, 1, 1, 0), ChoiceFloor(1, 0, 1, 0), ChoiceFloor(1, 1, 0, 0),
		ChoiceFloor(1, 1, 1, -1), GreedyFill(1, 1, 1, 0, 1), GroupFillNormal(1, 0, 1, 1)} {
		if !math.IsNaN(bad) {
			t.Error(bad)
		}
	}
}

// TestMostNormal compares the largest of normal numbers with tables (Harter, 1961).
func TestMostNormal(t *testing.T) {
	for n, want := range map[float64]float64{1: 0, 2: 1 / math.Sqrt(math.Pi), 3: 0.84628, 10: 1.53875, 100: 2.50759} {
		if got := MostNormal(n); math.Abs(got-want) > 1e-4 {
			t.Errorf("%g: %.5f, want %.5f", n, got, want)
		}
	}
}

// TestGroupFillNormal requires that the fill depends on g and t almost only by g·a².
func TestGroupFillNormal(t *testing.T) {
	for _, c := range []struct{ g, t int }{{500, 2}, {116, 5}, {66, 10}, {25, 100}, {50, 10_000}} {
		a := MostNormal(float64(c.t))
		got, want := GroupFillNormal(1000, 8000, 6, float64(c.g)*a*a), GroupFill(1000, 8000, 6, c.g, c.t)
		if math.Abs(got/want-1) > 0.01 {
			t.Errorf("%+v: %.4f, want %.4f", c, got, want)
		}
	}
	if got, want := GroupFillNormal(1000, 8000, 6, 0), -math.Expm1(-0.75); math.Abs(got-want) > 1e-4 {
		t.Errorf("one try: %.5f, want %.5f", got, want)
	}
}

// TestKs requires the numbers of functions of each group.
func TestKs(t *testing.T) {
	r := Greedy{Keys: 90, Groups: 3, Functions: 16, Ks: []int{1, 5, 3}, Bits: 1000,
		Group: func(key int) int { return key % 3 }, Bit: func(key, j int) uint64 { return uint64(key*31+j*977) % 1000 }}
	c, err := r.Search(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for j, chosen := range c.Functions {
		if len(chosen) != r.Ks[j] {
			t.Errorf("group %d has %d functions", j, len(chosen))
		}
	}
}
