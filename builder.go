package bloomery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
)

// Builder builds a Set of keys from any number of goroutines. All methods except Build and Close are safe for
// concurrent use, and none of them keeps a key. Every Builder must be closed; after Build, Close does nothing. After
// Build, also a failed one, and Close, all methods that add keys return an error.
//
// A Builder hashes each key when it is added. If it needs the number of keys first, and Config.Keys is 0, it keeps the
// hashes in a spool: in memory up to Config.Memory, then in a temporary file.
type Builder struct {
	adder
	config Config
	family families.Family // zero until the planner has chosen
	spec   filter.Spec
	target intake.Target                           // makes the filter; nil until the number of keys is known
	finish func(ctx context.Context) (*Set, error) // makes the Set of all keys

	chosen float64      // the rate to store, for an Optimizer or with Config.Like
	trim   bool         // the Set is in the trimmed form, as Config.Like is
	losses *bulk.Losses // with Config.Like and of an Optimizer, else nil
	part   bool         // it builds a shard: losses are those of the whole set
}

// adder has the methods that Builder and ShardBuilder share.
type adder struct {
	in *intake.Intake
	mu sync.Mutex // of Build and Close
}

// Add adds a key.
func (a *adder) Add(key []byte) error { return a.in.Add(key) }

// AddString is Add for a string.
func (a *adder) AddString(key string) error { return a.in.AddString(key) }

// AddUint64 is Add for the eight bytes of key, little endian.
func (a *adder) AddUint64(key uint64) error { return a.in.AddUint64(key) }

// AddHash adds a key hashed by Hasher. Families that take raw keys return an error wrapping errors.ErrUnsupported.
func (a *adder) AddHash(h filter.Hash) error { return a.in.AddHash(h) }

// AddMany adds keys. Batches of a few thousand keys are fastest.
func (a *adder) AddMany(keys [][]byte) error { return a.in.AddMany(keys) }

// AddHashes adds keys hashed by Hasher. It does not keep hs. Errors are those of AddHash.
func (a *adder) AddHashes(hs []filter.Hash) error { return a.in.AddHashes(hs) }

// AddManyValues adds keys with their values; values[i] is that of keys[i]. Batches of a few thousand keys are fastest.
// Errors are those of Builder.AddValue, and then none of these keys is added. It panics if keys and values differ in
// length.
//
// A ShardBuilder needs Config.Shards or Config.Keys for it, so that the number of shards is known, and no Config.Allow.
// All keys of the set must then come with values, or Build returns an error wrapping filter.ErrConfig.
func (a *adder) AddManyValues(keys [][]byte, values []uint64) error {
	return a.in.AddManyValues(keys, values)
}

// Hasher returns the hash function of the keys.
func (a *adder) Hasher() filter.Hasher { return a.in.Hasher() }

// Close drops the keys, removes their temporary file and unlocks the folder of a ShardBuilder. No Add may run at the
// same time.
func (a *adder) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.in.Close(intake.ErrSpent)
}

// built returns what build returns, unless the builder was built or closed before, and closes it.
func built[T any](a *adder, build func() (T, error)) (result T, err error) {
	var none T
	a.mu.Lock()
	defer a.mu.Unlock()
	if err = a.in.Flush(); err == nil {
		result, err = build()
	}
	if err := errors.Join(err, a.in.Close(intake.ErrSpent)); err != nil {
		return none, err
	}
	return result, nil
}

// AddValue adds a key with its value, for a Spec with value_bits=, such as ribbon(value_bits=8): Set.Get of the built
// Set returns the value. A key that comes again must have the same value, or Build returns an error wrapping
// filter.ErrValues, which has the hash of the key only. All keys of a ribbon must come with values, and with Like all
// keys if that Set has values. In a rankindexed filter, whose values can change, other keys have the value 0; of keys
// that look alike, Get returns the value of one.
//
// The error wraps errors.ErrUnsupported if the family takes no values at the build, and filter.ErrConfig if the Spec
// has no value_bits or the value has more bits. Then the key is not added.
func (b *Builder) AddValue(key []byte, value uint64) error {
	return b.in.AddValueHash(b.in.Hasher().Sum(key), value)
}

// AddValueString is AddValue for a string.
func (b *Builder) AddValueString(key string, value uint64) error {
	return b.in.AddValueHash(b.in.Hasher().SumString(key), value)
}

// AddValueUint64 is AddValue for the eight bytes of key, little endian.
func (b *Builder) AddValueUint64(key, value uint64) error {
	return b.in.AddValueHash(b.in.Hasher().SumUint64(key), value)
}

// AddValueHashes is AddManyValues for keys hashed by Hasher. It does not keep the slices.
func (b *Builder) AddValueHashes(hs []filter.Hash, values []uint64) error {
	return b.in.AddValueHashes(hs, values)
}

// NewBuilder returns a Builder of a Set. Config errors wrap filter.ErrConfig, filter.ErrSpec, filter.ErrFamily or
// filter.ErrTooLarge. With Needs and Keys, or with Needs.ValueBits, it calls the planner, which takes
// milliseconds. With other Needs and without Keys, Build calls the planner.
func NewBuilder(c Config) (b *Builder, err error) {
	if err := c.checkOne(); err != nil {
		return nil, err
	}
	if b, err = c.memberBuilder(); err != nil {
		return nil, err
	}
	if err := c.checkAllow(b.Hasher()); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if c.Allow != nil {
		b.in.Keep(b.config.Memory, b.config.TempDir)
	}
	return b, nil
}

// memberBuilder is NewBuilder without Allow.
func (c Config) memberBuilder() (*Builder, error) {
	if c.Like != nil {
		return c.likeBuilder()
	}
	b := &Builder{config: c}
	b.finish = b.finishOne
	if c.open() && c.Keys == 0 {
		if c.Needs.ValueBits == 0 {
			// The keys stay in the spool while the family gathers them, so that both need a share.
			memory := max(c.BuildMemory()/16, min(c.BuildMemory(), 1<<20))
			h, err := families.OwnHasher(c.Hash, c.Seed, c.Secret)
			b.in = intake.Counted(h, memory, c.TempDir, intake.NoValues(filter.Spec{}))
			return b, err
		}
		// A filter with values takes them with the keys: it is chosen before their number is known.
		if n := c.Needs; n.Add || n.Later > 0 || n.Bytes > 0 || n.BitsPerKey > 0 {
			return nil, family.Invalid("keys", 0,
				"values with room for later keys, or in a given size, need the number of keys")
		}
	}
	var err error
	if b.config, err = c.Resolve(context.Background()); err != nil {
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
		b.in = intake.Counted(h, b.config.Memory, c.TempDir, intake.NoValues(b.spec))
	} else {
		b.in = intake.New(h, b.target)
	}
	return b, nil
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
	b.spec = family.Without(old.Spec(), "trimmed")
	if b.family, err = families.ByName(b.spec.Family()); err != nil {
		return nil, err
	}
	if err := c.checkBuilt(facts.Filter); err != nil {
		return nil, err
	}
	b.trim = !c.Concurrent && (facts.Stored.Trimmed || b.spec != old.Spec())
	if b.target, err = b.likeTarget(old); err != nil {
		return nil, err
	}
	b.in = intake.New(old.Hasher(), b.target)
	return b, b.guard(c.Like)
}

// likeTarget returns the Target of a filter like that of old.
func (b *Builder) likeTarget(old *one.Set) (intake.Target, error) {
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
func (b *Builder) noRoom(err error) error {
	if b.config.Like == nil || !errors.Is(err, filter.ErrFull) {
		return err
	}
	return fmt.Errorf("%d keys have no room in a filter like the given one, which has %d; build a new one with more "+
		"room (capacity=, growth=): %w", b.in.Len(), b.config.Like.Len(), err)
}

// newTarget returns the Target of a filter of that number of keys. Unless that is counted, 0 means unknown: there is no
// Target then if the family, or this form of it, needs the number.
func (b *Builder) newTarget(keys uint64, counted bool) (intake.Target, error) {
	unknown := keys == 0 && !counted
	switch {
	case b.family.Can.Has(family.CanRawKeys):
		return b.texts(), nil
	case unknown && !b.family.Can.Has(family.CanCountItself):
		return nil, nil
	}
	if err := b.config.checkSize(b.family, b.spec, keys); err != nil {
		return nil, err
	}
	inner, err := b.family.NewBuilder(b.spec, keys)
	if err != nil || unknown && !intake.Gathers(inner) {
		return nil, err
	}
	return b.targetOf(inner), nil
}

// targetOf returns the Target of a builder of the family.
func (b *Builder) targetOf(inner family.Builder) intake.Target {
	return intake.Family(inner, b.family, b.spec, b.options())
}

// texts returns the Target of a family that takes raw keys.
func (b *Builder) texts() intake.Target {
	return intake.NewTexts(func(keys uint64) (family.Filter, error) {
		if err := b.config.checkSize(b.family, b.spec, keys); err != nil {
			return nil, err
		}
		return b.family.New(b.spec, keys)
	}, b.spec, b.config.Keys, b.options())
}

func (b *Builder) options() family.BuildOptions {
	c := &b.config
	return family.BuildOptions{Memory: c.Memory, Dir: c.TempDir, Workers: c.Workers, Progress: c.Progress}
}

// Spec returns the Spec of the Config, or the one that the planner has chosen. It is zero until the planner has chosen.
func (b *Builder) Spec() filter.Spec { return b.spec }

// Build returns the Set of all keys that were added. No Add may run at the same time. When ctx ends, Build returns
// ctx.Err(). If context.WithCancelCause ends it with filter.ErrEnough, the search stops early and Build returns its
// result. The error wraps filter.ErrFull if the filter has no room for all keys or they are more than Config.Capacity,
// filter.ErrKeys if Config.Keys was not their number, and filter.ErrRate if the filter exceeds Config.MaxFPR. The
// Builder cannot be used afterwards.
func (b *Builder) Build(ctx context.Context) (*Set, error) {
	return built(&b.adder, func() (*Set, error) {
		set, err := b.finish(ctx)
		if err == nil {
			err = b.checkLosses(set)
		}
		if err == nil && b.config.Capacity > 0 {
			if n := bulk.Distinct(set.inner(), b.config.Capacity); n > b.config.Capacity {
				err = fmt.Errorf("%d keys for a capacity of %d: %w", n, b.config.Capacity, filter.ErrFull)
			}
		}
		return set, err
	})
}

// guard makes Build compare the new Set with an older one.
func (b *Builder) guard(old *Set) (err error) {
	if b.losses, err = bulk.NewLosses(old.inner(), b.config.Shrink); err == nil && b.losses.Samples() {
		b.in.Watch(b.losses.Add)
	}
	return err
}

// checkLosses returns an error if the Set has lost too much of the older one that it replaces.
func (b *Builder) checkLosses(set *Set) error {
	if err := b.losses.Compare(set.inner()); err != nil || b.part {
		return err
	}
	return b.losses.Check(bulk.DistinctLen(set.inner()))
}

// finishOne makes the Set of a Builder of one filter.
func (b *Builder) finishOne(ctx context.Context) (*Set, error) {
	f, err := b.filter(ctx)
	if err != nil {
		return nil, b.noRoom(err)
	}
	set, err := newSet(f, b.Hasher(), b.config.Concurrent)
	if err != nil {
		return nil, err
	}
	switch set.choose(b.chosen); {
	case b.config.Like == nil && b.family.Name != "":
		set.choose(cmp.Or(b.config.FPRChosen, engine.ChosenFPR(set.inner(), b.family, b.spec, b.in.Len())))
	case b.trim:
		if set, err = set.Trimmed(); err != nil {
			return nil, err
		}
	}
	if b.config.Allow != nil {
		if err := b.allow(ctx, set); err != nil {
			return nil, err
		}
	}
	return set, set.CheckFPR(b.config.MaxFPR)
}

// filter returns the filter of all keys.
func (b *Builder) filter(ctx context.Context) (family.Filter, error) {
	c := &b.config
	if err := b.in.Check(c.Keys, c.Like != nil && b.family.BuildValueBits(b.spec) > 0); err != nil {
		return nil, err
	}
	if b.in.Counting() {
		if err := b.startCounted(ctx); err != nil {
			return nil, err
		}
	}
	if b.family.Name != "" && c.Like == nil { // families that gather keys know their number only now
		if err := c.checkSize(b.family, b.spec, b.in.Len()); err != nil {
			return nil, err
		}
	}
	f, err := b.target.Build(ctx)
	if err == nil {
		err = c.checkBuilt(f)
	}
	return f, err
}

// startCounted makes the Target for the counted keys and passes them on.
func (b *Builder) startCounted(ctx context.Context) (err error) {
	if b.config.Keys = b.in.Len(); b.config.open() {
		if b.config, err = b.config.Resolve(ctx); err != nil {
			return err
		}
		if b.family, b.spec, _, err = b.config.resolved(); err != nil {
			return err
		}
	}
	if b.target, err = b.newTarget(b.config.Keys, true); err != nil {
		return err
	}
	return b.in.Start(ctx, b.target)
}

// allow applies Config.Allow to a set that was built from the kept keys.
func (b *Builder) allow(ctx context.Context, set *Set) error {
	a, err := set.Allower(b.config.Like)
	if err != nil {
		return err
	}
	if err := intake.Copies(ctx, b.config.Allow, a.AllowMany); err != nil {
		return err
	}
	if err := b.in.Members(ctx, a.AddMemberHashes); err != nil {
		return err
	}
	return a.Apply(ctx)
}
