package twochoice

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

// Limits of the size. Above maxBitsPerKey other families are better, and MaxK is too small.
const (
	minBitsPerKey = 1
	maxBitsPerKey = 64
	maxKeys       = 1 << 48
)

// maxShardKeys is the most keys of a shard if Config.Shards is set: a search holds all positions of a shard.
const maxShardKeys = 1 << 22

// shards returns the number of shards for n keys.
func (c Config) shards(n uint64) uint64 {
	if c.Shards != 0 {
		return c.Shards
	}
	return max(1, (n+shardKeys-1)/shardKeys)
}

// shardKeys is the largest average number of keys of a shard. Its counts fit the cache of a core, and all cores get
// shards. That shards have more or fewer keys by chance raises the rate at 16 bits a key by about 0.2%.
const shardKeys = 1 << 14

// geometry returns the geometry that suits the Config for n distinct keys.
func (c Config) geometry(ctx context.Context, n uint64) (geometry, error) {
	n = max(n, 1)
	if n > maxKeys {
		return geometry{}, fmt.Errorf("%d keys: %w", n, filter.ErrTooLarge)
	}
	if c.From != nil {
		g := c.From.geometry
		if n/g.shards > maxShardKeys {
			return geometry{}, fmt.Errorf("%d keys are too many for the %d shards of this filter; build a new one: %w",
				n, g.shards, filter.ErrTooLarge)
		}
		return g, nil
	}
	if c.Size.FPR != 0 {
		per, nearest, err := anneal.LeastBits(c.Size.FPR, minBitsPerKey, maxBitsPerKey, func(per float64) (float64, error) {
			t, err := c.tune(ctx, n, per)
			return t.rate, err
		})
		if err != nil {
			return geometry{}, err
		}
		if math.IsInf(per, 1) {
			return geometry{}, &filter.ConfigError{Field: "fpr", Value: c.Size.FPR,
				Reason: fmt.Sprintf("the lowest rate with %d bits a key is %.2g; take family standard", maxBitsPerKey, nearest)}
		}
		c.Size = filter.Sizing{BitsPerKey: per}
	}
	total, err := c.Size.Bits(n)
	if err != nil {
		return geometry{}, err
	}
	if total < minBitsPerKey*n {
		return geometry{}, &filter.ConfigError{Field: "bytes", Value: c.Size.Bytes,
			Reason: fmt.Sprintf("too few for %d keys; give at least %d", n, n/8*minBitsPerKey+1)}
	}
	shards := max(c.shards(n), (total+maxShard-1)/maxShard)
	if n/shards > maxShardKeys {
		return geometry{}, &filter.ConfigError{Field: "shards", Value: c.Shards,
			Reason: fmt.Sprintf("too few for %d keys; want at least %d", n, n/maxShardKeys+1)}
	}
	t, err := c.tune(ctx, n, float64(total)/float64(n))
	if err != nil {
		return geometry{}, err
	}
	g := geometry{shards: shards, bits: total / shards, choices: c.Choices, k: t.k, hashing: c.Hashing}
	if c.Size.BitsPerKey != 0 { // a size in bytes is a limit, one in bits a key is kept
		g.bits = (total + shards - 1) / shards
	}
	if c.Hashing == Double {
		if c.Size.BitsPerKey != 0 {
			g.bits += whole - 1
		}
		if g.bits = g.bits / whole * whole; g.bits == 0 {
			return geometry{}, &filter.ConfigError{Field: "bytes", Value: c.Size.Bytes,
				Reason: "double hashing needs at least 8"}
		}
	}
	if !g.valid() {
		return geometry{}, fmt.Errorf("%v: %w", g, filter.ErrTooLarge)
	}
	return g, nil
}

// Forecast returns the size in bits of the filter for n distinct keys, and its predicted rate after the search: that of
// a search of random keys with the same sizes. With Effort.Passes = 1 it predicts a filter of New. It takes up to a
// second. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Forecast(n uint64) (bits uint64, rate float64, err error) {
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	g, err := c.geometry(context.Background(), n)
	if err != nil {
		return 0, 0, err
	}
	c.K = g.k
	t, err := c.tune(context.Background(), max(n, 1), float64(g.shards*g.bits)/float64(max(n, 1)))
	return g.shards * g.bits, t.rate, err
}

// maxTunePasses bounds the passes that k is chosen for and forecast with. The rate of a longer search is lower than its
// forecast, by about 5%.
const maxTunePasses = 64

// problem is what k is chosen for.
type problem struct {
	keys    int // of a sample
	per     float64
	inShard float64 // keys of a shard, with double hashing
	choices int
	k       int // 0 if free
	hashing Hashing
	greedy  bool
	passes  int
}

// forecast is a k and the rate of samples with it.
type forecast struct {
	k    int
	rate float64
}

// forecasts caches the results of tune.
var forecasts sync.Map

// sampleKeys is the most keys of a sample. A forecast is the mean of a few samples.
const sampleKeys = 4096

// tune looks for the k with the lowest rate for n keys with per bits each.
func (c Config) tune(ctx context.Context, n uint64, per float64) (forecast, error) {
	p := problem{
		keys: int(min(n, sampleKeys)), per: min(per, maxBitsPerKey),
		choices: c.Choices, k: c.K, hashing: c.Hashing, greedy: c.Greedy, passes: maxTunePasses,
	}
	if passes := anneal.Passes(c.Effort); passes != 0 {
		p.passes = min(passes, maxTunePasses)
	}
	if c.Hashing == Double {
		p.inShard = float64(n) / float64(c.shards(n))
	}
	if known, ok := forecasts.Load(p); ok {
		return known.(forecast), nil
	}
	best, err := p.solve(ctx)
	if err == nil {
		forecasts.Store(p, best)
	}
	return best, err
}

// solve tries each k from that of online insertion up to the largest that is best after a search.
func (p problem) solve(ctx context.Context) (forecast, error) {
	if p.passes == 1 { // the differential equation gives the rate
		k := p.k
		if k == 0 {
			k = BestK(p.per, p.choices)
		}
		return forecast{k, p.rate(k, Fill(p.per, k, p.choices))}, nil
	}
	var tried []forecast
	if p.k != 0 {
		tried = []forecast{{k: p.k}}
	} else {
		least := BestK(p.per, p.choices)
		for k := max(1, least-1); k <= min(MaxK, least+least/3+2); k++ {
			tried = append(tried, forecast{k: k})
		}
	}
	for _, round := range []struct{ keep, samples, passes int }{{len(tried), 1, min(p.passes, 16)}, {2, 4, p.passes}} {
		tried = tried[:min(round.keep, len(tried))]
		for i := range tried {
			if err := ctx.Err(); err != nil {
				return forecast{}, err
			}
			tried[i].rate = p.simulate(tried[i].k, round.samples, round.passes)
		}
		slices.SortStableFunc(tried, func(a, b forecast) int { return cmp.Compare(a.rate, b.rate) })
	}
	return tried[0], nil
}

// simulate returns the mean rate of some samples of random keys.
func (p problem) simulate(k, samples, passes int) (rate float64) {
	// The rates of small samples scatter more, so that there are more of them. Many groups take longer and get fewer keys.
	keys := max(1, min(p.keys, max(1024, sampleKeys*64/(p.choices*k))))
	samples = max(samples, min(100, samples*1024/keys))
	bits := uint64(max(1, math.Round(p.per*float64(keys))))
	g := geometry{shards: 1, bits: bits, choices: p.choices, k: k, hashing: p.hashing}
	random := rand.New(rand.NewPCG(1, 0x6368_6f69_6365))
	hs := make([]filter.Hash, keys)
	var s search
	for range samples {
		for i := range hs {
			hs[i] = filter.Hash{Hi: random.Uint64(), Lo: random.Uint64()}
		}
		s.shard(g, 0, hs, anneal.NewPart(passes), Config{Greedy: p.greedy})
		rate += p.rate(k, float64(s.ones)/float64(g.bits)) / float64(samples)
	}
	return rate
}

// rate returns the rate for a fill. With double hashing it counts the groups of a whole shard that coincide, not of a
// sample.
func (p problem) rate(k int, fill float64) float64 {
	g := geometry{shards: 1, bits: uint64(max(1, p.per*p.inShard)), choices: p.choices, k: k, hashing: p.hashing}
	return g.rate(fill, p.inShard)
}
