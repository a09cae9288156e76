package partitioned

import (
	"fmt"
	"math"
	"sort"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family"
)

// shardKeys is the number of keys of a full shard. The bitmap and the counters of such a shard fit a second-level
// cache, and with 2^15 keys the numbers of keys of shards differ little.
const shardKeys = 1 << 15

// shardBits is the largest number of bits of a shard. A shard of shardKeys keys has more only if most keys come after
// the build.
const shardBits = 1 << 24

// maxBitsPerKey keeps k within maxK.
const maxBitsPerKey = 64

// Limits of the number of keys of a build, and of the number of later keys per key of the build.
const (
	maxKeys  = 1 << 44
	maxLater = 1000
)

// division contains the choices from which a geometry for any number of keys follows.
type division struct {
	k, width int
	perGroup int // keys per group, on average
}

// geometryFor returns the geometry with this division for n keys in total bits, or false if the bits are too few.
func (s division) geometryFor(n, total uint64) (geometry, bool) {
	if s.k == 0 {
		return geometry{}, false // no division fits
	}

	shards := max(1, (n+shardKeys/2)/shardKeys, total/shardBits)
	g := geometry{shards: shards, groups: 1, k: s.k, width: s.width}
	if s.width > 0 {
		g.groups = max(1, (n/g.shards+uint64(s.perGroup)/2)/uint64(s.perGroup))
	}

	side := g.groups * uint64(s.k*s.width)
	if total/g.shards < side+1<<s.width+uint64(s.k) || total/g.shards > maxShard {
		return geometry{}, false
	}

	g.bits = total/g.shards - side
	// Bits that are set by more than a few keys are of no use, and the search counts the keys of a bit in a byte.
	return g, n/g.shards*uint64(s.k) <= 16*g.bits
}

// geometry returns the geometry that suits the Config for n distinct keys.
func (c Config) geometry(keys uint64) (geometry, error) {
	n := max(keys, 1)
	switch {
	case c.From != nil:
		return c.From.geometry, nil
	case n > maxKeys:
		return geometry{}, fmt.Errorf("%d keys: %w", n, filter.ErrTooLarge)
	case c.Later > maxLater*n:
		return geometry{}, family.Invalid("later", c.Later,
			"more than %d times the %d keys of the build; take family standard", maxLater, n)
	case c.Size.FPR != 0:
		return c.geometryForRate(n)
	}

	size := c.Size
	if size.IsZero() {
		size.BitsPerKey = defaultBitsPerKey
	}

	total, err := size.Bits(n + c.Later)
	if err == nil && keys > 0 {
		err = size.AtMost((n+c.Later)*maxBitsPerKey, n+c.Later, Family)
	}

	if err != nil {
		return geometry{}, err
	}
	return c.geometryOf(n, total)
}

// geometryOf returns the best geometry of total bits.
func (c Config) geometryOf(n, total uint64) (geometry, error) {
	n = max(n, 1)
	total = min(total, (n+c.Later)*maxBitsPerKey) // more would need more than maxK slots
	g, ok := c.problem(n, total).bestDivision().geometryFor(n, total)
	if !ok {
		return geometry{}, family.Invalid("size", fmt.Sprintf("%d bits for %d keys", total, n),
			"too few for the keys and their shifts; give %d bits or more", max(64, 2*(n+c.Later)))
	}
	return g, nil
}

// geometryForRate returns the smallest geometry whose forecast keeps the rate, with a margin because the rate of a
// filter varies with its keys.
func (c Config) geometryForRate(n uint64) (geometry, error) {
	all := float64(n) + float64(c.Later)
	p := c.problem(n, 0)
	per, nearest := anneal.LeastBits(c.Size.FPR, 1, maxBitsPerKey, func(per float64) float64 {
		p.bits = uint64(math.Ceil(per * all))
		f := p.bestDivision()
		return f.rate * anneal.Margin(f.luck, f.k)
	})
	if math.IsInf(per, 1) {
		return geometry{}, outOfReach(c.Size.FPR, nearest)
	}

	total, err := family.BitsFor(per * all)
	if err != nil {
		return geometry{}, err
	}
	return c.geometryOf(n, total)
}

// effortFor returns the fewest passes after which the forecast of a geometry reaches the target of the Effort.
func (c Config) effortFor(g geometry, n uint64) (filter.Effort, error) {
	target, s := c.Effort.Target, division{g.k, g.width, g.perGroup(n)}
	p := c.problem(max(n, 1), g.totalBits())
	after := func(passes int) float64 {
		p.passes = passes
		p.search = anneal.Windows(passes)
		return p.forecast(s, g).rate
	}
	if nearest := after(maxPasses); n > 0 && nearest > target { // more passes would gain little
		return filter.Effort{}, unreached(target, g, n, nearest)
	}
	return filter.Effort{Passes: 1 + sort.Search(maxPasses-1, func(i int) bool { return after(i+1) <= target })}, nil
}

// tunePasses returns the number of passes for which a division is chosen.
func (c Config) tunePasses() int {
	if p := anneal.Passes(c.Effort); p != 0 {
		return min(p, maxPasses)
	}
	if c.Effort.Target != 0 {
		return targetPasses
	}
	return budgetPasses
}

const (
	maxPasses    = 2500 // most passes of the forecasts; a longer search lowers the rate by a few percent at most
	targetPasses = 600  // passes for which a division is chosen if the search has a target
	budgetPasses = 150  // passes for which a division is chosen if the search has a time
)

// Forecast returns the size in bits of the filter for n distinct keys, and its predicted rate after the search and
// Later more keys. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Forecast(n uint64) (bits uint64, rate float64, err error) {
	if err := c.Check(); err != nil {
		return 0, 0, err
	}
	n = max(n, 1)
	g, err := c.geometry(n)
	if err != nil {
		return 0, 0, err
	}
	f := c.problem(n, g.totalBits()).forecast(division{g.k, g.width, g.perGroup(n)}, g)
	return g.totalBits(), f.rate, err
}

// problem describes the requirements for which a division is chosen.
type problem struct {
	keys, bits uint64
	k          int     // 0 for any
	later      float64 // keys added after the search per key of the search
	passes     int
	search     *anneal.Forecast // forecast of a search of these passes
}

// problem returns the problem of a filter of n keys with total bits.
func (c Config) problem(n, total uint64) problem {
	passes := c.tunePasses()
	return problem{n, total, c.K, float64(c.Later) / float64(n), passes, anneal.Windows(passes)}
}

// forecast is a division, its rate, which is more than 1 if the keys do not fit, and the luck of the keys: the standard
// deviation of the rate over the rate.
type forecast struct {
	division
	rate, luck float64
}

// forecast predicts the rate of a division that has the geometry g. The bits at both ends of a shard, which not every
// shift reaches, count half.
func (p problem) forecast(s division, g geometry) forecast {
	keys, base := float64(p.keys)/float64(g.shards), float64(g.basePositions())
	k, bits := float64(g.k), base
	load := k * keys / bits
	fill := anneal.Fill(p.search.Yield(g.width, float64(g.groups), keys/float64(g.groups), load), load)
	empty := math.Exp(float64(p.later*float64(p.keys)) * k * math.Log1p(-1/(float64(g.shards)*base+1)))
	after := 1 - float64((1-fill)*empty)
	// This is the variance of the share of set bits.
	variance := anneal.Spread * fill * (1 - fill) / bits * empty * empty
	return forecast{
		s, math.Pow(after, k) * (1 + float64(k*(k-1)/2*variance/(after*after))),
		k * math.Sqrt(variance/float64(g.shards)) / after,
	}
}

// bestDivision looks for the division with the lowest forecast. It starts from a guess and changes one of k, the size
// of the groups and the number of shifts at a time as long as this lowers the rate.
func (p problem) bestDivision() forecast { return p.descend(p.forecastOf) }

// forecastOf is forecast for the geometry of the division.
func (p problem) forecastOf(s division) forecast {
	g, ok := s.geometryFor(p.keys, p.bits)
	if !ok {
		return forecast{s, 2, 0}
	}
	return p.forecast(s, g)
}

// descend is bestDivision for any function that forecasts.
func (p problem) descend(of func(division) forecast) forecast {
	per := float64(p.bits) / (float64(p.keys) * (1 + p.later))
	try := func(s division) forecast {
		if p.k != 0 {
			s.k = p.k
		}
		if s.k < 1 || s.k > maxK || s.width < 0 || s.width > maxWidth || s.perGroup < 1 || s.perGroup > anneal.MaxSize {
			return forecast{rate: 2}
		}
		return of(s)
	}

	best := forecast{rate: 2}
	// The first guess leads to the best division without shifts, the second one to the best with shifts.
	for _, guess := range []division{
		{k: min(maxK, max(1, int(math.Round(math.Ln2*per)))), width: 0, perGroup: 1},
		{k: min(maxK, max(1, int(math.Round(0.88*per)))), width: maxWidth, perGroup: 15},
	} {
		f := try(guess)
		for better := f.rate <= 1; better; {
			better = false
			s := f.division
			for _, next := range []division{
				{s.k + 1, s.width, s.perGroup}, {s.k - 1, s.width, s.perGroup},
				{s.k, s.width, s.perGroup + 1 + s.perGroup/10}, {s.k, s.width, s.perGroup - 1 - s.perGroup/10},
				{s.k, s.width + 1, s.perGroup}, {s.k, s.width - 1, s.perGroup},
			} {
				if guess.width == 0 && next.width > 0 {
					continue
				}
				if t := try(next); t.rate < f.rate {
					f, better = t, true
				}
			}
		}
		if f.rate < best.rate {
			best = f
		}
	}
	return best
}
