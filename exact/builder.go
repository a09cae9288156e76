package exact

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/drift"
	"github.com/bloomery/bloomery/internal/hashes"
)

const (
	// MaxKeys is the largest number of keys of a universe.
	MaxKeys = 1<<40 - 1
	// MaxPartitions is the largest number of partitions.
	MaxPartitions = 1<<31 - 1
)

// Config configures a build. The zero value hashes with XXH3 and seed 0, and has no partitions and no memory limit.
type Config struct {
	Seed        uint64         // seed of the hash function; unused with a Secret
	Secret      *filter.Secret // secret for a keyed hash, which the file does not contain
	Partitioned bool           // keys have partitions
	// Base, if not nil, is updated: Build returns Base with one more record, which makes it answer for the members and
	// the universe that are added. The universe may differ from the universe of Base. The record takes about
	// log2(universe/toggled) + 2 bits for each key whose answer it toggles, and 30 to 50 bytes in addition; if nothing
	// has changed, there is no record. Info.Changed describes the changes. The new set has the hash function and
	// partitions of Base; the fields above are ignored.
	Base *Set
	// Shrink is the largest fraction of the members, and of the universe, that an update of Base may lose, in [0, 1].
	// Above it the error wraps filter.ErrShrunk: a list that was cut off would remove members. Build compares the
	// numbers of keys, since a set does not store its keys. 0: 10% of the members, and none of the universe. 1: all.
	Shrink float64
	// Memory is the number of bytes of key hashes to keep in memory, 0 for no limit; further ones go to temporary
	// files. A key of the universe takes 16 bytes and a member 32. The limit does not include the finished set, the
	// names of partitions, buffers of about 20 MiB, and 16 bytes for each key that an update toggles.
	Memory   int64
	TempDir  string                // folder of the files; os.TempDir() if empty
	Workers  int                   // goroutines, GOMAXPROCS if 0; the set does not depend on it
	Progress func(filter.Progress) // called by Build, 10 times a second, by one goroutine; may be nil
}

func (c Config) hasher() filter.Hasher {
	if c.Base != nil {
		return c.Base.hasher
	}
	if c.Secret != nil {
		return filter.NewKeyedHasher(*c.Secret)
	}
	return filter.NewHasher(c.Seed)
}

// Builder gathers the members and the keys of the universe, in any order, and builds a set. Every member must also be
// added to the universe. Duplicates are dropped. The methods that add keys may be called from several goroutines at
// once and keep no reference to the keys. Then call Build once, or Close.
type Builder struct {
	config Config
	hasher filter.Hasher
	keys   *hashes.Sorted
	names  names
	stages // of Build

	toggled []filter.Hash // in an update, the keys whose answer it toggles, ascending; nil until they are known
}

// NewBuilder returns an empty Builder. The error wraps filter.ErrConfig if Secret and Seed are both set or a number is
// out of range, or is ErrUpdates.
func NewBuilder(c Config) (*Builder, error) {
	switch _, err := drift.AllowedShrink(c.Shrink, 0); {
	case err != nil:
		return nil, err
	case c.Base == nil && c.Secret != nil && c.Seed != 0:
		return nil, &filter.ConfigError{Field: "seed", Value: c.Seed, Reason: "a keyed hash has a secret, and no seed"}
	case c.Memory < 0:
		return nil, &filter.ConfigError{Field: "memory", Value: c.Memory, Reason: "want 0 or more bytes"}
	case c.Workers < 0:
		return nil, &filter.ConfigError{Field: "workers", Value: c.Workers, Reason: "want 0 or more"}
	}
	if c.Base != nil {
		if err := c.Base.updatable(); err != nil {
			return nil, err
		}
		// Either all records of a file have partitions or none does, so the Base decides.
		c.Partitioned = c.Base.partitioned()
	}

	// Half of the memory is for the gathered hashes, the other half for the builders of the parts (beginParts).
	keys := hashes.NewSorted(hashes.Config{Memory: c.Memory - c.Memory/2, Dir: c.TempDir, Workers: c.Workers})

	return &Builder{config: c, hasher: c.hasher(), stages: stages{report: c.Progress}, keys: keys}, nil
}

// The lowest 32 bits of Lo of a gathered hash: partition·2, plus memberBit for a member.
const memberBit = 1

// AddMembers adds members. With Config.Partitioned, partitions[i] is the partition of keys[i]; without it, there must
// be no partitions. Otherwise the error wraps filter.ErrConfig. It wraps filter.ErrTooLarge for more than MaxPartitions
// partitions; other errors come from a temporary file. AddMembers panics if partitions is neither empty nor as long as
// keys.
func (b *Builder) AddMembers(keys [][]byte, partitions ...[]byte) error {
	return b.addKeys(partitionsOf(keys, partitions), keys, memberBit)
}

// AddUniverse adds keys of the universe. Arguments and errors are as for AddMembers.
func (b *Builder) AddUniverse(keys [][]byte, partitions ...[]byte) error {
	return b.addKeys(partitionsOf(keys, partitions), keys, 0)
}

func (b *Builder) addKeys(partitions, keys [][]byte, bit uint64) error {
	if len(keys) == 0 {
		return nil
	}
	if (partitions != nil) != b.config.Partitioned {
		return &filter.ConfigError{Field: "partitioned", Value: b.config.Partitioned,
			Reason: "add keys with partitions to a partitioned set, and only to one"}
	}

	hs := sumAll(b.hasher, partitions, keys)
	var id uint64
	for i := range hs {
		// Keys usually come grouped by partition, so a name is looked up only when it changes.
		if partitions != nil && (i == 0 || string(partitions[i]) != string(partitions[i-1])) {
			var err error
			if id, err = b.names.numberOf(partitions[i]); err != nil {
				return err
			}
		}
		hs[i].Lo |= id<<1 | bit
	}
	return b.keys.AddMany(hs)
}

// Close drops the keys and removes their file. Build calls it.
func (b *Builder) Close() error { return b.keys.Close() }

// Build returns the set: a new one, or Config.Base with an update. If a member is not in the universe, the
// error is an *OutsideError. If ctx ends first, Build returns ctx.Err(). Other errors wrap filter.ErrShrunk or
// filter.ErrTooLarge, or come from temporary files.
func (b *Builder) Build(ctx context.Context) (s *Set, err error) {
	err = b.finish(ctx)
	switch {
	case err != nil:
	case b.config.Base != nil:
		s, err = b.update(ctx)
	default:
		s, err = b.buildNew(ctx)
	}
	// Close removes temporary files, so it must also run after an error.
	if err = errors.Join(err, b.Close()); err != nil {
		return nil, err
	}
	return s, nil
}

func (b *Builder) buildNew(ctx context.Context) (*Set, error) {
	counts, err := b.countKeys(ctx)
	if err != nil {
		return nil, err
	}
	r, err := b.record(ctx, counts)
	if err != nil {
		return nil, err
	}
	return &Set{hasher: b.hasher, records: []*record{r}}, nil
}

// names numbers the partitions in the order of their first use.
type names struct {
	mu  sync.RWMutex
	ids map[string]uint32
}

// numberOf returns the number of a partition.
func (n *names) numberOf(name []byte) (uint64, error) {
	n.mu.RLock()
	id, ok := n.ids[string(name)]
	n.mu.RUnlock()
	if ok {
		return uint64(id), nil
	}

	n.mu.Lock()
	defer n.mu.Unlock()
	// Another goroutine may have numbered the name between the two locks.
	if id, ok = n.ids[string(name)]; ok {
		return uint64(id), nil
	}
	if len(n.ids) == MaxPartitions {
		return 0, fmt.Errorf("more than %d partitions are %w", MaxPartitions, filter.ErrTooLarge)
	}
	if n.ids == nil {
		n.ids = map[string]uint32{}
	}

	id = uint32(len(n.ids))
	n.ids[string(name)] = id
	return uint64(id), nil
}
