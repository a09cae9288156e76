package blockpartitioned

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// Limits of the size. Below minBitsPerKey a block has no room for shifts; above maxBitsPerKey other families are
// better.
const (
	minBitsPerKey = 2
	maxBitsPerKey = 40
)

// Limits of the keys of a build, and of the later keys for each of them.
const (
	maxKeys  = 1 << 44
	maxLater = 1000
)

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
			Reason: fmt.Sprintf("more than %d times the %d keys of the build; take family blocked", maxLater, n)}
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
	blocks := total / c.Block // rounded down: a size in bytes is a limit
	if size.BitsPerKey != 0 {
		blocks = (total + c.Block - 1) / c.Block
	}
	if blocks = max(blocks, 1); blocks >= maxBlocks {
		return geometry{}, fmt.Errorf("%d blocks: %w", blocks, filter.ErrTooLarge)
	}
	if size.Bytes != 0 && float64(blocks*c.Block) < minBitsPerKey*(float64(n)+float64(c.Later)) {
		return geometry{}, &filter.ConfigError{Field: "bytes", Value: size.Bytes,
			Reason: fmt.Sprintf("too few for %d keys; give at least %d", n+c.Later, (n+c.Later)/8*minBitsPerKey+c.Block/8)}
	}
	t, err := tune(ctx, c.problem(n, float64(blocks)))
	return geometry{t.shape, blocks}, err
}

// geometryForRate returns a geometry whose forecast keeps the rate, with at most 1% of the blocks to spare.
func (c Config) geometryForRate(ctx context.Context, n uint64) (geometry, error) {
	blocksFor := func(per float64) float64 { return per * (float64(n) + float64(c.Later)) / float64(c.Block) }
	per, nearest, err := anneal.LeastBits(c.Size.FPR, minBitsPerKey, maxBitsPerKey, func(per float64) (float64, error) {
		t, err := tune(ctx, c.problem(n, blocksFor(per)))
		return t.rate, err
	})
	if err != nil {
		return geometry{}, err
	}
	if math.IsInf(per, 1) {
		return geometry{}, &filter.ConfigError{Field: "fpr", Value: c.Size.FPR,
			Reason: fmt.Sprintf("blocks of %d bits have a rate of %.2g at least; take family partitioned or fuse",
				c.Block, nearest)}
	}
	blocks := math.Ceil(blocksFor(per))
	if !(blocks < maxBlocks) {
		return geometry{}, fmt.Errorf("%g blocks: %w", blocks, filter.ErrTooLarge)
	}
	t, err := tune(ctx, c.problem(n, blocksFor(per)))
	return geometry{t.shape, uint64(blocks)}, err
}

// Forecast returns the size in bits of the filter for n distinct keys, and its predicted rate after the search and
// Later more keys: the rate of a sample of random blocks of the same shape. It takes up to a second. Errors wrap
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
	t, err := tune(ctx, c.problem(max(n, 1), float64(g.blocks)))
	return g.blocks * g.block, t.rate, err
}

// maxTunePasses bounds the passes that a shape is chosen for and forecast with. The rate of a longer search is lower
// than its forecast, by less than 10%.
const maxTunePasses = 150

func (c Config) tunePasses() int {
	if p := anneal.Passes(c.Effort); p != 0 {
		return min(p, maxTunePasses)
	}
	return maxTunePasses
}

// forecast is a shape and the rate of a sample with it.
type forecast struct {
	shape
	rate float64
}

// forecasts caches the results of tune.
var forecasts sync.Map

// problem is what a shape is chosen for.
type problem struct {
	block  uint64
	load   float64 // keys per block, on average
	later  float64 // keys that come after the search, for each key before it
	passes int
}

func (c Config) problem(n uint64, blocks float64) problem {
	return problem{block: c.Block, load: float64(n) / blocks, later: float64(c.Later) / float64(n), passes: c.tunePasses()}
}

// tune looks for the shape with the lowest rate. It tries all plausible numbers of slots and of payload words, each
// with as many groups as the rest of the block has room for, on a few random blocks, and the best of them on more.
func tune(ctx context.Context, p problem) (forecast, error) {
	if known, ok := forecasts.Load(p); ok {
		return known.(forecast), nil
	}
	block, passes := p.block, p.passes
	per := min(maxBitsPerKey, float64(block)/(p.load*(1+p.later))) // bits a key that are of use
	var tried []forecast
	for k := max(1, int(0.4*per)); k <= min(maxK, int(1.1*per)+2); k++ {
		for width := 3; width <= maxWidth; width++ {
			for words := block / 32 / 2; words < block/32; words++ {
				s := shape{block: block, groups: (block - 32*words) / uint64(k*width), k: k, width: width}
				if s.groups >= 1 && s.payload() == 32*words && s.valid() {
					tried = append(tried, forecast{shape: s})
				}
			}
		}
	}
	rounds := []struct{ keep, blocks, passes int }{
		{len(tried), 16, min(passes, 12)}, {16, 60, min(passes, 30)}, {4, 300, passes},
	}
	for _, round := range rounds {
		tried = tried[:min(round.keep, len(tried))]
		for i := range tried {
			if err := ctx.Err(); err != nil {
				return forecast{}, err
			}
			tried[i].rate = simulate(tried[i].shape, problem{block, p.load, p.later, round.passes}, round.blocks)
		}
		slices.SortStableFunc(tried, func(a, b forecast) int { return cmp.Compare(a.rate, b.rate) })
	}
	forecasts.Store(p, tried[0])
	return tried[0], nil
}

// simulate returns the mean rate of some blocks of random keys. Block b has as many keys as the quantile (b + 1/2) /
// blocks of the Poisson distribution, which scatters less than random numbers of keys.
func simulate(s shape, q problem, blocks int) float64 {
	r := rand.New(rand.NewPCG(1, 0x626c6f636b))
	f := newFilter(geometry{s, uint64(blocks)}, make([]uint64, uint64(blocks)*s.block/64), 0)
	search := searcher{f: f, sizes: make([]uint32, s.groups)}
	part := anneal.NewPart(q.passes)
	p := math.Exp(-q.load) // the probability of n keys; below is that of at most n
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
	return f.after(q.later * q.load * float64(blocks))
}
