package bloomery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/spool"
)

// Builder builds a Set of keys from any number of goroutines. All methods except Build and Close are safe for
// concurrent use, and none of them keeps a key. Every Builder must be closed; after Build, Close does nothing. After
// Build, also a failed one, and Close, all methods that add keys return an error.
//
// A Builder hashes each key when it is added. If it needs the number of keys first, and Config.Keys is 0, it keeps the
// hashes in a spool: in memory up to Config.Memory, then in a temporary file.
type Builder struct {
	config  Config
	hasher  filter.Hasher
	family  families.Family // zero until the planner has chosen
	spec    filter.Spec
	inner   filter.Builder // nil until the number of keys is known, and for raw keys
	spool   *spool.Spool   // nil if inner takes the hashes
	members *spool.Spool   // hashes of all keys for Config.Allow, else nil; it may be spool
	raw     *rawKeys       // for families that take raw keys, else nil
	shards  *run.Spill     // of an Optimizer of a sharded Set, else nil
	old     *Set           // that Set
	effort  filter.Effort  // and its effort

	chosen float64 // the rate to store, for an Optimizer or with Config.Like
	losses *losses // with Config.Like and of an Optimizer, else nil
	part   bool    // it builds a shard: losses are those of the whole set
	trim   bool    // the Set is in the trimmed form, as Config.Like is
	exact  uint64  // the number of keys that must be added, 0 if it is unknown
	bits   int     // of the values that may come with the keys, else 0
	added  atomic.Uint64
	valued atomic.Uint64 // keys that came with values

	stripes [stripes]stripe // of Add, AddString, AddUint64 and AddHash

	mu   sync.Mutex
	done bool
}

// stripes is the number of buffers for single keys, and so of goroutines that can add keys without waiting for each
// other.
const stripes = 16

// stripe collects the hashes of keys that are added one by one.
type stripe struct {
	mu     sync.Mutex
	hs     []filter.Hash
	valued []filter.Hash // of keys with values
	values []uint64      // and these
	spent  bool          // no Build will contain further keys
	_      [24]byte      // so that two locks do not share a cache line
}

// stripeLen is the number of hashes of a full stripe: 64 KiB.
const stripeLen = 4096

var (
	errSpent   = errors.New("bloomery: the Builder was built or closed, and takes no more keys")
	errRawKeys = fmt.Errorf("the family takes raw keys, not their hashes: %w", filter.ErrUnsupported)
)

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
	if err := c.checkAllow(b.hasher); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.keepMembers()
	return b, nil
}

// memberBuilder is NewBuilder without Allow.
func (c Config) memberBuilder() (*Builder, error) {
	if c.Like != nil {
		return c.likeBuilder()
	}
	return c.builder()
}

// builder is memberBuilder without Like.
func (c Config) builder() (*Builder, error) {
	b := &Builder{config: c, exact: c.Keys}
	if c.open() && c.Keys == 0 {
		if c.Needs.ValueBits == 0 {
			return b, b.later()
		}
		// A filter with values takes them with the keys: it is chosen before their number is known.
		if n := c.Needs; n.Add || n.Later > 0 || n.Bytes > 0 || n.BitsPerKey > 0 {
			const reason = "values with room for later keys, or in a given size, need the number of keys"
			return nil, &filter.ConfigError{Field: "keys", Value: 0, Reason: reason}
		}
	}
	var err error
	if b.config, err = c.Resolve(context.Background()); err != nil {
		return nil, err
	}
	if err := b.resolve(); err != nil {
		return nil, err
	}
	if b.family.Can.Has(filter.CanRawKeys) {
		b.raw = newRawKeys(b.family, b.spec, c)
		return b, nil
	}
	if c.Keys > 0 || b.family.Can.Has(filter.CanCountItself) {
		err := b.start(c.Keys)
		if err != nil || b.inner != nil {
			return b, err
		}
	}
	return b, b.later()
}

// Optimizer returns a Builder of a Set with the geometry of s, whose search starts from s and has effort e. Add all
// keys to it: the new Set contains no others, and has the chosen rate of s. Of c it uses Workers, Memory, TempDir,
// Progress, MaxFPR and Shrink. If the family has no search, the error wraps errors.ErrUnsupported. s must not change
// until Build has returned.
//
// For a sharded Set the Builder keeps the hashes of all keys, beyond Memory, by default 64 MiB, in a temporary file,
// and builds one shard after the other. The new Set is in memory.
func (s *Set) Optimizer(e filter.Effort, c Config) (*Builder, error) {
	if s.inner().Parts() != nil {
		if err := errors.Join(s.inner().Can(filter.CanSearch), c.checkFields()); err != nil {
			return nil, err
		}
		guard, err := newLosses(s, c.Shrink)
		if err != nil {
			return nil, err
		}
		return &Builder{
			config: c, hasher: s.hasher, chosen: s.FPRChosen(), shards: c.bulk().NewSpill(s.inner()), old: s, effort: e, losses: guard,
		}, nil
	}
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
	guard, err := newLosses(s, c.Shrink)
	if err != nil {
		return nil, err
	}
	b := &Builder{config: c, hasher: s.hasher, chosen: s.FPRChosen(), losses: guard}
	b.take(inner)
	return b, nil
}

// resolve sets family, spec and hasher of a Config that names a Spec, and checks them.
func (b *Builder) resolve() (err error) {
	if b.family, b.spec, err = b.config.family(); err != nil {
		return err
	}
	if err := b.family.Check(b.spec); err != nil {
		return err
	}
	if b.hasher, err = b.family.Hasher(b.spec, b.config.Hash, b.config.Seed, b.config.Secret); err != nil {
		return err
	}
	return b.config.checkAllow(b.hasher)
}

// later spools the keys, so that they are counted before the filter is made.
func (b *Builder) later() error {
	memory := b.config.Memory
	if b.family.Name == "" { // the planner has not chosen
		// The keys stay in the spool while the family gathers them, so that both need a share.
		memory = max(b.config.BuildMemory()/16, min(b.config.BuildMemory(), 1<<20))
		var err error
		if b.hasher, err = families.OwnHasher(b.config.Hash, b.config.Seed, b.config.Secret); err != nil {
			return err
		}
	}
	b.spool = spool.New(memory, b.config.TempDir)
	return nil
}

// start makes the family's builder for that number of keys. If the number is 0 and the builder needs it, start makes
// none; forms of a family that count keys need it.
func (b *Builder) start(keys uint64) error {
	if err := b.config.checkSize(b.family, b.spec, keys); err != nil {
		return err
	}
	inner, err := b.family.NewBuilder(b.spec, keys)
	if err != nil {
		return err
	}
	if _, gathers := inner.(filter.Spiller); keys == 0 && !gathers && b.spool == nil {
		return nil
	}
	b.take(inner)
	return nil
}

// take sets the builder that gets the hashes.
func (b *Builder) take(inner filter.Builder) {
	if s, ok := inner.(filter.Spiller); ok && b.config.Memory > 0 {
		s.Limit(b.config.Memory, b.config.TempDir)
	} else if ok && b.config.TempDir != "" {
		s.Limit(0, b.config.TempDir)
	}
	if p, ok := inner.(filter.Parallel); ok {
		p.SetWorkers(b.config.Workers)
	}
	if s, ok := inner.(filter.Searcher); ok && b.config.Progress != nil {
		s.OnProgress(b.config.Progress)
	}
	b.inner, b.bits = inner, b.family.BuildValueBits(b.spec)
}

// Spec returns the Spec of the Config, or the one that the planner has chosen. It is zero until the planner has chosen.
func (b *Builder) Spec() filter.Spec { return b.spec }

// Build returns the Set of all keys that were added. No Add may run at the same time. When ctx ends, Build returns
// ctx.Err(). If context.WithCancelCause ends it with filter.ErrEnough, the search stops early and Build returns its
// result. The error wraps filter.ErrFull if the filter has no room for all keys or they are more than Config.Capacity,
// filter.ErrKeys if Config.Keys was not their number, and filter.ErrRate if the filter exceeds Config.MaxFPR. The
// Builder cannot be used afterwards.
func (b *Builder) Build(ctx context.Context) (*Set, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return nil, errSpent
	}
	set, err := b.build(ctx)
	if err == nil {
		err = b.checkLosses(set)
	}
	if err == nil && b.config.Capacity > 0 {
		if n := set.distinct(b.config.Capacity); n > b.config.Capacity {
			err = fmt.Errorf("%d keys for a capacity of %d: %w", n, b.config.Capacity, filter.ErrFull)
		}
	}
	if err := errors.Join(err, b.close()); err != nil {
		return nil, err
	}
	return set, nil
}

// checkLosses returns an error if the Set has lost too much of the older one that it replaces.
func (b *Builder) checkLosses(set *Set) error {
	if err := b.losses.compare(set); err != nil || b.part {
		return err
	}
	return b.losses.check(set.distinctLen())
}

func (b *Builder) build(ctx context.Context) (*Set, error) {
	if b.shards != nil {
		if err := b.flush(); err != nil {
			return nil, err
		}
		return b.optimizeShards(ctx)
	}
	f, err := b.make(ctx)
	if err != nil {
		return nil, b.noRoom(err)
	}
	set, err := newSet(f, b.hasher, b.config.Concurrent)
	if err != nil {
		return nil, err
	}
	switch set.choose(b.chosen); {
	case b.config.Like != nil:
		if set, err = b.finishLike(set); err != nil {
			return nil, err
		}
	case b.family.Name != "":
		set.choose(b.config.chosenFPR(b.family, b.spec, b.count(), set))
	}
	if b.config.Allow != nil {
		if err := b.allow(ctx, set); err != nil {
			return nil, err
		}
	}
	return set, set.CheckFPR(b.config.MaxFPR)
}

// count returns the number of keys that were added.
func (b *Builder) count() uint64 {
	if b.raw != nil {
		return b.raw.added
	}
	return b.added.Load()
}

// checkKeys returns an error if the number of keys is not the announced one.
func (b *Builder) checkKeys() error {
	if n := b.count(); b.exact != 0 && n != b.exact {
		return &filter.KeysError{Announced: b.exact, Added: n}
	}
	if n, v := b.count(), b.valued.Load(); b.config.Like != nil && b.bits > 0 && v != n {
		return withoutValues(n - v)
	}
	return nil
}

// withoutValues returns the error for keys without values where all need one.
func withoutValues(keys uint64) error {
	return &filter.ConfigError{Field: "values", Value: "none",
		Reason: fmt.Sprintf("%d keys came without a value; give each key its value", keys)}
}

// make returns the filter of all keys.
func (b *Builder) make(ctx context.Context) (filter.Filter, error) {
	if b.raw != nil {
		if err := b.checkKeys(); err != nil {
			return nil, err
		}
		return b.raw.build(ctx)
	}
	if err := b.flush(); err != nil {
		return nil, err
	}
	if err := b.checkKeys(); err != nil {
		return nil, err
	}
	if b.spool != nil {
		if err := b.unspool(ctx); err != nil {
			return nil, err
		}
	}
	if b.family.Name != "" && b.config.Like == nil { // families that gather keys know their number only now
		if err := b.config.checkSize(b.family, b.spec, b.count()); err != nil {
			return nil, err
		}
	}
	f, err := b.inner.Build(ctx)
	b.inner = nil
	if err == nil {
		err = b.config.checkBuilt(f)
	}
	return f, err
}

// flush passes on the keys that were added one by one.
func (b *Builder) flush() error {
	for i := range b.stripes {
		if hs := b.stripes[i].hs; len(hs) > 0 {
			if err := b.give(hs); err != nil {
				return err
			}
		}
		if s := &b.stripes[i]; len(s.valued) > 0 {
			if err := b.flushValues(s); err != nil {
				return err
			}
		}
		b.stripes[i] = stripe{}
	}
	return nil
}

// unspool makes the family's builder for the counted keys and passes it their hashes.
func (b *Builder) unspool(ctx context.Context) error {
	b.config.Keys = b.spool.Len()
	if b.config.open() {
		var err error
		if b.config, err = b.config.Resolve(ctx); err != nil {
			return err
		}
		if err := b.resolve(); err != nil {
			return err
		}
	}
	if err := b.start(b.config.Keys); err != nil {
		return err
	}
	if err := b.spool.Each(ctx, b.inner.AddMany); err != nil || b.members != nil {
		return err // allow reads the spool again
	}
	err := b.spool.Close()
	b.spool = nil
	return err
}

// spend drops the keys in the stripes, which then take no others.
func spend(all *[stripes]stripe) {
	for i := range all {
		s := &all[i]
		s.mu.Lock()
		s.hs, s.valued, s.values, s.spent = nil, nil, nil, true
		s.mu.Unlock()
	}
}

// Close drops the keys and removes their temporary file. No Add may run at the same time.
func (b *Builder) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.close()
}

func (b *Builder) close() (err error) {
	b.done = true
	spend(&b.stripes)
	if s, ok := b.inner.(filter.Spiller); ok {
		err = s.Close()
	}
	if b.spool != nil {
		err = errors.Join(err, b.spool.Close())
	}
	if b.members != nil && b.members != b.spool {
		err = errors.Join(err, b.members.Close())
	}
	if b.raw != nil {
		err = errors.Join(err, b.raw.close())
	}
	if b.shards != nil {
		err = errors.Join(err, b.shards.Close())
	}
	b.inner, b.spool, b.shards = nil, nil, nil
	return err
}
