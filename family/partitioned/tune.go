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

// shardKeys is the number of keys of a full shard. Its bitmap and counters fit a second-level cache, and 2^15 keys are
// so many that shards differ little in their number of keys.
const shardKeys = 1 << 15

// shardBits is the most bits of a shard. A shard of shardKeys keys has more only if most keys come after the build.
const shardBits = 1 << 24

// maxBitsPerKey keeps k within maxK.
const maxBitsPerKey = 64

// Limits of the keys of a build, and of the later keys for each of them.
const (
	maxKeys  = 1 << 44
	maxLater = 1000
)

// shape is what a geometry is made from for any number of keys.
type shape struct {
	k, width int
	perGroup int // keys per group, on average
}

// fit returns the geometry with this shape for n keys in total bits, or false if the bits are too few.
func (s shape) fit(n, total uint64) (geometry, bool) {
	if s.k == 0 {
		return geometry{}, false // tune found no shape that fits
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
	// A bit that more than a few keys set is of no use, and a byte counts them.
	return g, n/g.shards*uint64(s.k) <= 16*g.bits
}

// geometry returns the geometry that suits the Config for n distinct keys.
func (c Config) geometry(ctx context.Context, n uint64) (geometry, error) {
	n = max(n, 1)
	switch {
	case c.From != nil:
		return c.From.geometry, nil
	case n > maxKeys:
		return geometry{}, fmt.Errorf("%d keys: %w", n, filter.ErrTooLarge)
	case c.Later > maxLater*n:
		return geometry{}, &filter.ConfigError{Field: "later", Value: c.Later,
			Reason: fmt.Sprintf("more than %d times the %d keys of the build; take family standard", maxLater, n)}
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
			Reason: fmt.Sprintf("too few for the keys and their shifts; give %d bits or more", max(64, 2*(n+c.Later)))}
	}
	return g, nil
}

// geometryForRate returns a geometry whose forecast keeps the rate, with at most 1% of the bits to spare.
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
// rate falls by a few percent with each doubling of the passes.
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
				// Interpolate along the logarithms.
				passes = before + int(math.Ceil(float64(passes-before)*math.Log(last/target)/math.Log(last/rate)))
			}
			return filter.Effort{Passes: passes}, nil
		}
		before = passes
	}
	return filter.Effort{}, unreached(target, g, n, rate)
}

// maxForecastPasses is the longest search that is forecast: longer ones gain a few percent at most.
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

// Forecast returns the size in bits of the filter for n distinct keys, and its predicted rate after the search and
// Later more keys: the rate of a sample of random keys in the same shape. It takes up to a second. Errors wrap
// filter.ErrConfig or filter.ErrTooLarge.
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

// forecast is a shape and the rate of a sample with it.
type forecast struct {
	shape
	rate float64
	ok   bool
}

// sampleKeys is the most random keys of a sample. The rates of several samples of 2048 keys at 8 bits a key lie within
// 1% of each other.
const sampleKeys = 2048

// sampleBits is the most bits of a sample, which bounds it if most keys come later.
const sampleBits = 1 << 20

// maxTunePasses bounds the passes that a shape is chosen for. Long searches do best with smaller groups: at 8 bits a
// key and 2500 passes the best shape for 600 passes has a rate of 0.00573 and that for 150 passes 0.00595; that for
// 1500 passes is no better. budgetTunePasses is for searches by time, whose time the choice takes.
const (
	maxTunePasses    = 600
	budgetTunePasses = 150
)

// forecasts caches the results of tune.
var forecasts sync.Map

// problem is what a shape is chosen for: a sample of random keys.
type problem struct {
	keys   uint64
	bits   uint64
	later  float64 // keys that come after the search, for each key before it
	passes int
}

// problem returns the sample for a filter of n keys with that many bits.
func (c Config) problem(n, total uint64) problem {
	per := float64(total) / float64(n)
	sample := max(1, min(n, sampleKeys, uint64(sampleBits/per)))
	return problem{
		keys: sample, bits: uint64(math.Ceil(per * float64(sample))),
		later: float64(c.Later) / float64(n), passes: c.tunePasses(),
	}
}

// tune looks for the shape with the lowest rate on a sample of random keys. From a first guess it changes one of k, the
// size of the groups and the number of shifts at a time as long as that lowers the rate.
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
