package bloomery

import (
	"context"
	"errors"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/intake"
)

// Builder builds a Set of keys from any number of goroutines. All methods except Build and Close are safe for
// concurrent use, and none of them keeps a key. Every Builder must be closed; after Build, Close does nothing. After
// Build, also a failed one, and Close, all methods that add keys return an error.
//
// A Builder hashes each key when it is added. If it needs the number of keys first, and Config.Keys is 0, it keeps the
// hashes in a spool: in memory up to Config.Memory, then in a temporary file.
//
// With Config.Dir it builds a sharded set. The hashes of the keys, 16 bytes each, then stay in memory up to half of
// Config.Memory, by default 1 GiB; further ones go to a temporary file. Build makes one shard after the other, several
// at a time on a machine with several cores. With Config.Allow, the keys of the list take 16 bytes each too, and one
// half of that limit is for them. Exceptions take about 150 bytes each while their shard is made.
type Builder struct {
	in  *intake.Intake
	mu  sync.Mutex // of Build and Close
	set maker
}

// maker makes the Set of the keys in an Intake: one filter, or a folder of shards.
type maker interface {
	build(ctx context.Context) (*Set, error)
	// specOf returns the Spec of the Config, or the one that the planner has chosen, or zero.
	specOf() filter.Spec
}

// NewBuilder returns a Builder of a Set. Config errors wrap filter.ErrConfig, filter.ErrSpec, filter.ErrFamily or
// filter.ErrTooLarge. With Needs and Keys, or with Needs.ValueBits, it calls the planner, which takes milliseconds. With
// other Needs and without Keys, Build calls the planner.
//
// With Config.Dir it locks the folder for other builders; if one of them has it, the error wraps ErrLocked. It needs
// the number of keys if Config.Shards is 0, or Config has Needs: if Config.Keys is 0, it counts them first.
func NewBuilder(ctx context.Context, c Config) (*Builder, error) {
	if c.Dir != "" {
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

// AddHashes adds keys hashed by Hasher. It does not keep hs. Families that take raw keys return an error wrapping
// errors.ErrUnsupported.
func (b *Builder) AddHashes(hs []filter.Hash) error { return b.in.AddHashes(hs) }

// AddValue adds a key with its value, for a Spec with value_bits=, such as ribbon(value_bits=8): Set.Get of the built
// Set returns the value. A key that comes again must have the same value, or Build returns an error wrapping
// filter.ErrValues, which names the hash of the key. All keys of a ribbon must come with values, and with Like all keys
// if that Set has values. In a rankindexed filter, whose values can change, other keys have the value 0; of keys that
// look alike, Get returns the value of one.
//
// The error wraps errors.ErrUnsupported if the family takes no values at the build, and filter.ErrConfig if the Spec
// has no value_bits or the value has more bits. Then the key is not added. With Config.Dir, values need Config.Shards
// or Config.Keys, so that the number of shards is known, and no Config.Allow; all keys of the set must then come with
// values, or Build returns an error wrapping filter.ErrConfig.
func (b *Builder) AddValue(key []byte, value uint64) error {
	return b.in.AddValueHash(b.in.Hasher().Sum(key), value)
}

// AddManyValues adds keys with their values; values[i] is that of keys[i]. Batches of a few thousand keys are fastest.
// Errors are those of AddValue, and then none of these keys is added. It panics if keys and values differ in length.
func (b *Builder) AddManyValues(keys [][]byte, values []uint64) error {
	return b.in.AddManyValues(keys, values)
}

// Hasher returns the hash function of the keys.
func (b *Builder) Hasher() filter.Hasher { return b.in.Hasher() }

// Spec returns the Spec of the filter, or of each shard. It is zero until the planner has chosen.
func (b *Builder) Spec() filter.Spec { return b.set.specOf() }

// Build returns the Set of all keys that were added. No Add may run at the same time. When ctx ends, Build returns
// ctx.Err(). If context.WithCancelCause ends it with filter.ErrEnough, the search stops early and Build returns its
// result. The error wraps filter.ErrFull if the filter has no room for all keys or they are more than Config.Capacity,
// filter.ErrKeys if Config.Keys was not their number, and filter.ErrRate if the filter exceeds Config.MaxFPR. The
// Builder cannot be used afterwards.
//
// With Config.Dir it writes the shards and, as the last file, the manifest, removes the files of the set that it
// replaces, and opens the folder: close the Set when done. On error, or when ctx ends, the folder is as it was before.
func (b *Builder) Build(ctx context.Context) (*Set, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return built(ctx, b.in, b.set)
}

// built returns what m makes of the keys in an Intake, and closes that.
func built(ctx context.Context, in *intake.Intake, m maker) (set *Set, err error) {
	if err = in.Flush(); err == nil {
		set, err = m.build(ctx)
	}
	if err := errors.Join(err, in.Close(intake.ErrSpent)); err != nil {
		return nil, err
	}
	return set, nil
}

// Close drops the keys, removes their temporary file and unlocks the folder of a sharded set. No Add may run at the
// same time.
func (b *Builder) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.in.Close(intake.ErrSpent)
}
