package bloomery

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/shrink"
	"github.com/bloomery/bloomery/plan"
)

// checkLike returns an error if Like cannot be followed or another field contradicts it.
func (c Config) checkLike() error {
	old := c.Like
	if old.isEmpty() {
		return &filter.ConfigError{Field: "like", Value: "an empty Set", Reason: "want one that was built or read"}
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"spec", c.Spec != ""}, {"needs", c.Needs != (plan.Needs{})}, {"capacity", c.Capacity != 0},
		{"fpr_chosen", c.FPRChosen != 0}, {"seed", c.Seed != 0}, {"secret", c.Secret != nil}, {"hash", c.Hash != 0},
		{"shards", c.Shards != 0 && c.Shards != old.Stored().Shards},
	} {
		if f.set {
			return &filter.ConfigError{Field: f.name, Value: "a value",
				Reason: "with like, size, hash function, chosen rate and shards are those of that set; leave it out"}
		}
	}
	_, err := shrink.Allowed(c.Shrink, shrink.List)
	return errors.Join(c.checkFields(), err)
}

// checkShrink returns an error if Shrink is set without Like.
func (c Config) checkShrink() error {
	if c.Shrink != 0 && c.Like == nil {
		return &filter.ConfigError{Field: "shrink", Value: c.Shrink, Reason: "it is for like; leave it out"}
	}
	return nil
}

// likeBuilder returns the Builder of a Config with Like.
func (c Config) likeBuilder() (*Builder, error) {
	if err := c.checkLike(); err != nil {
		return nil, err
	}
	like, ok := c.Like.engine.(*one.Set)
	if !ok {
		return nil, fmt.Errorf("like a sharded Set: take a ShardBuilder: %w", filter.ErrUnsupported)
	}
	old, err := like.Single()
	if err != nil {
		return nil, err
	}
	facts := old.Facts()
	b := &Builder{config: c, chosen: *facts.Chosen}
	b.finish = b.finishOne
	b.spec = old.Spec().Without("trimmed")
	if b.family, err = families.ByName(b.spec.Family()); err != nil {
		return nil, err
	}
	if err := c.checkBuilt(facts.Filter); err != nil {
		return nil, err
	}
	b.trim = !c.Concurrent && (facts.Stored.Trimmed || !b.spec.Equal(old.Spec()))
	if b.target, err = b.likeTarget(old); err != nil {
		return nil, err
	}
	b.in = intake.New(old.Hasher(), b.target)
	return b, b.guard(c.Like)
}

// likeTarget returns the Target of a filter like that of old.
func (b *Builder) likeTarget(old *one.Set) (intake.Target, error) {
	if b.family.Can.Has(filter.CanRawKeys) {
		return b.texts(), nil
	}
	f, err := old.Model(b.family.Can.Has(filter.CanSearch)) // Build reads it, perhaps when its file has changed
	if err != nil {
		return nil, err
	}
	inner, err := b.family.NewBuilderLike(f)
	if err != nil {
		return nil, err
	}
	return b.targetOf(inner), nil
}

// noRoom explains why a filter like another one is full.
func (b *Builder) noRoom(err error) error {
	if b.config.Like == nil || !errors.Is(err, filter.ErrFull) {
		return err
	}
	return fmt.Errorf("%d keys have no room in a filter like the given one, which has %d; build a new one with more "+
		"room (capacity=, growth=): %w", b.in.Len(), b.config.Like.Len(), err)
}

// checkLikeShards returns the hasher of a sharded set like another one.
func (c Config) checkLikeShards() (filter.Hasher, error) {
	if err := c.checkLike(); err != nil {
		return filter.Hasher{}, err
	}
	if c.Like.Stored().Shards == 0 {
		return filter.Hasher{}, &filter.ConfigError{Field: "like", Value: "a Set of one filter",
			Reason: "a sharded set follows a sharded one"}
	}
	return c.Like.hasher, nil
}

// likeShards returns the Config of each shard of a set like Like; Like is still that of the set.
func (c Config) likeShards() Config {
	return Config{Like: c.Like, Shrink: c.Shrink, MaxBytes: c.MaxBytes, Workers: c.Workers, Memory: c.Memory,
		TempDir: c.TempDir}
}

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
		if err := errors.Join(engine.Can(s.inner(), filter.CanSearch), c.checkFields()); err != nil {
			return nil, err
		}
		spill := c.bulk().NewSpill(s.inner())
		b.in = intake.New(s.hasher, intake.To(spill.Add, spill.Close, intake.NoValues(filter.Spec{})))
		b.finish = func(ctx context.Context) (*Set, error) { return b.optimizeShards(ctx, s, e, spill) }
	} else {
		old, ok := s.Filter().(filter.Reoptimizer)
		if !ok {
			return nil, s.inner().Lacks(filter.CanSearch)
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
