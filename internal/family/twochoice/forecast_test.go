package twochoice

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/filtertest"
)

var (
	update = flag.Bool("update", false, "measure the tables and write them")
	long   = flag.Bool("long", false, "run all cases of TestForecast")
)

// searched returns the yield of a plain search of random keys, which runs one round after the other.
func searched(choices, k, passes int, load float64, seed uint64) float64 {
	throws := 20_000.0
	if choices <= 4 && load >= 0.3 && load <= 3 {
		throws = 60_000
	}
	r := rand.New(rand.NewPCG(seed, 0x63686f69636573))
	keys := make([]filter.Hash, max(64, int(throws)/k))
	for i := range keys {
		keys[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	bits := uint64(float64(len(keys)*k) / load)
	g := geometry{shards: 1, bits: max(bits, uint64(choices)), choices: choices, k: k}
	var s anneal.State
	searchShard(&s, anneal.NewPart(passes), g, 0, keys, nil)
	load = distinctPositions(k, float64(bits)) * float64(len(keys)) / float64(bits)
	return -math.Log1p(-float64(s.Ones())/float64(bits)) / load
}

// exp is the inverse of the logarithm of an axis.
func exp(x float64) float64 { return math.Round(1e6*math.Exp(x)) / 1e6 }

func atPoint(at []float64) float64 {
	return searched(int(exp(at[1])), int(exp(at[2])), int(exp(at[0])), exp(at[3]), 1)
}

// TestTable measures some points of the table again. With -update it measures the whole table.
func TestTable(t *testing.T) {
	if !*update {
		stored, axes := yieldTable(), tableAxes()
		r := rand.New(rand.NewPCG(40, 1))
		for range 40 {
			at := make([]float64, len(axes))
			for d, a := range axes {
				at[d] = a[r.IntN(len(a))]
			}
			got := stored.Pick(slices.Index(axes[0], at[0])).Pick(slices.Index(axes[1], at[1])).At(at[2], at[3])
			if want := atPoint(at); math.Abs(got-want) > 2e-5 { // the resolution of the table
				t.Errorf("at %.3g: %.5f, measured %.5f; run go generate", at, got, want)
			}
		}
	}
	if *update {
		if err := os.WriteFile("choices.table", anneal.MeasureTable(atPoint, tableAxes()...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForecast checks forecasts against plain searches of filters of several sizes. A run tests a third of the grid.
func TestForecast(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := filtertest.Third(t, *long)
	for _, n := range []uint64{10, 100, 1000, 10_000} {
		for _, per := range []float64{1, 2, 5, 8, 12, 20, 40, 64} {
			for _, c := range []Config{
				{}, {Effort: filter.Effort{Level: filter.Fast}}, {Effort: filter.Effort{Passes: 2}}, {Effort: filter.Effort{Passes: 1}},
				{Choices: 2}, {Choices: 5}, {Choices: 16}, {K: 3},
			} {
				if per*float64(n) < float64(leastWindows*c.choices()) || !runs() {
					continue
				}
				if err := c.Check(); err != nil {
					t.Fatal(err)
				}
				p := c.problem(n)
				f := p.bestForecast(per)
				if throws := float64(n) * float64(f.k*c.choices()); throws > 1e6 {
					continue
				}
				passes := min(anneal.Passes(c.Effort), maxPasses)
				var want float64
				seeds := max(1, min(50, 2000/n))
				for seed := range seeds {
					want += simulate(c, f.k, passes, n, per, seed) / float64(seeds)
				}
				// The error, as a share of the size: the number of additional bits that would compensate for it.
				off, bound := math.Log2(f.rate/want)/0.85/per, map[uint64]float64{10: 0.4, 100: 0.1, 1000: 0.015, 10_000: 0.015}[n]
				if math.Abs(off) > bound && math.Abs(f.rate/want-1) > 0.05 {
					t.Errorf("%d keys, %g bits each, %+v: forecast %+v, searched %.4g: off by %.2f%% of the size", n, per, c, f, want, 100*off)
				}
			}
		}
	}
}

// simulate computes what a forecast predicts: the rate of a filter of random keys.
func simulate(c Config, k, passes int, n uint64, per float64, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0x6368_6f69_6365))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	bits := uint64(math.Ceil(per * float64(n)))
	g := geometry{shards: 1, bits: max(bits, uint64(c.choices())), choices: c.choices(), k: k}
	f := &Filter{geometry: g, words: make([]uint64, g.wordCount())}
	var s anneal.State
	searchShard(&s, anneal.NewPart(passes), g, 0, hs, nil)
	s.Store(f.words, 0)
	return f.Info().FPRPosterior
}
