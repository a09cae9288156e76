package bloomery

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
)

// oneBuild makes a Set of one filter.
type oneBuild struct {
	in     *intake.Intake
	config Config
	family families.Family // zero until the planner has chosen
	spec   filter.Spec
	target intake.Target                           // makes the filter; nil until the number of keys is known
	finish func(ctx context.Context) (*Set, error) // makes the Set of all keys

	planned float64      // the rate to store, for an Optimizer or with Config.Like.Set
	trim    bool         // the Set is in the trimmed form, like Config.Like.Set
	losses  *bulk.Losses // lost keys with Config.Like.Set and in an Optimizer, else nil
	part    bool         // whether this builds a shard: losses belong to the whole set
	most    float64      // the highest rate of the filter; see Config.mostFPR
}

// newOneBuild returns the build of a Config without Dir.
func newOneBuild(ctx context.Context, c Config) (b *oneBuild, err error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if b, err = c.memberBuild(ctx); err != nil {
		return nil, err
	}
	if c.Allow != nil {
		b.in.Keep(b.config.Building.Memory, b.config.Building.TempDir)
	}
	return b, nil
}

func (b *oneBuild) specOf() filter.Spec { return b.spec }

// memberBuild is newOneBuild without Allow.
func (c Config) memberBuild(ctx context.Context) (*oneBuild, error) {
	if c.Like.Set != nil {
		return c.likeBuild()
	}

	b := &oneBuild{config: c, most: c.mostFPR()}
	b.finish = b.finishOne
	if err := c.checkForecast(c.Keys); err != nil {
		return nil, err
	}
	if c.open() && c.Keys == 0 {
		if c.Needs.ValueBits == 0 {
			// The keys stay in the spool while the family gathers them, so both need a share of the memory.
			most := intake.BuildMemory(c.Building.Memory, c.Needs.Memory)
			memory := max(most/16, min(most, 1<<20))
			h, err := families.OwnHasher(families.Hashing(c.Hashing))
			b.in = intake.Counted(h, memory, c.Building.TempDir, intake.NoValues(filter.Spec{}))
			return b, err
		}
	}

	var err error
	if b.config, err = c.resolve(ctx); err != nil {
		return nil, err
	}

	var h filter.Hasher
	if b.family, b.spec, h, err = b.config.resolved(); err != nil {
		return nil, err
	}
	if b.target, err = b.newTarget(c.Keys, false); err != nil {
		return nil, err
	}
	if b.target == nil {
		b.in = intake.Counted(h, b.config.Building.Memory, c.Building.TempDir, intake.NoValues(b.spec))
	} else {
		b.in = intake.New(h, b.target)
	}
	return b, nil
}

// likeBuild is memberBuild for a Config with Like.
func (c Config) likeBuild() (*oneBuild, error) {
	if err := c.checkLike(); err != nil {
		return nil, err
	}

	old, err := c.Like.Set.engine.(*one.Set).Single() // checkLike has refused sharded Sets
	if err != nil {
		return nil, err
	}

	facts := old.Facts()
	b := &oneBuild{config: c, planned: *facts.Planned, most: c.Limits.FPR}
	b.finish = b.finishOne
	b.spec = family.Without(old.Spec(), "trimmed")
	if b.family, err = families.ByName(b.spec.Family()); err != nil {
		return nil, err
	}
	b.trim = !c.Concurrent && (facts.Stored.Trimmed || b.spec != old.Spec())
	if b.target, err = b.likeTarget(old); err != nil {
		return nil, err
	}
	b.in = intake.New(old.Hasher(), b.target)
	return b, b.guard(c.Like.Set)
}

// likeTarget returns the Target of a filter with the geometry of the filter of old.
func (b *oneBuild) likeTarget(old *one.Set) (intake.Target, error) {
	if b.family.Can.Has(family.CanRawKeys) {
		return b.texts(), nil
	}

	f, err := old.Model(b.family.Can.Has(family.CanSearch)) // Build reads it, perhaps when its file has changed
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
func (b *oneBuild) noRoom(err error) error {
	if b.config.Like.Set == nil || !errors.Is(err, filter.ErrFull) {
		return err
	}
	return fmt.Errorf("%d keys have no room in a filter like the given one, which has %d; build a new one with more "+
		"room (capacity=, growth=): %w", b.in.Len(), b.config.Like.Set.Len(), err)
}

// newTarget returns the Target of a filter for the given number of keys. If keys is 0 and counted is false, the number
// is unknown; the Target is then nil if the family, or this form of it, needs the number.
func (b *oneBuild) newTarget(keys uint64, counted bool) (intake.Target, error) {
	unknown := keys == 0 && !counted
	switch {
	case b.family.Can.Has(family.CanRawKeys):
		return b.texts(), nil
	case unknown && !b.family.Can.Has(family.CanCountItself):
		return intake.Folding(b.family, b.spec, b.config.Capacity, b.config.Limits.Bytes, b.config.Allow != nil, b.options())
	}
	if err := intake.CheckSize(b.family, b.spec, keys, b.config.Limits.Bytes); err != nil {
		return nil, err
	}

	inner, err := b.family.NewBuilder(b.spec, keys)
	if err != nil || unknown && !intake.Gathers(inner) {
		return nil, err
	}
	return b.targetOf(inner), nil
}

// targetOf returns the Target of a builder of the family.
func (b *oneBuild) targetOf(inner family.Builder) intake.Target {
	return intake.Family(inner, b.family, b.spec, b.options())
}

// texts returns the Target of a family that takes raw keys.
func (b *oneBuild) texts() intake.Target {
	return intake.NewTexts(func(keys uint64) (family.Filter, error) {
		if err := intake.CheckSize(b.family, b.spec, keys, b.config.Limits.Bytes); err != nil {
			return nil, err
		}
		return b.family.New(b.spec, keys)
	}, b.spec, b.config.Keys, b.options())
}

func (b *oneBuild) options() family.BuildOptions {
	c := &b.config.Building
	return family.BuildOptions{Memory: c.Memory, Dir: c.TempDir, Workers: c.Workers, Progress: c.Progress}
}

// build returns the Set of the keys in the Intake.
func (b *oneBuild) build(ctx context.Context) (*Set, error) {
	set, err := b.finish(ctx)
	if err != nil {
		return nil, err
	}

	if n := b.config.Capacity; n > 0 && set.Len() > n { // only then are the distinct keys counted
		err = bulk.CheckCapacity(set.Len(), bulk.DistinctKeys(set.inner()), n)
	}
	err = cmp.Or(err, set.checkFPR(b.most), b.losses.Compare(set.inner()))
	if err == nil && !b.part {
		err = b.losses.Check(bulk.DistinctLen(set.inner()))
	}
	return set, err
}

// guard makes Build compare the new Set with an older one.
func (b *oneBuild) guard(old *Set) (err error) {
	if b.losses, err = bulk.NewLosses(old.inner(), b.config.Like.Shrink); err == nil && b.losses.Samples() {
		b.in.Watch(b.losses.Add)
	}
	return err
}

// finishOne makes the Set of a Builder of one filter.
func (b *oneBuild) finishOne(ctx context.Context) (*Set, error) {
	f, err := b.filter(ctx)
	if err != nil {
		return nil, b.noRoom(err)
	}

	set, err := newSet(f, b.in.Hasher(), b.config.Concurrent)
	if err != nil {
		return nil, err
	}

	rate := b.planned
	if b.config.Like.Set == nil && b.family.Name != "" { // with Like, the rate of the older Set is kept
		rate = cmp.Or(b.config.FPR, engine.PlannedFPR(set.inner(), b.family, b.spec, b.in.Len()))
	}

	set.choose(rate)
	if b.trim {
		if set, err = set.Trimmed(); err != nil {
			return nil, err
		}
	}
	if b.config.Allow != nil {
		if err := b.allow(ctx, set); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// filter returns the filter of all keys.
func (b *oneBuild) filter(ctx context.Context) (family.Filter, error) {
	c := &b.config
	if err := b.in.Check(c.Keys, c.Like.Set != nil && b.family.BuildValueBits(b.spec) > 0); err != nil {
		return nil, err
	}
	if b.in.Counting() {
		if err := b.startCounted(ctx); err != nil {
			return nil, err
		}
	}
	if b.family.Can.Has(family.CanCountItself) && c.Like.Set == nil { // it may know the number of keys only now
		if err := intake.CheckSize(b.family, b.spec, b.in.Len(), c.Limits.Bytes); err != nil {
			return nil, err
		}
	}

	f, err := b.target.Build(ctx)
	if err == nil {
		err = intake.CheckBuilt(f, c.Limits.Bytes)
	}
	return f, err
}

// startCounted makes the Target for the counted keys and passes them on.
func (b *oneBuild) startCounted(ctx context.Context) (err error) {
	if b.config.Keys = b.in.Len(); b.config.open() {
		if b.config, err = b.config.resolve(ctx); err != nil {
			return err
		}
		if b.family, b.spec, _, err = b.config.resolved(); err != nil {
			return err
		}
	} else if err := b.config.checkForecast(b.config.Keys); err != nil {
		return err
	}
	if b.target, err = b.newTarget(b.config.Keys, true); err != nil {
		return err
	}
	return b.in.Start(ctx, b.target)
}

// allow applies Config.Allow to a set that was built from the kept keys.
func (b *oneBuild) allow(ctx context.Context, set *Set) error {
	a, err := set.allower(b.config.Like.Set)
	if err != nil {
		return err
	}
	if err := intake.Copies(ctx, b.config.Allow, a.AllowMany); err != nil {
		return err
	}
	if err := b.in.Members(ctx, a.addMemberHashes); err != nil {
		return err
	}
	return a.Commit(ctx)
}
