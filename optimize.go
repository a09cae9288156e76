package bloomery

import (
	"context"
	"errors"
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
)

// Optimize continues the search of a partitioned, blockpartitioned or twochoice filter for keys that have changed, with
// the default effort; see Optimizer for others. keys must yield all keys: the set contains no others afterwards. On
// error s is unchanged. The error wraps errors.ErrUnsupported if the family has no search.
func (s *Set) Optimize(ctx context.Context, keys iter.Seq[[]byte]) error {
	b, err := s.Optimizer(filter.Effort{}, Config{})
	if err != nil {
		return err
	}
	defer b.Close()
	if err := feed(ctx, b, keys); err != nil {
		return err
	}
	better, err := b.Build(ctx)
	if err != nil {
		return err
	}
	err = s.engine.Take(better.engine)
	s.follow()
	return err
}

// optimizeShards builds the filter of each shard again, from the hashes that a Builder has kept, and returns a Set of
// them, in memory.
func (b *Builder) optimizeShards(ctx context.Context) (*Set, error) {
	parts, n := b.old.inner().Parts(), float64(b.old.Stored().Shards)
	set, err := made(parts.Rebuild(func(i int, part engine.Engine) (engine.Engine, error) {
		config := b.config
		config.MaxFPR = 0
		if report := b.config.Progress; report != nil {
			config.Progress = func(p filter.Progress) {
				p.Done, p.Left = (float64(i)+p.Done)/n, 0
				report(p)
			}
		}
		one, err := setOf(part).Optimizer(b.effort, config)
		if err != nil {
			return nil, err
		}
		one.part = true
		err = b.shards.Each(ctx, i, one.AddHashes)
		var better *Set
		if err == nil {
			better, err = one.Build(ctx)
		}
		if err == nil {
			b.losses.addShard(one.losses, better)
		}
		if err = errors.Join(err, one.Close()); err != nil {
			return nil, parts.Fail(i, err)
		}
		return better.engine, nil
	}))
	if err != nil {
		return nil, err
	}
	return set, set.CheckFPR(b.config.MaxFPR)
}
