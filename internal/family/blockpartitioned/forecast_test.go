package blockpartitioned

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestForecast holds forecasts, and the geometries that they choose, against plain searches: a third of the grid in a
// run.
func TestForecast(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := filtertest.Third(t, *long)
	for _, block := range []uint64{512, 1024} {
		for _, per := range []float64{2, 3, 5, 8, 12, 20, 35} {
			for _, passes := range []int{1, 24, 40, 64, 150} {
				for _, later := range []float64{0, 0.3, 1, 10} {
					if passes != 64 && later != 0 && later != 1 || !runs() {
						continue
					}
					load := float64(block) / per / (1 + later)
					p := problem{block, 300, 0, load, later * load, passes, anneal.Words(passes)}
					f := p.forecastOf(p.best()[0])
					want := simulate(f.blockGeometry, p, 300, 1)
					// The error, as a share of the size: how many more bits would make up for it.
					if off := math.Log2(f.rate/want) / 0.85 / per; math.Abs(off) > 0.01 && math.Abs(f.rate/want-1) > 0.05 {
						t.Errorf("blocks of %d, %g bits a key, %d passes, %g later: forecast %+v, searched %.4g: off by %.2f%% of the size",
							block, per, passes, later, f, want, 100*off)
					}
				}
			}
		}
	}
}

// simulate is the specification of a forecast: it returns the mean rate of some blocks of random keys. Block b has as
// many keys as the quantile (b + 1/2) / blocks of the Poisson distribution, which scatters less than random numbers of
// keys.
func simulate(s blockGeometry, q problem, blocks int, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0x626c6f636b))
	f := newFilter(geometry{s, uint64(blocks)}, make([]uint64, uint64(blocks)*s.block/64), 0)
	search := searcher{f: f, sizes: make([]uint32, s.groups)}
	part := anneal.NewPart(q.passes)
	p := math.Exp(-q.load) // the probability of n keys; below is the probability of at most n
	below, n := p, 0
	for b := range uint64(blocks) {
		for below < (float64(b)+0.5)/float64(blocks) && p > 0 {
			n++
			p *= q.load / float64(n)
			below += p
		}
		keys := make([]filter.Hash, n)
		for i := range keys {
			// lo is the smallest Hi of the block.
			lo, _ := bits.Div64(b, uint64(blocks)-1, uint64(blocks))
			keys[i] = filter.Hash{Hi: lo + r.Uint64N(math.MaxUint64/uint64(blocks)), Lo: r.Uint64()}
		}
		slices.SortFunc(keys, func(x, y filter.Hash) int { return cmp.Compare(x.Hi, y.Hi) })
		search.block(b, keys, part)
	}
	return f.after(q.later * float64(blocks))
}
