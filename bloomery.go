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
	"bufio"
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
)

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
	c, err := c.resolve(context.Background())
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
// gather their keys need no additional memory for this. With Config.Dir it writes a sharded set; see Builder.
//
// Duplicates are allowed, but may increase the size; see Config.Keys. Families that count, such as
// rankindexed(counting=1), count them.
func Build[K Key](ctx context.Context, keys iter.Seq[K], c Config) (*Set, error) {
	return build(ctx, c, func(in *intake.Intake) error { return intake.Feed(ctx, in, keys) })
}

// BuildFrom is Build for a source that can fail: an error that it yields ends the build, which returns it. See Lines.
func BuildFrom[K Key](ctx context.Context, keys iter.Seq2[K, error], c Config) (*Set, error) {
	return build(ctx, c, func(in *intake.Intake) error {
		var failed error
		err := intake.Feed(ctx, in, func(yield func(K) bool) {
			for k, err := range keys {
				if failed = err; err != nil || !yield(k) {
					return
				}
			}
		})
		return cmp.Or(failed, err)
	})
}

// BuildValues returns a Set of keys with values, for a Spec such as ribbon(value_bits=8): see Builder.AddValue. It
// ranges over keys once, and once more to name the key if one has two values: the error then wraps filter.ErrValues. It
// keeps no slice that keys yields.
func BuildValues[K Key](ctx context.Context, keys iter.Seq2[K, uint64], c Config) (*Set, error) {
	var hasher filter.Hasher
	set, err := build(ctx, c, func(in *intake.Intake) error {
		hasher = in.Hasher()
		return intake.FeedValues(ctx, in, keys)
	})
	return set, intake.NameConflict(err, hasher, keys)
}

// build returns the Set of the keys that feed adds.
func build(ctx context.Context, c Config, feed func(in *intake.Intake) error) (*Set, error) {
	b, err := NewBuilder(ctx, c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := feed(b.in); err != nil {
		return nil, err
	}
	return b.Build(ctx)
}

// Lines yields the lines of r, without their ends (LF or CR LF), and the error of r, if there is one. A line is valid
// until the next one. Empty lines are left out. A line of more than 1 MiB is an error.
func Lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if line := lines.Bytes(); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}
