package exact

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/gather"
	"github.com/bloomery/bloomery/internal/shrink"
)

const (
	// MaxKeys is the largest number of keys of a universe.
	MaxKeys = 1<<40 - 1
	// MaxPartitions is the largest number of partitions.
	MaxPartitions = 1<<31 - 1
)

// Config is the options of a build. The zero value hashes with XXH3 and seed 0, has no partitions and no memory limit.
type Config struct {
	Seed   uint64         // of the hash function, unless there is a Secret
	Secret *filter.Secret // for a keyed hash, which the file does not contain
	// Partitioned says that keys have partitions: use AddMembersIn and AddUniverseIn.
	Partitioned bool
	// Memory is the number of bytes of key hashes to keep in memory, 0 for no limit; further ones go to temporary
	// files. A key of the universe takes 16 bytes and a member 32. The finished set, the names of partitions and
	// buffers of about 20 MiB come in addition.
	Memory   int64
	TempDir  string                // of the files; os.TempDir() if empty
	Workers  int                   // goroutines, GOMAXPROCS if 0; the set does not depend on it
	Progress func(filter.Progress) // called about ten times a second while Build runs, from one goroutine; may be nil
	// Shrink is the largest fraction of the members, and of the universe, that Update may lose, in [0, 1], by their
	// numbers. 0: 10% of the members, and nothing of the universe. 1: all. Build ignores it.
	Shrink float64

	hashed *filter.Hasher // in place of Seed and Secret; see Set.Config
}

func (c Config) hasher() filter.Hasher {
	if c.hashed != nil {
		return *c.hashed
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
	keys   *gather.Keys
	names  names
	stages // of Build or Update

	toggled []filter.Hash // of an update: the keys whose answer it toggles, ascending; nil if they are not known yet
}

// NewBuilder returns an empty Builder. It returns an error wrapping filter.ErrConfig if Secret and Seed are both set,
// or a number is out of range.
func NewBuilder(c Config) (*Builder, error) {
	switch _, err := shrink.Allowed(c.Shrink, 0); {
	case err != nil:
		return nil, err
	case c.Secret != nil && c.Seed != 0:
		return nil, &filter.ConfigError{Field: "seed", Value: c.Seed, Reason: "a keyed hash has a secret, and no seed"}
	case c.Memory < 0:
		return nil, &filter.ConfigError{Field: "memory", Value: c.Memory, Reason: "want 0 or more bytes"}
	case c.Workers < 0:
		return nil, &filter.ConfigError{Field: "workers", Value: c.Workers, Reason: "want 0 or more"}
	}
	// The other half of the memory is for the keys of the levels.
	return &Builder{config: c, hasher: c.hasher(), stages: stages{report: c.Progress}, keys: gather.New(gather.Config{
		Memory: c.Memory - c.Memory/2, Dir: c.TempDir, Workers: c.Workers,
	})}, nil
}

// Hasher returns the hash function of the keys.
func (b *Builder) Hasher() filter.Hasher { return b.hasher }

// The lowest 32 bits of Lo of a gathered hash: partition·2, plus memberBit for a member.
const memberBit = 1

// AddMembers adds members. It returns an error if keys cannot be written to a temporary file, or if the set is
// partitioned.
func (b *Builder) AddMembers(keys [][]byte) error { return b.add(nil, keys, memberBit) }

// AddUniverse adds keys of the universe. Errors are those of AddMembers.
func (b *Builder) AddUniverse(keys [][]byte) error { return b.add(nil, keys, 0) }

// AddMembersIn adds members and their partitions, of a partitioned set. It returns an error if keys cannot be written
// to a temporary file, there are more than MaxPartitions partitions, or the set is not partitioned. It panics if there
// are not as many partitions as keys.
func (b *Builder) AddMembersIn(partitions, keys [][]byte) error {
	return b.addIn(partitions, keys, memberBit)
}

// AddUniverseIn adds keys of the universe and their partitions. Errors are those of AddMembersIn.
func (b *Builder) AddUniverseIn(partitions, keys [][]byte) error { return b.addIn(partitions, keys, 0) }

func (b *Builder) addIn(partitions, keys [][]byte, bit uint64) error {
	if len(partitions) != len(keys) {
		panic(fmt.Sprintf("exact: %d partitions for %d keys", len(partitions), len(keys)))
	}
	return b.add(partitions, keys, bit)
}

func (b *Builder) add(partitions, keys [][]byte, bit uint64) error {
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
		if partitions != nil && (i == 0 || string(partitions[i]) != string(partitions[i-1])) {
			var err error
			if id, err = b.names.id(partitions[i]); err != nil {
				return err
			}
		}
		hs[i].Lo |= id<<1 | bit
	}
	return b.keys.AddMany(hs)
}

// Close drops the keys and removes their file. Build calls it.
func (b *Builder) Close() error { return b.keys.Close() }

// Build returns the set. If a member is not in the universe, the error is an *OutsideError. If ctx ends first, it
// returns ctx.Err(). Other errors are those of temporary files, or wrap filter.ErrTooLarge.
func (b *Builder) Build(ctx context.Context) (*Set, error) {
	r, err := b.build(ctx)
	if err = errors.Join(err, b.Close()); err != nil {
		return nil, err
	}
	return &Set{version: version, hasher: b.hasher, records: []*record{r}}, nil
}

// names numbers the partitions in the order of their first use.
type names struct {
	mu  sync.RWMutex
	ids map[string]uint32
}

// id returns the number of a partition.
func (n *names) id(name []byte) (uint64, error) {
	n.mu.RLock()
	id, ok := n.ids[string(name)]
	n.mu.RUnlock()
	if ok {
		return uint64(id), nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
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

// feedBatch is the number of keys that are added together.
const feedBatch = 1 << 10

// Build returns the exact set of members in a universe, which must have all of them. Both are read once; if members are
// not in the universe, members is read again, to name some of them in the *OutsideError. Keys may be reused after yield
// has returned. Errors are those of NewBuilder and Builder.Build. For many goroutines use a Builder.
func Build(ctx context.Context, members, universe iter.Seq[[]byte], c Config) (*Set, error) {
	c.Partitioned = false
	return build(ctx, alone(members), alone(universe), c)
}

// BuildPartitioned is Build for pairs of a partition and a key.
func BuildPartitioned(ctx context.Context, members, universe iter.Seq2[[]byte, []byte], c Config) (*Set, error) {
	c.Partitioned = true
	return build(ctx, members, universe, c)
}

// alone returns keys without partitions.
func alone(keys iter.Seq[[]byte]) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		for key := range keys {
			if !yield(nil, key) {
				return
			}
		}
	}
}

func build(ctx context.Context, members, universe iter.Seq2[[]byte, []byte], c Config) (s *Set, err error) {
	err = gathered(ctx, members, universe, c, func(b *Builder) error {
		s, err = b.Build(ctx)
		return err
	})
	return s, err
}

// gathered calls build with a Builder that has all keys, and names members that are not in the universe.
func gathered(
	ctx context.Context, members, universe iter.Seq2[[]byte, []byte], c Config, build func(*Builder) error,
) error {
	b, err := NewBuilder(c)
	if err != nil {
		return err
	}
	err = feed(ctx, members, c.Partitioned, func(p, k [][]byte) error { return b.add(p, k, memberBit) })
	if err == nil {
		err = feed(ctx, universe, c.Partitioned, func(p, k [][]byte) error { return b.add(p, k, 0) })
	}
	if err != nil {
		return errors.Join(err, b.Close())
	}
	err = build(b)
	var outside *OutsideError
	if errors.As(err, &outside) {
		_ = feed(ctx, members, c.Partitioned, func(p, k [][]byte) error {
			outside.Name(p, k)
			return nil
		})
	}
	return err
}

// feed calls f with copies of all keys, in batches, until ctx ends.
func feed(
	ctx context.Context, keys iter.Seq2[[]byte, []byte], partitioned bool, f func(partitions, keys [][]byte) error,
) error {
	var text []byte // of the partitions and keys of a batch, by turns
	var ends []int
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var partitions, batch [][]byte
		at := 0
		for i, end := range ends {
			if part := text[at:end:end]; i%2 == 1 {
				batch = append(batch, part)
			} else if partitioned {
				partitions = append(partitions, part)
			}
			at = end
		}
		text, ends = text[:0], ends[:0]
		return f(partitions, batch)
	}
	for partition, key := range keys {
		text = append(text, partition...)
		ends = append(ends, len(text))
		text = append(text, key...)
		if ends = append(ends, len(text)); len(ends) >= 2*feedBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
