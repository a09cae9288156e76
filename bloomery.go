// Package bloomery builds, queries and stores compact approximate-membership filters. A filter answers "is this key in
// the set?" from a few bits per key. It has no false negatives. You choose its false-positive rate, the share of absent
// keys for which it says yes, and the filter reports it.
//
// Most programs need three calls: Build a Set of keys, Save it, and Open it elsewhere and call Contains.
//
// A Spec names a filter: a family and its parameters.
//
//	standard(fpr=0.01)                the plain Bloom filter: any size, keys at any time, union and intersection
//	blocked(bits_per_key=12)          one cache miss per query, for a few bits more; layout=split is Parquet's
//	ribbon(r=8)                       static and smallest: 8.03 bits per key at a rate of 0.39%; value_bits=8 for values
//	fuse(width=8)                     static and fast to query: 9 bits per key at a rate of 0.39%
//	partitioned(bits_per_key=8)       a search fits it to its keys: 0.70% at 8 bits per key
//	blockpartitioned(bits_per_key=8)  the same with one cache line per query: 0.91%
//	twochoice(bits_per_key=16)        keys choose among groups of positions: with Build 1/3 of the rate of standard
//	rankindexed(capacity=1000000)     add and remove keys; counting=1 counts them, value_bits=8 stores a value per key
//	counting(fpr=0.01)                the counting Bloom filter: keys can be removed; 4 times the size of standard
//	dleft(fpr=0.01)                   keys can be removed; 16 bits per key; counting=1 counts them in less space
//	guava, bitsandblooms, redisbloom  filters of other systems; package interop reads and writes their files
//
// Instead of a Spec, Config.Needs says what the filter must do, and the planner chooses.
//
// Other packages: filter (hashes, specs, errors), plan (forecasts of size, rate and time), exact (sets without error),
// publish and delta (lists that change), shard and distribute (large sets), interop (files of other systems), admission
// (caches).
package bloomery

import (
	"cmp"
	"context"
	"iter"

	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// Key is the constraint of key types. Named types hash as their underlying type, integers as 8 bytes, little endian.
type Key interface{ ~string | ~[]byte | ~uint64 }

// New returns an empty Set with room for Config.Keys keys. For static families, such as ribbon, the error wraps
// errors.ErrUnsupported: use Build. Some families can be full: their Add then returns an error wrapping filter.ErrFull,
// in rankindexed a little beyond Config.Keys unless its spec has growth=.
func New(c Config) (*Set, error) {
	if c.Like != nil {
		return nil, family.Invalid("like", "a Set", "New makes none like it; take Clone and Reset")
	}
	if c.Allow != nil {
		return nil, family.Invalid("allow", "list", "exceptions need all members; use Build")
	}
	if err := c.checkOne(); err != nil {
		return nil, err
	}
	c.Needs.Add = c.Needs.Add || c.open()
	c, err := c.Resolve(context.Background())
	if err != nil {
		return nil, err
	}
	kind, spec, err := c.family()
	if err != nil {
		return nil, err
	}
	if kind.New == nil {
		return nil, families.Lacks(spec, family.CanStartEmpty)
	}
	h, err := kind.Hasher(spec, c.Hash, c.Seed, c.Secret)
	if err != nil {
		return nil, err
	}
	if err := c.checkSize(kind, spec, c.Keys); err != nil {
		return nil, err
	}
	f, err := kind.New(spec, c.Keys)
	if err != nil {
		return nil, err
	}
	set, err := newSet(f, h, c.Concurrent)
	if err == nil {
		set.choose(cmp.Or(c.FPRChosen, engine.ChosenFPR(set.inner(), kind, spec, c.Keys)))
	}
	return set, err
}

// Build returns a Set of keys. It ranges over keys once and keeps no slice that keys yields. When ctx ends, it returns
// ctx.Err(). Without Config.Keys it keeps the hashes of all keys, 16 bytes each, until they are counted. Families that
// gather their keys need no additional memory for this.
//
// Duplicates are allowed, but may increase the size; see Config.Keys. Families that count, such as
// rankindexed(counting=1), count them.
func Build[K Key](ctx context.Context, keys iter.Seq[K], c Config) (*Set, error) {
	b, err := NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := intake.Feed(ctx, b.in, keys); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}

// BuildValues returns a Set of keys with values, for a Spec such as ribbon(value_bits=8): see Builder.AddValue. It
// ranges over keys once, and once more to name the key if one has two values: the error is a *filter.ValueError. It
// keeps no slice that keys yields.
func BuildValues[K Key](ctx context.Context, keys iter.Seq2[K, uint64], c Config) (*Set, error) {
	b, err := NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := intake.FeedValues(ctx, b.in, keys); err != nil {
		return nil, err
	}
	set, err := b.Build(ctx)
	return set, intake.NameConflict(err, b.Hasher(), keys)
}

// BuildShards builds the sharded set of keys in the folder dir; see NewShardBuilder and ShardBuilder.Build. It ranges
// over keys once and keeps no slice that keys yields.
func BuildShards[K Key](ctx context.Context, keys iter.Seq[K], dir string, c Config) (*shard.Manifest, error) {
	b, err := NewShardBuilder(dir, c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := intake.Feed(ctx, b.in, keys); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}

// Plan returns the filters that meet the needs, best first, with size and times of each. Use the Spec of a choice in a
// Config. Errors are those of plan.For. If no filter meets the needs, the error gives the reason and the nearest
// filters.
func Plan(ctx context.Context, n plan.Needs) (plan.Plan, error) { return plan.For(ctx, n) }
