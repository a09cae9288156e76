package partitioned

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// Trace searches as a Builder does and returns f^k after every pass, f the fill. It takes keys of one shard, some 50,000 at
// most, and an Effort that names a number of passes. For plots.
func Trace(ctx context.Context, c Config, hs []filter.Hash) ([]float64, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	passes := anneal.Passes(c.Effort)
	g, err := c.geometry(ctx, uint64(len(hs)))
	if err != nil {
		return nil, err
	}
	if g.shards != 1 || passes == 0 {
		return nil, fmt.Errorf("partitioned: Trace wants keys of one shard and a number of passes: %w", filter.ErrConfig)
	}
	keys := slices.Clone(hs)
	slices.SortFunc(keys, func(x, y filter.Hash) int { return cmp.Or(cmp.Compare(x.Hi, y.Hi), cmp.Compare(x.Lo, y.Lo)) })
	var s anneal.State
	layOut(&s, g, 0, slices.Compact(keys))
	part := anneal.NewPart(passes)
	var rates []float64
	part.Each = func(s *anneal.State) { rates = append(rates, s.Rate()) }
	searchShard(&s, part, 0, nil)
	return rates, ctx.Err()
}
