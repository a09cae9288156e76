package bloomery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/inset"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/spool"
	"github.com/bloomery/bloomery/shard"
)

// ShardBuilder builds a sharded set: a folder with a manifest and the filters of the shards, see package shard. Open
// opens it. Each shard is the filter that Build makes of its keys. All methods except Build and Close are safe for
// concurrent use, and none of them keeps a key. Every ShardBuilder must be closed; after Build, Close does nothing.
// After Build, also a failed one, and Close, all methods that add keys return an error.
//
// The hashes of the keys, 16 bytes each, stay in memory up to half of Config.Memory, by default 1 GiB; further ones go
// to a temporary file. Build then makes one shard after the other, several at a time on a machine with several cores.
// With Config.Allow, the keys of the list take 16 bytes each too, and one half of that limit is for them. Exceptions
// take about 150 bytes each while their shard is made.
type ShardBuilder struct {
	config  Config // of the set
	each    Config // of a shard, once the number of shards is known
	hasher  filter.Hasher
	folder  *shard.Folder
	spill   *run.Spill   // nil until the number of shards is known
	allowed shardedList  // of Config.Allow
	spool   *spool.Spool // nil unless the keys are counted first
	added   atomic.Uint64
	valued  atomic.Uint64   // keys that came with values
	stripes [stripes]stripe // of Add, AddString, AddUint64 and AddHash

	losses *losses // with Config.Like, else nil

	mu   sync.Mutex
	done bool
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
		b.config.Shards = AutoShards(c.Keys)
	}
	if b.hasher, err = b.config.check(); err != nil { // before the keys come
		return nil, err
	}
	if err = b.config.checkAllow(b.hasher); err != nil {
		return nil, err
	}
	if c.Like == nil && c.Keys > 0 {
		if err := run.CheckShards(b.config.Shards, c.Keys); err != nil {
			return nil, err
		}
	}
	if c.Like != nil {
		if b.losses, err = newLosses(c.Like, c.Shrink); err != nil {
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
		b.spool = spool.New(b.memory()/2, c.TempDir)
	} else if err = b.start(context.Background()); err != nil {
		return nil, errors.Join(err, b.folder.Close())
	}
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

// start makes the store of hashes, when the number of shards is known.
func (b *ShardBuilder) start(ctx context.Context) (err error) {
	if b.config.Like != nil {
		b.each = b.config.likeShards()
	} else {
		b.each, err = b.config.ForShard(ctx)
	}
	if err == nil {
		b.spill = run.NewSpill(b.config.Shards, b.memory(), b.config.TempDir)
	}
	return err
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

// Hasher returns the hash function of the keys.
func (b *ShardBuilder) Hasher() filter.Hasher { return b.hasher }

// Add adds a key.
func (b *ShardBuilder) Add(key []byte) error { return b.AddHash(b.hasher.Sum(key)) }

// AddString is Add for a string.
func (b *ShardBuilder) AddString(key string) error { return b.AddHash(b.hasher.SumString(key)) }

// AddUint64 is Add for the eight bytes of key, little endian.
func (b *ShardBuilder) AddUint64(key uint64) error { return b.AddHash(b.hasher.SumUint64(key)) }

// AddHash adds a key hashed by Hasher.
func (b *ShardBuilder) AddHash(h filter.Hash) error {
	s := &b.stripes[rand.Uint32()%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent {
		return errSpent
	}
	if s.hs == nil {
		s.hs = make([]filter.Hash, 0, stripeLen)
	}
	if s.hs = append(s.hs, h); len(s.hs) < stripeLen {
		return nil
	}
	hs := s.hs
	s.hs = s.hs[:0]
	return b.AddHashes(hs)
}

// AddMany adds keys. Batches of a few thousand keys are fastest.
func (b *ShardBuilder) AddMany(keys [][]byte) error {
	buf := hashBuffers.Get().(*[]filter.Hash)
	hs := (*buf)[:0]
	for _, k := range keys {
		hs = append(hs, b.hasher.Sum(k))
	}
	err := b.AddHashes(hs)
	*buf = hs[:0]
	hashBuffers.Put(buf)
	return err
}

// AddHashes adds keys hashed by Hasher. It does not keep hs.
func (b *ShardBuilder) AddHashes(hs []filter.Hash) error {
	b.added.Add(uint64(len(hs)))
	switch {
	case b.spill != nil:
		return b.spill.Add(hs)
	case b.spool != nil:
		return b.spool.Add(hs)
	}
	return errSpent
}

// Build writes the shards and, as the last file, the manifest, and removes the files of the set that it replaces. No
// Add may run at the same time. On error, or when ctx ends, the folder is as it was before. The error wraps
// filter.ErrFull and filter.ErrKeys as that of Builder.Build does, and filter.ErrRate if the set exceeds Config.MaxFPR.
// Config.Progress gets the progress of all shards together. The ShardBuilder cannot be used afterwards.
func (b *ShardBuilder) Build(ctx context.Context) (*shard.Manifest, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return nil, errSpent
	}
	m, err := b.build(ctx)
	if err := errors.Join(err, b.close()); err != nil {
		return nil, err
	}
	return m, nil
}

func (b *ShardBuilder) build(ctx context.Context) (*shard.Manifest, error) {
	for i := range b.stripes {
		if hs := b.stripes[i].hs; len(hs) > 0 {
			b.stripes[i].hs = nil
			if err := b.AddHashes(hs); err != nil {
				return nil, err
			}
		}
	}
	n := b.added.Load()
	if b.config.Keys != 0 && n != b.config.Keys {
		return nil, &filter.KeysError{Announced: b.config.Keys, Added: n}
	}
	if b.config.Like == nil {
		if err := run.CheckShards(b.config.Shards, n); err != nil {
			return nil, err
		}
	}
	if err := b.checkValues(); err != nil {
		return nil, err
	}
	if b.spool != nil {
		b.config.Keys = max(n, 1)
		b.config.Shards = cmp.Or(b.config.Shards, AutoShards(n))
		if err := b.start(ctx); err != nil {
			return nil, err
		}
		if err := b.spool.Each(ctx, b.spill.Add); err != nil {
			return nil, err
		}
		err := b.spool.Close()
		b.spool = nil
		if err != nil {
			return nil, err
		}
	}
	if err := b.config.checkSetSize(b.each, n); err != nil {
		return nil, err
	}
	if err := b.readAllowed(ctx); err != nil {
		return nil, err
	}
	entries, chosen := make([]shard.Entry, b.config.Shards), make([]float64, b.config.Shards)
	if err := b.shards(ctx, entries, chosen); err != nil {
		return nil, err
	}
	if err := b.conflicts(ctx); err != nil {
		return nil, err
	}
	m := &shard.Manifest{
		Spec: b.Spec(), Hash: b.hasher.ID(), Seed: b.hasher.Seed(), FPRChosen: shard.Chosen(chosen), Shards: entries,
	}
	if err := b.losses.check(m.Keys()); err != nil {
		return nil, err
	}
	if m.Hash == filter.SipHash {
		m.KeyCheck = b.hasher.KeyCheck()
	}
	if err := CheckShards(m, b.config.MaxFPR); err != nil {
		return nil, err
	}
	return m, b.folder.Commit(ctx, m, nil, nil)
}

// shards builds and writes all shards.
func (b *ShardBuilder) shards(ctx context.Context, entries []shard.Entry, chosen []float64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := b.config.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	at := min(workers, len(entries)) // shards at the same time
	each := b.each
	each.Workers = workers / at
	if each.Memory > 0 {
		each.Memory = max(each.Memory/2/int64(at), 1)
	}
	progress := newShardProgress(b, len(entries))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range at {
		wg.Go(func() {
			for {
				s := int(next.Add(1)) - 1
				if s >= len(entries) || ctx.Err() != nil {
					return
				}
				var err error
				if entries[s], chosen[s], err = b.shard(ctx, s, each, progress); err != nil {
					cancel(fmt.Errorf("shard %d: %w", s, err)) // the first cause counts
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// shard builds and writes a shard.
func (b *ShardBuilder) shard(ctx context.Context, s int, c Config, p *shardProgress) (shard.Entry, float64, error) {
	c.Keys, c.Progress = b.keysOf(s), p.of(s)
	var err error
	if c.Like != nil {
		if c.Like, err = b.config.Like.Shard(s); err != nil {
			return shard.Entry{}, 0, err
		}
	}
	one, err := c.memberBuilder() // exceptions come later: the keys need not be kept twice
	if err != nil {
		return shard.Entry{}, 0, err
	}
	defer one.Close()
	one.part = true
	add := b.adder(one)
	if err := b.spill.Each(ctx, s, add); err != nil {
		return shard.Entry{}, 0, err
	}
	set, err := one.Build(ctx)
	if err != nil {
		return shard.Entry{}, 0, err
	}
	if err := b.except(ctx, set, s, c.Like); err != nil {
		return shard.Entry{}, 0, err
	}
	b.losses.addShard(one.losses, set)
	e, err := b.folder.Put(ctx, s, b.config.Shards, set.Info(), set)
	p.report(s, 1)
	return e, set.FPRChosen(), err
}

// Close drops the keys, removes their temporary file and unlocks the folder. No Add may run at the same time.
func (b *ShardBuilder) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.close()
}

func (b *ShardBuilder) close() (err error) {
	if b.done {
		return nil
	}
	b.done = true
	spend(&b.stripes)
	if b.spool != nil {
		err = b.spool.Close()
	}
	if b.spill != nil {
		err = errors.Join(err, b.spill.Close())
	}
	if b.allowed.spill != nil {
		err = errors.Join(err, b.allowed.spill.Close())
	}
	b.spool, b.spill, b.allowed.spill = nil, nil, nil
	return errors.Join(err, b.folder.Close())
}

// BuildShards builds the sharded set of keys in the folder dir; see NewShardBuilder and ShardBuilder.Build. It ranges
// over keys once and keeps no slice that keys yields.
func BuildShards[K Key](ctx context.Context, keys iter.Seq[K], dir string, c Config) (*shard.Manifest, error) {
	b, err := NewShardBuilder(dir, c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := feedHashes(ctx, keys, b.hasher, b.AddHashes); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}

// feedHashes gives the hashes of keys in batches.
func feedHashes[K Key](ctx context.Context, keys iter.Seq[K], h filter.Hasher, give func([]filter.Hash) error) error {
	hs := make([]filter.Hash, 0, feedBatch)
	sum := sumOf[K](h)
	err := each(ctx, keys, func(k K) error {
		if hs = append(hs, sum(k)); len(hs) < feedBatch {
			return nil
		}
		err := give(hs)
		hs = hs[:0]
		return err
	})
	if err != nil {
		return err
	}
	return give(hs)
}
