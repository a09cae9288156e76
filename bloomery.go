// Package bloomery builds, queries and stores Bloom filters and their smaller and faster relatives. A filter answers
// "is this key in the set?" from a few bits per key. A no is always right. A yes is wrong for few other keys, at a rate
// that you choose. Build a [Set] of a list and save it. Open the file elsewhere and ask, from any number of goroutines:
//
//	set, err := bloomery.Build(ctx, slices.Values(domains), bloomery.Config{FPR: 0.001})
//	err = set.Save(ctx, "domains.bloom")
//
//	set, err = bloomery.Open(ctx, "domains.bloom")
//	listed := set.ContainsString("yopmail.com") // of absent domains, one in a thousand gets true
//
// [Build] makes a static Set, the smallest. [New] makes an empty one, and [Set.Add] adds keys at any time. Keys are
// bytes, strings or integers; see [Keyed]. Config.Spec names a family, as in blocked(fpr=0.001); with Config.Needs
// package [plan] chooses one. Five of the [families], with bits per key at a rate of 0.1%:
//
//	ribbon       10.0  static and smallest, the default of Build; also stores a value with each key
//	fuse         11.3  static, with the fastest queries
//	standard     14.4  the plain Bloom filter, the default of New: keys at any time, union and intersection
//	blocked      15.6  the same with one cache line per query
//	rankindexed  13.0  keys come and go, are counted, or have values that change
//
// Other types and functions:
//
//   - Sources of keys: [BuildFrom] and [Lines] for files, [BuildValues] for values, [Builder] for many goroutines.
//   - Files that change: [OpenLive] follows a file that is replaced, [Lock] locks one to change it.
//   - Several filters: [Set.Merge] and [MergeFiles]. Long lists: [Addition], [Removal], [Allower] and [Verifier].
//   - Large sets: [Sharding] makes a folder with a file for each part of the keys. Open and use it like a file.
//
// Other packages:
//
//   - [github.com/bloomery/bloomery/filter]: the errors to test for with errors.Is, and what to do about each; specs
//   - [github.com/bloomery/bloomery/window]: a filter that forgets keys after a time, to deduplicate a stream
//   - [github.com/bloomery/bloomery/publish], [github.com/bloomery/bloomery/delta]: updates of a list for many readers
//   - [github.com/bloomery/bloomery/exact]: sets that make no error among known keys
//   - [github.com/bloomery/bloomery/interop]: the filters of Parquet, Guava, Spark and RedisBloom
//   - [github.com/bloomery/bloomery/shard], [github.com/bloomery/bloomery/distribute]: sets larger than a machine
//
// [families]: https://github.com/bloomery/bloomery/blob/main/docs/families/README.md
package bloomery

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
)

// New returns an empty Set with room for Config.Keys or Config.Capacity keys, whichever is more. One of the two must be
// set, unless the Spec has a size, such as capacity= or bytes=, or grows, as rankindexed(capacity=1000,growth=10) does;
// or, without a Spec, Needs has Later or Bytes. The error wraps filter.ErrConfig if no size is set. It also does if
// Like, Allow or Sharding is set: use [Build]. For static families, such as ribbon, it wraps errors.ErrUnsupported:
// use [Build]. In families that can be full, Add then returns an error wrapping filter.ErrFull, unless the Spec has
// growth=.
func New(c Config) (*Set, error) {
	if err := errors.Join(c.checkOne(), c.checkNew()); err != nil {
		return nil, err
	}
	if open := c.open(); !open {
		c.Keys = max(c.Keys, c.Capacity)
		c.Spec = cmp.Or(c.Spec, defaultOfNew)
	} else if max(c.Keys, c.Capacity, c.Needs.Later, c.Needs.Bytes) == 0 {
		return nil, intake.NoKeys()
	}

	most := c.mostFPR()
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

	h, err := kind.Hasher(spec, families.Hashing(c.Hashing))
	if err != nil {
		return nil, err
	}
	if err := kind.Check(spec); err != nil {
		return nil, err
	}

	rate := engine.LowerRate(cmp.Or(c.keptRate(), kind.DefaultFPR), c.Limits.FPR)
	keys, err := intake.Room(kind, spec, c.Keys, rate)
	if err != nil {
		return nil, err
	}
	if err := intake.CheckSize(kind, spec, keys, c.Limits.Bytes); err != nil {
		return nil, err
	}
	if err := engine.CheckForecast(kind, spec, keys, most); err != nil {
		return nil, err
	}

	f, err := kind.New(spec, keys)
	if err != nil {
		return nil, err
	}

	set, err := newSet(f, h, c.Concurrent)
	if err == nil {
		set.choose(cmp.Or(c.FPR, engine.PlannedFPR(set.inner(), kind, spec, c.Keys)))
	}
	return set, err
}

// Build returns a Set of keys. It ranges over keys once and keeps no slice that keys yields. Duplicates are allowed;
// see Config.Keys. When ctx ends, Build returns ctx.Err(). Other errors come from [NewBuilder] and [Builder.Build].
func Build[K filter.Key](ctx context.Context, keys iter.Seq[K], c Config) (*Set, error) {
	return build(ctx, c, func(in *intake.Intake) error { return intake.Feed(ctx, in, keys) })
}

// BuildFrom is [Build] for a source that can fail, such as [Lines]. If keys yields an error, BuildFrom returns it.
func BuildFrom[K filter.Key](ctx context.Context, keys iter.Seq2[K, error], c Config) (*Set, error) {
	return build(ctx, c, func(in *intake.Intake) error { return intake.FeedFrom(ctx, in, keys) })
}

// BuildValues is [Build] of keys with values, for a Spec such as ribbon(value_bits=8); see [Builder.AddValue]. If a key
// has two values, the error wraps filter.ErrValues; BuildValues ranges over keys again to name the key in it.
func BuildValues[K filter.Key](ctx context.Context, keys iter.Seq2[K, uint64], c Config) (*Set, error) {
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

// Lines yields the lines of r, without their line endings (LF or CR LF), and the error of r, if there is one. It skips
// empty lines. A line is valid until the next one. A line of more than 1 MiB is an error.
func Lines(r io.Reader) iter.Seq2[[]byte, error] { return intake.Lines(r) }

// Builder builds a Set of keys from any number of goroutines. All methods except Build and Close are safe for
// concurrent use, and none keeps a key. Close every Builder; after Build, Close does nothing. After Build, even if it
// failed, and after Close, the methods that add keys return an error.
//
// A Builder hashes each key when it is added. If it needs the number of keys first, and Config.Keys is 0, it keeps the
// hashes, 16 bytes each: in memory up to Building.Memory, then in a temporary file.
//
// With Sharding.Dir it keeps all hashes: in memory up to half of Building.Memory, by default 1 GiB, then in a temporary
// file. Build makes one shard per core at a time. Keys of Config.Allow also take 16 bytes each, up to half of that
// limit, and each exception takes about 150 bytes while its shard is made.
type Builder struct {
	in  *intake.Intake
	mu  sync.Mutex // lock of Build and Close
	set maker
}

// maker makes the Set of the keys in an Intake: one filter, or a folder of shards.
type maker interface {
	build(ctx context.Context) (*Set, error)
	// specOf returns the Spec of the Config, or the one that the planner has chosen, or zero.
	specOf() filter.Spec
}

// NewBuilder returns a Builder of a Set. The error wraps filter.ErrConfig, filter.ErrSpec, filter.ErrFamily or
// filter.ErrTooLarge. With Needs and Keys, or with Needs.ValueBits, it calls the planner, which takes milliseconds;
// with other Needs, Build calls it.
//
// With Sharding.Dir it locks the folder. If another builder has the lock, the error wraps filter.ErrLocked.
func NewBuilder(ctx context.Context, c Config) (*Builder, error) {
	if c.Sharding.Dir != "" {
		b, err := newShardBuild(ctx, c)
		if err != nil {
			return nil, err
		}
		return &Builder{in: b.in, set: b}, nil
	}

	b, err := newOneBuild(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Builder{in: b.in, set: b}, nil
}

// Add adds a key.
func (b *Builder) Add(key []byte) error { return b.in.Add(key) }

// AddString is Add for a string.
func (b *Builder) AddString(key string) error { return b.in.AddString(key) }

// AddMany adds keys. Batches of a few thousand keys are fastest.
func (b *Builder) AddMany(keys [][]byte) error { return b.in.AddMany(keys) }

// AddHashes adds keys hashed by Hasher. It does not keep hs. For families that take raw keys, the error wraps
// errors.ErrUnsupported.
func (b *Builder) AddHashes(hs []filter.Hash) error { return b.in.AddHashes(hs) }

// AddValue adds a key with its value, which Set.Get returns, for a Spec with value_bits=. In ribbon, and with Like if
// that Set has values, every key needs a value; in rankindexed other keys have the value 0. If a key is added again
// with another value, Build returns an error wrapping filter.ErrValues, which names the hash of the key. In
// rankindexed, Get returns the value of one of the keys with the same fingerprint.
//
// The error wraps errors.ErrUnsupported if the family takes no values at the build, and filter.ErrConfig if the Spec
// has no value_bits or the value has more bits. Then the key is not added. With Sharding.Dir, values need
// Sharding.Shards or Config.Keys, no Config.Allow, and a value for every key; else Build returns an error wrapping
// filter.ErrConfig.
func (b *Builder) AddValue(key []byte, value uint64) error {
	return b.in.AddValueHash(b.in.Hasher().Sum(key), value)
}

// AddManyValues adds keys with their values; values[i] belongs to keys[i]. If AddValue would fail for one of them, it
// adds none. It panics if keys and values differ in length.
func (b *Builder) AddManyValues(keys [][]byte, values []uint64) error {
	return b.in.AddManyValues(keys, values)
}

// AddHashValues is AddManyValues for keys hashed by Hasher. It does not keep the slices.
func (b *Builder) AddHashValues(hs []filter.Hash, values []uint64) error {
	return b.in.AddValueHashes(hs, values)
}

// Spec returns the Spec of the filter, or of each shard, that Build makes. It is zero until the planner has chosen it,
// and for a sharded set until the number of shards is known: with Config.Keys unset, both happen in Build. Do not call
// it while Build runs.
func (b *Builder) Spec() filter.Spec { return b.set.specOf() }

// Hasher returns the hash function of the keys.
func (b *Builder) Hasher() filter.Hasher { return b.in.Hasher() }

// Build returns the Set of all keys that were added. No Add may run at the same time. When ctx ends, Build returns
// ctx.Err(). If context.WithCancelCause ends it with filter.ErrEnough, the search stops early and Build returns its
// result. The error wraps filter.ErrFull if the filter has no room for all keys or there are more keys than
// Config.Capacity, filter.ErrKeys if their number is not Config.Keys, and filter.ErrRate if the filter exceeds
// Limits.FPR.
//
// With Sharding.Dir it writes the shards, then the manifest, then removes the files of the set that it replaces, and
// opens the folder: close the Set when done. On error, or when ctx ends before the manifest is written, the folder is
// as it was before; an error of opening says that the set was built.
func (b *Builder) Build(ctx context.Context) (*Set, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return built(ctx, b.in, b.set)
}

// built returns the Set that m makes of the keys in an Intake, and closes the Intake.
func built(ctx context.Context, in *intake.Intake, m maker) (set *Set, err error) {
	if err = in.Flush(); err == nil {
		set, err = m.build(ctx)
	}
	if err := errors.Join(err, in.Close(intake.ErrSpent)); err != nil {
		if set != nil {
			_ = set.Close()
		}
		return nil, err
	}
	return set, nil
}

// Close drops the keys, removes their temporary file and unlocks Sharding.Dir. No Add may run at the same time.
func (b *Builder) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.in.Close(intake.ErrSpent)
}
