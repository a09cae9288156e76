package partitioned

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestForecast holds forecasts, and the divisions that they choose, against plain searches: a third of the grid in a
// run.
func TestForecast(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := filtertest.Third(t, *long)
	for _, n := range []uint64{1, 10, 100, 1000, 16000} {
		for _, per := range []float64{1, 2, 3, 5, 8, 12, 20, 35, 60} {
			for _, passes := range []int{1, 24, 40, 64, 600} {
				for _, later := range []float64{0, 0.3, 1, 10} {
					if passes != 64 && later != 0 && later != 1 || passes == 600 && n != 1000 || !runs() {
						continue
					}
					bits := uint64(math.Ceil(per * float64(n) * (1 + later)))
					p := problem{n, bits, 0, later, passes, anneal.Windows(passes)}
					f := p.tune()
					if f.k == 0 {
						continue
					}
					var want float64
					seeds := max(1, min(200, 8000/n))
					for seed := range seeds {
						want += simulate(f.division, p, seed) / float64(seeds)
					}
					// The error, as a share of the size: how many more bits would make up for it.
					off, bound := math.Log2(f.rate/want)/0.85/per, 0.01
					if n < 1000 {
						bound = map[uint64]float64{1: 0.35, 10: 0.12, 100: 0.05}[n]
					}
					if math.Abs(off) > bound && math.Abs(f.rate/want-1) > 0.05 {
						t.Errorf("%d keys, %g bits each, %d passes, %g later: forecast %+v, searched %.4g: off by %.2f%% of the size",
							n, per, passes, later, f, want, 100*off)
					}
				}
			}
		}
	}
}

// simulate is the specification of a forecast: it returns the rate of a division after all keys, or 2 if they do not
// fit.
func simulate(s division, p problem, seed uint64) float64 {
	g, ok := s.fit(p.keys, p.bits)
	if !ok {
		return 2
	}
	r := rand.New(rand.NewPCG(seed, 0x706172746974))
	keys := make([]filter.Hash, p.keys)
	for i := range keys {
		keys[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	slices.SortFunc(keys, func(x, y filter.Hash) int { return cmp.Compare(x.Hi, y.Hi) })
	var st anneal.State
	layOut(&st, g, 0, keys)
	searchShard(&st, anneal.NewPart(p.passes), 0, nil)
	f := newFilter(g, make([]uint64, g.bitmapWords()), make([]uint64, g.shiftWords()), p.keys)
	f.store(0, &st)
	return f.after(p.later * float64(p.keys))
}
