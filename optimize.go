package bloomery

import (
	"context"
	"errors"
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/run"
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
	if err := intake.Feed(ctx, b.in, keys); err != nil {
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

// Optimizer returns a Builder of a Set with the geometry of s, whose search starts from s and has effort e. Add all
// keys to it: the new Set contains no others, and has the chosen rate of s. Of c it uses Workers, Memory, TempDir,
// Progress, MaxFPR and Shrink. If the family has no search, the error wraps errors.ErrUnsupported. s must not change
// until Build has returned.
//
// For a sharded Set the Builder keeps the hashes of all keys, beyond Memory, by default 64 MiB, in a temporary file,
// and builds one shard after the other. The new Set is in memory.
func (s *Set) Optimizer(e filter.Effort, c Config) (*Builder, error) {
	c.Keys = 0
	b := &Builder{config: c, chosen: s.FPRChosen()}
	if s.inner().Parts() != nil {
		if err := errors.Join(engine.Can(s.inner(), family.CanSearch), c.checkFields()); err != nil {
			return nil, err
		}
		spill := c.bulk().NewSpill(s.inner())
		b.in = intake.New(s.hasher, intake.To(spill.Add, spill.Close, intake.NoValues(filter.Spec{})))
		b.finish = func(ctx context.Context) (*Set, error) { return b.optimizeShards(ctx, s, e, spill) }
	} else {
		old, ok := s.Filter().(family.Reoptimizer)
		if !ok {
			return nil, s.inner().Lacks(family.CanSearch)
		}
		inner, err := old.Reoptimize(e)
		if err != nil {
			return nil, err
		}
		if err := c.checkFields(); err != nil {
			return nil, err
		}
		b.target = b.targetOf(inner)
		b.finish, b.in = b.finishOne, intake.New(s.hasher, b.target)
	}
	if err := b.guard(s); err != nil {
		return nil, err
	}
	return b, nil
}

// optimizeShards builds the filter of each shard of old again, from hashes by shard, and returns a Set of them, in
// memory.
func (b *Builder) optimizeShards(ctx context.Context, old *Set, e filter.Effort, keys *run.Spill) (*Set, error) {
	parts, n := old.inner().Parts(), float64(old.Stored().Shards)
	set, err := made(parts.Rebuild(func(i int, part engine.Engine) (engine.Engine, error) {
		config := b.config
		config.MaxFPR = 0
		if report := b.config.Progress; report != nil {
			config.Progress = func(p filter.Progress) {
				p.Done, p.Left = (float64(i)+p.Done)/n, 0
				report(p)
			}
		}
		one, err := setOf(part).Optimizer(e, config)
		if err != nil {
			return nil, err
		}
		one.part = true
		err = keys.Each(ctx, i, one.AddHashes)
		var better *Set
		if err == nil {
			better, err = one.Build(ctx)
		}
		if err == nil {
			b.losses.AddShard(one.losses, better.engine)
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
