package bloomery

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bulk"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// shardBuild makes a sharded set: a folder with a manifest and the filters of the shards, see package shard. Each shard
// is the filter that oneBuild makes of its keys.
type shardBuild struct {
	in       *intake.Intake
	config   Config // config of the set
	each     Config // the Config of a shard, set once the number of shards is known
	folder   *shardset.Folder
	spill    *intake.Shards    // nil until the number of shards is known
	allowed  *intake.List      // the keys of Config.Allow, set by Build, else nil
	losses   *bulk.Losses      // lost keys with Config.Like.Set, else nil
	distinct []engine.Estimate // estimated number of distinct keys of each shard, with Config.Capacity
}

// shardMemory is the default limit for hashes in memory.
const shardMemory = 1 << 30

// newShardBuild locks the folder of a Config with Dir. Errors come from ForShard and from the folder.
func newShardBuild(ctx context.Context, c Config) (b *shardBuild, err error) {
	b = &shardBuild{config: c}
	if c.Like.Set != nil {
		b.config.Sharding.Shards = cmp.Or(c.Sharding.Shards, c.Like.Set.inner().Facts().Stored.Shards)
	} else if c.Keys > 0 && c.Sharding.Shards == 0 {
		b.config.Sharding.Shards = hashes.AutoShards(c.Keys)
	}

	if err := c.Check(); err != nil {
		return nil, err
	}
	hasher, err := b.config.checkSharded(ctx) // before any key is added
	if err != nil {
		return nil, err
	}
	if c.Like.Set != nil {
		if b.losses, err = bulk.NewLosses(c.Like.Set.inner(), c.Like.Shrink); err != nil {
			return nil, err
		}
	}
	if b.folder, err = shardset.Replace(c.Sharding.Dir); err != nil {
		return nil, err
	}
	if b.config.Sharding.Shards == 0 || c.open() && c.Keys == 0 {
		late := family.Invalid("keys", 0,
			"values need a Spec, such as rankindexed(value_bits=8), or the number of keys before the keys")
		if b.config.Sharding.Shards == 0 {
			late = family.Invalid("shards", 0,
				"values need the number of shards before the keys, and a Spec or the number of keys")
		}
		b.in = intake.Counted(hasher, b.memory()/2, c.Building.TempDir, b.noValues(late))
	} else if err = b.start(ctx); err != nil {
		return nil, errors.Join(err, b.folder.Close())
	} else {
		b.in = intake.New(hasher, b.spill)
	}
	b.in.OnClose(b.folder.Close)
	return b, nil
}

// checkSharded returns the hasher of the keys, or an error if the Config cannot be for a sharded set, as far as
// this is known before the keys.
func (c Config) checkSharded(ctx context.Context) (filter.Hasher, error) {
	if err := intake.CheckShards(cmp.Or(c.Sharding.Shards, 1), c.Keys, c.Concurrent); err != nil {
		return filter.Hasher{}, err
	}
	if c.Like.Set != nil {
		if err := c.checkLike(); err != nil {
			return filter.Hasher{}, err
		}
		return c.Like.Set.Hasher(), nil
	}
	if c.open() && c.Keys == 0 {
		if err := c.checkNeeds(); err != nil {
			return filter.Hasher{}, err
		}
		return families.OwnHasher(families.Hashing(c.Hashing))
	}

	c.Sharding.Shards, c.Building.Chosen = max(c.Sharding.Shards, 1), nil
	c, err := c.ForShard(ctx)
	if err != nil {
		return filter.Hasher{}, err
	}

	f, s, err := c.family()
	if err != nil {
		return filter.Hasher{}, err
	}
	return f.Hasher(s, families.Hashing(c.Hashing))
}

// memory returns the limit of the hashes of the keys in memory before Build, and the limit of the hashes of
// Config.Allow.
func (b *shardBuild) memory() int64 {
	limit := b.config.Building.Memory
	if limit <= 0 && b.config.open() {
		limit = intake.BuildMemory(limit, b.config.Needs.Memory)
	}

	half := int64(shardMemory)
	if limit > 0 {
		half = limit / 2
	}
	if b.config.Allow != nil {
		half /= 2
	}
	return max(half, 1)
}

// noValues returns the error for keys with values if the set takes none: with Config.Allow its own error, else other.
func (b *shardBuild) noValues(other error) error {
	if b.config.Allow != nil {
		return family.Invalid("allow", "list", "a sharded set with values has no exceptions; leave one out")
	}
	return other
}

// start makes the store of hashes, when the number of shards is known.
func (b *shardBuild) start(ctx context.Context) (err error) {
	if b.config.Like.Set != nil {
		c := b.config
		b.each = Config{Like: c.Like, Limits: Limits{Bytes: c.Limits.Bytes}, Building: Building{
			Workers: c.Building.Workers, Memory: c.Building.Memory, TempDir: c.Building.TempDir}}
	} else if b.each, err = b.config.ForShard(ctx); err != nil {
		return err
	}
	b.spill = intake.NewShards(b.config.Sharding.Shards, b.memory(), b.config.Building.TempDir, b.specOf(),
		b.noValues(nil))
	return nil
}

func (b *shardBuild) specOf() filter.Spec {
	if b.config.Like.Set != nil {
		return b.config.Like.Set.Spec()
	}
	s, _ := filter.ParseSpec(b.each.Spec)
	return s
}

// build writes the shards and, as the last file, the manifest, and opens the folder.
func (b *shardBuild) build(ctx context.Context) (*Set, error) {
	if err := b.write(ctx); err != nil {
		return nil, err
	}
	o := options{Options: engine.Options{Keyed: b.in.Hasher(), Secret: b.config.Hashing.Secret}}
	set, err := openFile(context.WithoutCancel(ctx), b.config.Sharding.Dir, o) // the old set is already replaced
	if err != nil {
		return nil, fmt.Errorf("the sharded set was built, and does not open: %w", err)
	}
	return set, nil
}

func (b *shardBuild) write(ctx context.Context) error {
	n := b.in.Len()
	if err := b.in.Check(b.config.Keys, false); err != nil {
		return err
	}
	if b.config.Like.Set == nil {
		if err := hashes.CheckShards(b.config.Sharding.Shards, n); err != nil {
			return err
		}
	}

	f, _ := families.ByName(b.specOf().Family()) // zero until the planner has chosen
	values := b.in.Valued() > 0 || b.config.Like.Set != nil && f.BuildValueBits(b.specOf()) > 0
	if err := b.in.Check(0, values); err != nil {
		return err
	}
	if b.in.Counting() {
		b.config.Keys = max(n, 1)
		b.config.Sharding.Shards = cmp.Or(b.config.Sharding.Shards, hashes.AutoShards(n))
		if err := b.start(ctx); err != nil {
			return err
		}
		if err := b.in.Start(ctx, b.spill); err != nil {
			return err
		}
	}
	if err := b.config.checkSetSize(b.each, n); err != nil {
		return err
	}
	if err := b.readAllowed(ctx); err != nil {
		return err
	}

	m := &shard.Manifest{Hash: b.in.Hasher().ID(), Seed: b.in.Hasher().Seed(), Form: b.in.Hasher().Form(), Spec: b.specOf()}
	if err := b.shards(ctx, m); err != nil {
		return err
	}
	if err := b.allowed.Err(ctx); err != nil {
		return err
	}
	if err := b.losses.Check(m.Keys()); err != nil {
		return err
	}

	var distinct engine.Estimate
	for _, x := range b.distinct {
		distinct.Sum(x)
	}
	if err := bulk.CheckCapacity(m.Keys(), distinct, b.config.Capacity); err != nil {
		return err
	}
	if m.Hash == filter.SipHash {
		m.KeyCheck = b.in.Hasher().KeyCheck()
	}
	if err := engine.CheckShards(m, b.config.mostFPR()); err != nil {
		return err
	}
	return b.folder.Commit(ctx, m, nil, nil)
}

// shards builds and writes all shards, and sets their entries and the planned rate in the manifest.
func (b *shardBuild) shards(ctx context.Context, m *shard.Manifest) error {
	n := b.config.Sharding.Shards
	workers := parallel.Workers(b.config.Building.Workers)
	at := min(workers, n) // number of shards that are built at the same time
	each := b.each
	each.Building.Workers = workers / at
	if each.Building.Memory > 0 {
		each.Building.Memory = max(each.Building.Memory/2/int64(at), 1)
	}

	progress := b.spill.Progress(n, b.in.Len(), b.config.Building.Progress)
	planned := make([]float64, n)
	b.distinct = make([]engine.Estimate, n)
	m.Shards = make([]shard.Entry, n)
	err := parallel.Do(ctx, n, at, func(ctx context.Context, s int) (err error) {
		c := each
		c.Building.Progress = progress(s)
		if m.Shards[s], planned[s], err = b.shard(ctx, s, c); err != nil {
			err = fmt.Errorf("shard %d: %w", s, err)
		}
		return err
	})
	m.FPRPlanned = cmp.Or(b.planned(), shardset.PlannedRate(planned))
	return err
}

// planned returns the rate that the Config chooses for the whole set, or 0 if it follows from the shards. The planner
// may choose a lower rate than Needs.FPR.
func (b *shardBuild) planned() float64 {
	if like := b.config.Like.Set; like != nil {
		return like.planned()
	}
	return cmp.Or(family.Reader(b.specOf()).Float("fpr"), b.config.FPR, b.config.Needs.FPR)
}

// shard builds and writes a shard.
func (b *shardBuild) shard(ctx context.Context, s int, c Config) (e shard.Entry, planned float64, err error) {
	c.Keys = b.spill.Keys(s)
	if c.Like.Set != nil {
		if c.Like.Set, err = made(b.config.Like.Set.inner().Parts().Shard(s)); err != nil {
			return e, 0, err
		}
	}

	one, err := c.memberBuild(ctx) // exceptions are added later, so the keys need not be kept twice
	if err != nil {
		return e, 0, err
	}
	defer one.in.Close(nil)
	one.part = true
	if err := b.spill.Pass(ctx, s, one.in); err != nil {
		return e, 0, err
	}

	set, err := built(ctx, one.in, one)
	if err != nil {
		return e, 0, err
	}
	if err := b.except(ctx, set, s, c.Like.Set); err != nil {
		return e, 0, err
	}

	b.losses.AddShard(one.losses, set.engine)
	if b.config.Capacity > 0 { // a shard has room for more than its part
		b.distinct[s] = bulk.DistinctKeys(set.inner())
	}
	e, err = b.folder.Put(ctx, s, b.config.Sharding.Shards, set.Info(), set)
	if c.Building.Progress != nil {
		c.Building.Progress(filter.Progress{Done: 1})
	}
	return e, set.planned(), err
}

// readAllowed hashes the keys of Config.Allow.
func (b *shardBuild) readAllowed(ctx context.Context) (err error) {
	if b.config.Allow != nil {
		spill := hashes.NewByShard(b.config.Sharding.Shards, b.memory(), b.config.Building.TempDir)
		b.in.OnClose(spill.Close)
		b.allowed, err = intake.NewList(ctx, b.config.Allow, b.in.Hasher(), spill)
	}
	return err
}

// except gives exceptions to a shard. It does not fail at the first allowed key that is a member, so that all of them
// are found.
func (b *shardBuild) except(ctx context.Context, set *Set, s int, like *Set) error {
	if b.allowed == nil {
		return nil
	}

	a, err := set.allower(like)
	if err != nil {
		return err
	}
	if err := b.allowed.Each(ctx, s, func(hs []filter.Hash) error { return a.allowHashes(hs, nil) }); err != nil {
		return err
	}
	if err := b.spill.Each(ctx, s, a.addMemberHashes); err != nil {
		return err
	}
	if err = a.Commit(ctx); errors.Is(err, filter.ErrAllowed) {
		b.allowed.Both(a.list.Both())
		return nil
	}
	return err
}
