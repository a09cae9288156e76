package twochoice

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family"
)

// Limits of the size. Above maxBitsPerKey other families are better, and MaxK is too small.
const (
	minBitsPerKey = 1
	maxBitsPerKey = 64
	maxKeys       = 1 << 48
)

// leastWindows is the smallest size in windows, unless the size is a limit. In a smaller filter most keys share most
// bits of their windows, and its rate is higher than its share of set bits shows.
const leastWindows = 4

// maxShardKeys is the largest number of keys of a shard if Sharding.Shards is set. It bounds the memory of a search,
// which keeps all positions of a shard.
const maxShardKeys = 1 << 22

// shards returns the number of shards for n keys.
func (c Config) shards(n uint64) uint64 {
	if c.Shards != 0 {
		return c.Shards
	}
	return max(1, (n+shardKeys-1)/shardKeys)
}

// shardKeys is the largest average number of keys of a shard. The counts of such a shard fit the cache of a core, and
// most filters have enough shards for all cores. Random differences between the numbers of keys of shards raise the
// rate at 16 bits per key by about 0.2%.
const shardKeys = 1 << 14

// geometry returns the geometry that suits the Config for n distinct keys.
func (c Config) geometry(n uint64) (geometry, error) {
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

	rated := c.Size.FPR != 0
	if rated {
		p := c.problem(n)
		per, nearest := anneal.LeastBits(c.Size.FPR, minBitsPerKey, maxBitsPerKey, func(per float64) float64 {
			f := p.bestForecast(per)
			if p.online { // nothing is built that could miss the rate
				return f.rate
			}
			return f.rate * anneal.Margin(f.luck, f.k)
		})
		if math.IsInf(per, 1) {
			return geometry{}, family.Invalid("fpr", c.Size.FPR,
				"the lowest rate with %d bits per key is %.2g; take family standard", maxBitsPerKey, nearest)
		}
		c.Size = family.Sizing{BitsPerKey: per}
	}

	total, err := c.Size.Bits(n)
	if err != nil {
		return geometry{}, err
	}

	if total < minBitsPerKey*n {
		return geometry{}, family.Invalid("bytes", c.Size.Bytes,
			"too few for %d keys; give at least %d", n, n/8*minBitsPerKey+1)
	}

	if c.Size.BitsPerKey != 0 {
		total = max(total, uint64(leastWindows*c.choices()))
	}

	shards := max(c.shards(n), (total+maxShard-1)/maxShard)
	if n/shards > maxShardKeys {
		return geometry{}, family.Invalid("shards", c.Shards,
			"too few for %d keys; want at least %d", n, n/maxShardKeys+1)
	}

	k := c.problem(n).bestForecast(float64(total) / float64(n)).k
	g := geometry{shards: shards, bits: total / shards, choices: c.choices(), k: k}
	if c.Size.BitsPerKey != 0 { // a size in bytes is a limit
		g.bits = (total + shards - 1) / shards
	}
	if shards > 1 { // whole words, which the kernel needs; the size may be a limit, unless it follows from a rate
		if rated {
			g.bits += 63
		}
		g.bits = g.bits / 64 * 64
	}

	if !g.isValid() {
		return geometry{}, fmt.Errorf("%v: %w", g, filter.ErrTooLarge)
	}
	return g, nil
}

// Forecast returns the size in bits of the filter for n distinct keys, and its predicted rate after the search. With
// Effort.Passes = 1 it predicts a filter of New. Errors wrap filter.ErrConfig or filter.ErrTooLarge.
func (c Config) Forecast(n uint64) (bits uint64, rate float64, err error) {
	if err := c.Check(); err != nil {
		return 0, 0, err
	}
	g, err := c.geometry(n)
	if err != nil {
		return 0, 0, err
	}
	c.Choices = g.choices
	return g.shards * g.bits, c.problem(n).forecastOf(g.k, float64(g.shards*g.bits)/float64(max(n, 1))).rate, nil
}
