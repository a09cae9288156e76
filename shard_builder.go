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
	"github.com/bloomery/bloomery/internal/inset"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// ShardBuilder builds a sharded set: a folder with a manifest and the filters of the shards, see package shard. Open
// opens it. Each shard is the filter that Build makes of its keys. The rules of Builder for several goroutines, Close
// and keys after Build hold here too.
//
// The hashes of the keys, 16 bytes each, stay in memory up to half of Config.Memory, by default 1 GiB; further ones go
// to a temporary file. Build then makes one shard after the other, several at a time on a machine with several cores.
// With Config.Allow, the keys of the list take 16 bytes each too, and one half of that limit is for them. Exceptions
// take about 150 bytes each while their shard is made.
type ShardBuilder struct {
	adder
	config  Config // of the set
	each    Config // of a shard, once the number of shards is known
	folder  *shardset.Folder
	spill   *intake.Shards // nil until the number of shards is known
	allowed *intake.List   // of Config.Allow, from Build on, else nil
	losses  *bulk.Losses   // with Config.Like, else nil
}

// shardMemory is the default limit of a ShardBuilder for hashes in memory.
const shardMemory = 1 << 30

// NewShardBuilder returns a ShardBuilder of the sharded set in the folder dir, and locks the folder for other builders.
// The folder is absent, empty, or a sharded set, which is replaced when Build returns.
//
// With Config.Like each shard is like that shard of Like, a sharded Set, which may be the one that is replaced. Else,
// with Config.Shards, the sizes in Config are those of the set; see Config.ForShard, whose errors these are. If Shards
// is 0, or Config has Needs, it needs the number of keys: if Config.Keys is 0, it counts them first.
func NewShardBuilder(dir string, c Config) (b *ShardBuilder, err error) {
	b = &ShardBuilder{config: c}
	if c.Like != nil {
		b.config.Shards = cmp.Or(c.Shards, c.Like.Stored().Shards)
	} else if c.Keys > 0 && c.Shards == 0 {
		b.config.Shards = run.AutoShards(c.Keys)
	}
	hasher, err := b.config.check() // before the keys come
	if err != nil {
		return nil, err
	}
	if err = b.config.checkAllow(hasher); err != nil {
		return nil, err
	}
	if c.Like == nil && c.Keys > 0 {
		if err := run.CheckShards(b.config.Shards, c.Keys); err != nil {
			return nil, err
		}
	}
	if c.Like != nil {
		if b.losses, err = bulk.NewLosses(c.Like.inner(), c.Shrink); err != nil {
			return nil, err
		}
		if bytes := c.Like.Info().Bits / 8; c.MaxBytes > 0 && bytes > c.MaxBytes {
			return nil, c.checkBytes(c.Like.Spec(), bytes)
		}
	}
	if b.folder, err = inset.Replace(dir); err != nil {
		return nil, err
	}
	if b.config.Shards == 0 || c.open() && c.Keys == 0 {
		late := family.Invalid("keys", 0,
			"values need a Spec, such as rankindexed(value_bits=8), or the number of keys before the keys")
		if b.config.Shards == 0 {
			late = family.Invalid("shards", 0,
				"values need the number of shards before the keys, and a Spec or the number of keys")
		}
		b.in = intake.Counted(hasher, b.memory()/2, c.TempDir, b.noValues(late))
	} else if err = b.start(context.Background()); err != nil {
		return nil, errors.Join(err, b.folder.Close())
	} else {
		b.in = intake.New(hasher, b.spill)
	}
	b.in.OnClose(b.folder.Close)
	return b, nil
}

// check returns the hasher of the keys, or an error if the Config cannot be that of a sharded set, as far as this is
// known before the keys.
func (c Config) check() (filter.Hasher, error) {
	if c.Like != nil {
		return c.checkLikeShards()
	}
	if c.open() && c.Keys == 0 {
		if err := c.checkNeeds(); err != nil {
			return filter.Hasher{}, err
		}
		return families.OwnHasher(c.Hash, c.Seed, c.Secret)
	}
	c.Shards, c.Chosen = max(c.Shards, 1), nil
	c, err := c.ForShard(context.Background())
	if err != nil {
		return filter.Hasher{}, err
	}
	f, s, err := c.family()
	if err != nil {
		return filter.Hasher{}, err
	}
	return f.Hasher(s, c.Hash, c.Seed, c.Secret)
}

// memory returns the limit of the hashes of the keys in memory before Build, and of that of the hashes of Config.Allow.
func (b *ShardBuilder) memory() int64 {
	limit := b.config.Memory
	if limit <= 0 && b.config.open() {
		limit = b.config.BuildMemory()
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

// noValues returns the error for keys with values if the set takes none: with Config.Allow another one.
func (b *ShardBuilder) noValues(other error) error {
	if b.config.Allow != nil {
		return family.Invalid("allow", "list", "a sharded set with values has no exceptions; leave one out")
	}
	return other
}

// start makes the store of hashes, when the number of shards is known.
func (b *ShardBuilder) start(ctx context.Context) (err error) {
	if b.config.Like != nil {
		b.each = b.config.likeShards()
	} else if b.each, err = b.config.ForShard(ctx); err != nil {
		return err
	}
	b.spill = intake.NewShards(b.config.Shards, b.memory(), b.config.TempDir, b.Spec(), b.noValues(nil))
	return nil
}

// Spec returns the Spec of each shard. It is zero until the planner has chosen.
func (b *ShardBuilder) Spec() filter.Spec {
	if b.config.Like != nil {
		return b.config.Like.Spec()
	}
	s, _ := filter.ParseSpec(b.each.Spec)
	return s
}

// Shards returns the number of shards, or 0 until the keys are counted.
func (b *ShardBuilder) Shards() int { return b.config.Shards }

// Build writes the shards and, as the last file, the manifest, and removes the files of the set that it replaces. No
// Add may run at the same time. On error, or when ctx ends, the folder is as it was before. The error wraps
// filter.ErrFull and filter.ErrKeys as that of Builder.Build does, and filter.ErrRate if the set exceeds Config.MaxFPR.
// Config.Progress gets the progress of all shards together. The ShardBuilder cannot be used afterwards.
func (b *ShardBuilder) Build(ctx context.Context) (*shard.Manifest, error) {
	return built(&b.adder, func() (*shard.Manifest, error) { return b.build(ctx) })
}

func (b *ShardBuilder) build(ctx context.Context) (*shard.Manifest, error) {
	n := b.in.Len()
	if err := b.in.Check(b.config.Keys, false); err != nil {
		return nil, err
	}
	if b.config.Like == nil {
		if err := run.CheckShards(b.config.Shards, n); err != nil {
			return nil, err
		}
	}
	f, _ := families.ByName(b.Spec().Family()) // zero until the planner has chosen
	values := b.in.Valued() > 0 || b.config.Like != nil && f.BuildValueBits(b.Spec()) > 0
	if err := b.in.Check(0, values); err != nil {
		return nil, err
	}
	if b.in.Counting() {
		b.config.Keys = max(n, 1)
		b.config.Shards = cmp.Or(b.config.Shards, run.AutoShards(n))
		if err := b.start(ctx); err != nil {
			return nil, err
		}
		if err := b.in.Start(ctx, b.spill); err != nil {
			return nil, err
		}
	}
	if err := b.config.checkSetSize(b.each, n); err != nil {
		return nil, err
	}
	if err := b.readAllowed(ctx); err != nil {
		return nil, err
	}
	m := &shard.Manifest{Hash: b.Hasher().ID(), Seed: b.Hasher().Seed(), Spec: b.Spec()}
	if err := b.shards(ctx, m); err != nil {
		return nil, err
	}
	if err := b.allowed.Err(ctx); err != nil {
		return nil, err
	}
	if err := b.losses.Check(m.Keys()); err != nil {
		return nil, err
	}
	if m.Hash == filter.SipHash {
		m.KeyCheck = b.Hasher().KeyCheck()
	}
	if err := engine.CheckShards(m, b.config.MaxFPR); err != nil {
		return nil, err
	}
	return m, b.folder.Commit(ctx, m, nil, nil)
}

// shards builds and writes all shards, and sets their entries and the chosen rate in the manifest.
func (b *ShardBuilder) shards(ctx context.Context, m *shard.Manifest) error {
	n := b.config.Shards
	workers := parallel.Workers(b.config.Workers)
	at := min(workers, n) // shards at the same time
	each := b.each
	each.Workers = workers / at
	if each.Memory > 0 {
		each.Memory = max(each.Memory/2/int64(at), 1)
	}
	progress := b.spill.Progress(n, b.in.Len(), b.config.Progress)
	chosen := make([]float64, n)
	m.Shards = make([]shard.Entry, n)
	err := parallel.Do(ctx, n, at, func(ctx context.Context, s int) (err error) {
		c := each
		c.Progress = progress(s)
		if m.Shards[s], chosen[s], err = b.shard(ctx, s, c); err != nil {
			err = fmt.Errorf("shard %d: %w", s, err)
		}
		return err
	})
	m.FPRChosen = shardfile.Chosen(chosen)
	return err
}

// shard builds and writes a shard.
func (b *ShardBuilder) shard(ctx context.Context, s int, c Config) (e shard.Entry, chosen float64, err error) {
	c.Keys = b.spill.Keys(s)
	if c.Like != nil {
		if c.Like, err = b.config.Like.Shard(s); err != nil {
			return e, 0, err
		}
	}
	one, err := c.memberBuilder() // exceptions come later: the keys need not be kept twice
	if err != nil {
		return e, 0, err
	}
	defer one.Close()
	one.part = true
	if err := b.spill.Pass(ctx, s, one.in); err != nil {
		return e, 0, err
	}
	set, err := one.Build(ctx)
	if err != nil {
		return e, 0, err
	}
	if err := b.except(ctx, set, s, c.Like); err != nil {
		return e, 0, err
	}
	b.losses.AddShard(one.losses, set.engine)
	e, err = b.folder.Put(ctx, s, b.config.Shards, set.Info(), set)
	if c.Progress != nil {
		c.Progress(filter.Progress{Done: 1})
	}
	return e, set.FPRChosen(), err
}

// readAllowed hashes the keys of Config.Allow.
func (b *ShardBuilder) readAllowed(ctx context.Context) (err error) {
	if b.config.Allow != nil {
		spill := run.NewSpill(b.config.Shards, b.memory(), b.config.TempDir)
		b.in.OnClose(spill.Close)
		b.allowed, err = intake.NewList(ctx, b.config.Allow, b.Hasher(), spill)
	}
	return err
}

// except gives exceptions to a shard. Keys that are members are no error yet, so that all of them are found.
func (b *ShardBuilder) except(ctx context.Context, set *Set, s int, like *Set) error {
	if b.allowed == nil {
		return nil
	}
	a, err := set.Allower(like)
	if err != nil {
		return err
	}
	if err := b.allowed.Each(ctx, s, a.AllowHashes); err != nil {
		return err
	}
	if err := b.spill.Each(ctx, s, a.AddMemberHashes); err != nil {
		return err
	}
	if err = a.Apply(ctx); errors.Is(err, filter.ErrAllowed) {
		b.allowed.Both(bulk.Both(a))
		return nil
	}
	return err
}
