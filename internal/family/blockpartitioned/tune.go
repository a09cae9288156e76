package blockpartitioned

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family"
)

// Limits of the size. Below minBitsPerKey a block has no room for shifts; above maxBitsPerKey other families are
// better.
const (
	minBitsPerKey = 2
	maxBitsPerKey = 40
)

// Limits of the number of keys of a build, and of the number of later keys per key of the build.
const (
	maxKeys  = 1 << 44
	maxLater = 1000
)

// geometry returns the geometry that suits the Config for n distinct keys.
func (c Config) geometry(n uint64) (geometry, error) {
	n = max(n, 1)
	switch {
	case c.From != nil:
		return c.From.geometry, nil
	case n > maxKeys:
		return geometry{}, fmt.Errorf("%d keys: %w", n, filter.ErrTooLarge)
	case c.Later > maxLater*n:
		return geometry{}, family.Invalid("later", c.Later,
			"more than %d times the %d keys of the build; take family blocked", maxLater, n)
	case c.Size.FPR != 0:
		return c.geometryForRate(n)
	}

	size := c.Size
	if size.IsZero() {
		size.BitsPerKey = defaultBitsPerKey
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
		return geometry{}, family.Invalid("bytes", size.Bytes,
			"too few for %d keys; give at least %d", n+c.Later, (n+c.Later)/8*minBitsPerKey+c.Block/8)
	}
	return c.bestGeometry(c.problem(n, float64(blocks)), blocks)
}

// geometryForRate returns the smallest geometry whose forecast keeps the rate, with a margin because the rate of a
// filter varies with its keys.
func (c Config) geometryForRate(n uint64) (geometry, error) {
	all := float64(n) + float64(c.Later)
	at := func(per float64) problem { return c.problem(n, per*all/float64(c.Block)) }
	// Start with the best geometries of a guessed size, then try the best geometries of the size that these need, until
	// the size changes by less than 3%.
	per := min(maxBitsPerKey, max(minBitsPerKey, -math.Log2(c.Size.FPR)/0.85))
	for range 4 {
		was, nearest := per, 0.0
		geometries := at(per).bestGeometries()
		if len(geometries) == 0 {
			return geometry{}, c.noShape()
		}
		per, nearest = anneal.LeastBits(c.Size.FPR, minBitsPerKey, maxBitsPerKey, func(per float64) float64 {
			p := at(per)
			f := p.forecastOf(geometries[0])
			for _, s := range geometries[1:] {
				if g := p.forecastOf(s); g.rate < f.rate {
					f = g
				}
			}
			return f.rate * anneal.Margin(f.luck, f.k)
		})
		if math.IsInf(per, 1) && was < maxBitsPerKey {
			per = maxBitsPerKey // the geometries of a smaller size may be why the rate is out of reach
			continue
		}
		if math.IsInf(per, 1) {
			return geometry{}, family.Invalid("fpr", c.Size.FPR,
				"blocks of %d bits have a rate of %.2g at least; take family partitioned or fuse", c.Block, nearest)
		}
		if math.Abs(per/was-1) < 0.03 {
			break
		}
	}

	blocks := math.Ceil(per * all / float64(c.Block))
	if !(blocks < maxBlocks) {
		return geometry{}, fmt.Errorf("%g blocks: %w", blocks, filter.ErrTooLarge)
	}
	return c.bestGeometry(at(per), uint64(blocks))
}

// bestGeometry returns the geometry with the best block geometry for a problem.
func (c Config) bestGeometry(p problem, blocks uint64) (geometry, error) {
	geometries := p.bestGeometries()
	if len(geometries) == 0 {
		return geometry{}, c.noShape()
	}
	return geometry{geometries[0], blocks}, nil
}

// noShape returns the error for a K whose shifts fit no block.
func (c Config) noShape() error {
	return family.Invalid("k", c.K,
		"blocks of this size have no room for the shifts of so many; give fewer, or more bits")
}

// Forecast returns the size in bits of the filter for n distinct keys, and its predicted rate after the search and
// Later more keys. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Forecast(n uint64) (bits uint64, rate float64, err error) {
	if err := c.Check(); err != nil {
		return 0, 0, err
	}
	g, err := c.geometry(n)
	if err != nil {
		return 0, 0, err
	}
	return g.blocks * g.block, c.problem(max(n, 1), float64(g.blocks)).forecastOf(g.blockGeometry).rate, nil
}

// maxPasses bounds the number of passes in the choice and the forecast of a block geometry. The rate of a longer search
// is lower than its forecast, by less than 10%.
const maxPasses = 150

func (c Config) tunePasses() int {
	if p := anneal.Passes(c.Effort); p != 0 {
		return min(p, maxPasses)
	}
	return maxPasses
}
