package partitioned

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// shardKeys is the number of keys of a full shard: its bitmap and counters lie in a second-level cache, and its 2^15
// keys are many enough that shards of the same size differ little in their number of keys.
const shardKeys = 1 << 15

// shardBits is the most bits of a shard: more are left where most keys come after the build.
const shardBits = 1 << 24

// maxBitsPerKey keeps k within maxK.
const maxBitsPerKey = 64

// Limits of the keys of a build, and of those that come later for each of them.
const (
	maxKeys  = 1 << 44
	maxLater = 1000
)

// shape is what a geometry is made from, whatever the number of keys.
type shape struct {
	k, width int
	perGroup int // keys a group, on average
}

// fit returns the geometry with a shape for n keys in total bits, or false if they are too few.
func (s shape) fit(n, total uint64) (geometry, bool) {
	if s.k == 0 {
		return geometry{}, false // what tune returns where nothing fits
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
	// A bit that is set by more than a few keys on average is of no use, and a byte counts them.
	return g, n/g.shards*uint64(s.k) <= 16*g.bits
}

// geometry returns the shape that suits the Config for n distinct keys.
func (c Config) geometry(ctx context.Context, n uint64) (geometry, error) {
	n = max(n, 1)
	switch {
	case c.From != nil:
		return c.From.geometry, nil
	case n > maxKeys:
		return geometry{}, fmt.Errorf("%d keys: %w", n, filter.ErrTooLarge)
	case c.Later > maxLater*n:
		return geometry{}, &filter.ConfigError{Field: "later", Value: c.Later, Reason: fmt.Sprintf("more than %d times the %d keys of the build; take standard", maxLater, n)}
	case c.Size.FPR != 0:
		return c.geometryForRate(ctx, n)
	}
	size := c.Size
	if size.IsZero() {
		size.BitsPerKey = DefaultBitsPerKey
	}
	total, err := size.Bits(n + c.Later)
	if err != nil {
		return geometry{}, err
	}
	return c.geometryOf(ctx, n, total)
}

// geometryOf returns the best geometry with that many bits.
func (c Config) geometryOf(ctx context.Context, n, total uint64) (geometry, error) {
	n = max(n, 1)
	total = min(total, (n+c.Later)*maxBitsPerKey) // more would need more slots than there may be
	f, err := tune(ctx, c.problem(n, total))
	if err != nil {
		return geometry{}, err
	}
	g, ok := f.fit(n, total)
	if !ok {
		return geometry{}, &filter.ConfigError{Field: "size", Value: fmt.Sprintf("%d bits for %d keys", total, n),
			Reason: fmt.Sprintf("too few for them and their shifts; give %d bits or more", max(64, 2*(n+c.Later)))}
	}
	return g, nil
}

// geometryForRate returns a geometry whose forecast keeps the rate with hardly a bit to spare.
func (c Config) geometryForRate(ctx context.Context, n uint64) (geometry, error) {
	all := float64(n) + float64(c.Later)
	per, nearest, err := anneal.LeastBits(c.Size.FPR, 1, maxBitsPerKey, func(per float64) (float64, error) {
		f, err := tune(ctx, c.problem(n, uint64(math.Ceil(per*all))))
		if !f.ok {
			return 2, err
		}
		return f.rate, err
	})
	if err != nil {
		return geometry{}, err
	}
	if math.IsInf(per, 1) {
		return geometry{}, outOfReach(c.Size.FPR, nearest)
	}
	total, err := filter.BitsFor(per * all)
	if err != nil {
		return geometry{}, err
	}
	return c.geometryOf(ctx, n, total)
}

// effortFor returns the number of passes after which the forecast of a geometry reaches the target of the Effort. The
// rate falls by a few hundredths with each doubling of the passes.
func (c Config) effortFor(ctx context.Context, g geometry, n uint64) (filter.Effort, error) {
	target, rate := c.Effort.Target, 1.0
	if n == 0 {
		return filter.Effort{Passes: 1}, nil
	}
	before := 0
	for passes := 2; passes <= maxForecastPasses; passes *= 2 {
		if err := ctx.Err(); err != nil {
			return filter.Effort{}, err
		}
		last := rate
		p := c.problem(max(n, 1), g.total())
		p.passes = passes
		rate = simulate(shape{g.k, g.width, g.perGroup(n)}, p)
		if rate <= target {
			if before > 0 && last > rate {
				// In between along the logarithms.
				passes = before + int(math.Ceil(float64(passes-before)*math.Log(last/target)/math.Log(last/rate)))
			}
			return filter.Effort{Passes: passes}, nil
		}
		before = passes
	}
	return filter.Effort{}, unreached(target, g, n, rate)
}

// maxForecastPasses is the longest search that is forecast: longer ones gain a few hundredths at most.
const maxForecastPasses = 4096

// tunePasses returns the number of passes that a shape is chosen for.
func (c Config) tunePasses() int {
	if p := anneal.Passes(c.Effort); p != 0 {
		return min(p, maxForecastPasses)
	}
	if c.Effort.Target != 0 {
		return maxTunePasses
	}
	return budgetTunePasses
}

// Forecast returns the bits of the filter that n distinct keys would get and the rate that a sample of random keys has
// with the same shape.
func (c Config) Forecast(n uint64) (bits uint64, rate float64, err error) {
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	ctx := context.Background()
	g, err := c.geometry(ctx, n)
	if err != nil {
		return 0, 0, err
	}
	f, err := tune(ctx, c.problem(max(n, 1), g.total()))
	return g.total(), f.rate, err
}

// forecast is a shape and the rate that a sample had with it.
type forecast struct {
	shape
	rate float64
	ok   bool
}

// sampleKeys is how many random keys a forecast is made from at most. Rates of several samples of 2048 keys at 8 bits
// lie within a hundredth of each other.
const sampleKeys = 2048

// sampleBits is how many bits it has at most, where most keys come later.
const sampleBits = 1 << 20

// maxTunePasses bounds the search for a shape, which long searches want smaller groups in: at 8 bits and 2500 passes the shape that
// is best at 600 gives 0.00573 where that of 150 gives 0.00595, and 1500 finds no better one. budgetTunePasses is what a
// search by time is tuned with, so as not to take its time.
const (
	maxTunePasses    = 600
	budgetTunePasses = 150
)

// forecasts remembers what tune found.
var forecasts sync.Map

// problem is what a shape is chosen for: random keys, so many as a sample has.
type problem struct {
	keys   uint64
	bits   uint64
	later  float64 // keys that come after the search, for each of these
	passes int
}

// problem returns the sample of a filter of n keys with that many bits.
func (c Config) problem(n, total uint64) problem {
	per := float64(total) / float64(n)
	sample := max(1, min(n, sampleKeys, uint64(sampleBits/per)))
	return problem{
		keys: sample, bits: uint64(math.Ceil(per * float64(sample))),
		later: float64(c.Later) / float64(n), passes: c.tunePasses(),
	}
}

// tune looks for the shape with the lowest rate. It searches on a sample of random keys: from a first guess on it changes
// one of k, the size of the groups and the number of shifts at a time as long as that helps.
func tune(ctx context.Context, p problem) (forecast, error) {
	if known, ok := forecasts.Load(p); ok {
		return known.(forecast), nil
	}
	per := float64(p.bits) / (float64(p.keys) * (1 + p.later))
	tried := map[shape]float64{}
	try := func(s shape, passes int) forecast {
		if ctx.Err() != nil || s.k < 1 || s.k > maxK || s.width < 0 || s.width > maxWidth || s.perGroup < 1 {
			return forecast{}
		}
		r, known := tried[s]
		if !known {
			r = simulate(s, problem{p.keys, p.bits, p.later, passes})
			tried[s] = r
		}
		return forecast{s, r, r <= 1}
	}
	quick := min(p.passes, maxTunePasses)
	var best forecast
	for _, guess := range []shape{
		{k: max(1, int(math.Round(math.Ln2*per))), width: 0, perGroup: 1},
		{k: max(1, int(math.Round(0.88*per))), width: maxWidth, perGroup: 15},
	} {
		f := try(guess, quick)
		for better := f.ok; better; {
			better = false
			s := f.shape
			for _, next := range []shape{
				{s.k + 1, s.width, s.perGroup}, {s.k - 1, s.width, s.perGroup},
				{s.k, s.width, s.perGroup + 1 + s.perGroup/10}, {s.k, s.width, s.perGroup - 1 - s.perGroup/10},
				{s.k, s.width + 1, s.perGroup}, {s.k, s.width - 1, s.perGroup},
			} {
				if guess.width == 0 && next.width > 0 {
					continue
				}
				if t := try(next, quick); t.ok && t.rate < f.rate {
					f, better = t, true
				}
			}
		}
		if f.ok && (!best.ok || f.rate < best.rate) {
			best = f
		}
	}
	if best.ok && p.passes > quick {
		clear(tried)
		best = try(best.shape, p.passes)
	}
	if err := ctx.Err(); err != nil {
		return forecast{}, err
	}
	forecasts.Store(p, best)
	return best, nil
}

// simulate returns the rate of a shape after all keys, or 2 if they do not fit.
func simulate(s shape, p problem) float64 {
	g, ok := s.fit(p.keys, p.bits)
	if !ok {
		return 2
	}
	r := rand.New(rand.NewPCG(p.keys, 0x706172746974))
	keys := make([]filter.Hash, p.keys)
	for i := range keys {
		keys[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	slices.SortFunc(keys, func(x, y filter.Hash) int { return cmp.Compare(x.Hi, y.Hi) })
	var st anneal.State
	layOut(&st, g, 0, keys)
	if s.width == 0 {
		p.passes = 1 // there is nothing to choose
	}
	searchShard(&st, anneal.NewPart(p.passes), 0, nil)
	f := newFilter(g, make([]uint64, g.bitmapWords()), make([]uint64, g.shiftWords()), p.keys)
	f.store(0, &st)
	return f.after(p.later * float64(p.keys))
}
