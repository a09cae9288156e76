package bloomery

import (
	"context"
	"errors"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/intake"
)

// Optimizer continues the search of a partitioned, blockpartitioned or twochoice filter, for the same keys or others.
// Add all keys to it: the new Set contains only these. It has the geometry, hash function and planned rate of the old
// one.
type Optimizer struct{ b *Builder }

// Optimizer returns an Optimizer whose search starts from s. The error wraps errors.ErrUnsupported if the family has no
// search. s must not change until Commit has returned. For a sharded Set, Commit builds one shard after the other; the
// new Set is in memory.
func (s *Set) Optimizer(c JobConfig) (*Optimizer, error) {
	if _, err := c.options("an Optimizer"); err != nil {
		return nil, err
	}

	b, err := s.optimizer(c.Effort, Config{Building: c.Building, Limits: c.Limits, Like: c.Like})
	if err != nil {
		return nil, err
	}
	return &Optimizer{&Builder{in: b.in, set: b}}, nil
}

// AddMany adds keys. Batches of a few thousand keys are fastest.
func (o *Optimizer) AddMany(keys [][]byte) error { return o.b.AddMany(keys) }

// Commit searches and returns the new Set. For errors, ctx and filter.ErrEnough see [Builder.Build], with
// JobConfig.Limits.FPR and JobConfig.Like.Shrink as limits.
func (o *Optimizer) Commit(ctx context.Context) (*Set, error) { return o.b.Build(ctx) }

// Close drops the keys and removes their temporary file.
func (o *Optimizer) Close() error { return o.b.Close() }

// optimizer returns the build of an Optimizer.
func (s *Set) optimizer(e filter.Effort, c Config) (*oneBuild, error) {
	b := &oneBuild{config: c, planned: s.planned(), most: c.Limits.FPR}
	if s.inner().Parts() != nil {
		if err := errors.Join(engine.Can(s.inner(), family.CanSearch), c.checkFields()); err != nil {
			return nil, err
		}
		if bytes := s.Info().Bits / 8; c.Limits.Bytes > 0 { // the new Set has the same size
			if err := intake.CheckBytes(s.Spec(), bytes, c.Limits.Bytes); err != nil {
				return nil, err
			}
		}
		spill := bulk.Options{Memory: c.Building.Memory, TempDir: c.Building.TempDir}.NewSpill(s.inner())
		b.in = intake.New(s.Hasher(), intake.To(spill.Add, spill.Close, intake.NoValues(filter.Spec{})))
		b.finish = func(ctx context.Context) (*Set, error) { return b.optimizeShards(ctx, s, e, spill.ByShard) }
	} else {
		old, ok := s.inner().Facts().Filter.(family.Reoptimizer)
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
		b.finish, b.in = b.finishOne, intake.New(s.Hasher(), b.target)
	}
	if err := b.guard(s); err != nil {
		return nil, err
	}
	return b, nil
}

// optimizeShards rebuilds the filter of each shard of old from the hashes of the shard, and returns a Set of them in
// memory.
func (b *oneBuild) optimizeShards(ctx context.Context, old *Set, e filter.Effort, keys *hashes.ByShard) (*Set, error) {
	parts, n := old.inner().Parts(), float64(old.inner().Facts().Stored.Shards)
	return made(parts.Rebuild(func(i int, part engine.Engine) (engine.Engine, error) {
		config := b.config
		config.Limits = Limits{} // they are for the whole set
		if report := b.config.Building.Progress; report != nil {
			config.Building.Progress = func(p filter.Progress) {
				p.Done, p.Left = (float64(i)+p.Done)/n, 0
				report(p)
			}
		}
		one, err := setOf(part).optimizer(e, config)
		if err != nil {
			return nil, err
		}
		one.part = true
		err = keys.Each(ctx, i, one.in.AddHashes)
		var better *Set
		if err == nil {
			better, err = built(ctx, one.in, one)
		}
		if err == nil {
			b.losses.AddShard(one.losses, better.engine)
		}
		if err = errors.Join(err, one.in.Close(nil)); err != nil {
			return nil, parts.Fail(i, err)
		}
		return better.engine, nil
	}))
}
