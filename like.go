package bloomery

import (
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/intake"
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
	b := &Builder{config: c, chosen: old.Chosen()}
	b.finish = b.finishOne
	b.spec = old.Spec().Without("trimmed")
	if b.family, err = families.ByName(b.spec.Family()); err != nil {
		return nil, err
	}
	if err := c.checkBuilt(old.Filter()); err != nil {
		return nil, err
	}
	b.trim = !c.Concurrent && (old.Stored().Trimmed || !b.spec.Equal(old.Spec()))
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
