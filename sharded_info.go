package bloomery

import (
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// Manifest returns a copy of the manifest of a sharded Set, as it was read or last written, or nil for other Sets.
func (s *Set) Manifest() *shard.Manifest {
	if s.shards == nil {
		return nil
	}
	m := *s.shards.manifest
	m.Shards = slices.Clone(m.Shards)
	return &m
}

// Shard returns the Set of one shard of a sharded Set, which it loads on first use. Do not change or close it. The
// error is a *shard.Error if the shard cannot be read; it wraps filter.ErrConfig if there is no such shard.
func (s *Set) Shard(i int) (*Set, error) {
	if s.shards == nil || i < 0 || i >= len(s.shards.sets) {
		return nil, fmt.Errorf("shard %d of a Set with %d shards: %w", i, s.Stored().Shards, filter.ErrConfig)
	}
	return s.shards.get(i)
}

// Check reads all shards of a sharded Set that are not loaded and checks them completely, without keeping them in
// memory. progress, if not nil, is called with the number of bytes checked so far. It returns a *shard.Error for the
// first shard that is damaged, missing or foreign, or the cause of ctx if that ends, and otherwise Err. For other Sets,
// which Open has checked, it returns Err.
func (s *Set) Check(ctx context.Context, progress func(bytes uint64)) error {
	if s.shards != nil {
		if err := s.shards.visit(func(int, *Set) error { return context.Cause(ctx) }, progress); err != nil {
			return err
		}
	}
	return s.Err()
}

// info is Info for all shards: sums, and means of rates, since an absent key belongs to each shard with the same
// probability. For shards that have not been changed it takes the rates of the manifest and reads nothing.
func (t *shards) info() (i filter.Info) {
	i.Spec = t.manifest.Spec
	for at := range t.parts {
		one := t.shardInfo(at)
		i.Keys += one.Keys
		i.Bits += one.Bits
		i.Late += one.Late
		i.Allowed += one.Allowed
		i.Exceptions += one.Exceptions
		i.ExceptionBits += one.ExceptionBits
		i.FPRPrior += one.FPRPrior
		i.FPRPosterior += one.FPRPosterior
	}
	n := float64(len(t.parts))
	i.FPRPrior, i.FPRPosterior = i.FPRPrior/n, i.FPRPosterior/n
	return i
}

func (t *shards) shardInfo(i int) filter.Info {
	if t.parts[i].changed.Load() {
		if set := t.sets[i].Load(); set != nil {
			return set.Info()
		}
	}
	e, p := t.manifest.Shards[i], &t.parts[i]
	return filter.Info{
		Keys: e.Keys, Bits: p.bits, FPRPrior: e.FPRPrior, FPRPosterior: e.FPRPosterior,
		Allowed: p.allowed, Exceptions: p.exceptions, ExceptionBits: p.exceptionBits,
	}
}

// keys returns Len of all shards.
func (t *shards) keys() (n uint64) {
	for i := range t.parts {
		if set := t.sets[i].Load(); set != nil {
			n += set.Len()
		} else {
			n += t.manifest.Shards[i].Keys
		}
	}
	return n
}

// err returns the error of a shard that could not be read, or that was changed in place since.
func (t *shards) err() error {
	for i := range t.sets {
		if f := t.parts[i].failed.Load(); f != nil {
			return f.Err
		}
		if set := t.sets[i].Load(); set != nil {
			if err := set.Err(); err != nil {
				return t.fail(i, err)
			}
		}
	}
	return nil
}

// shardedStored is Stored for a sharded Set.
func (t *shards) stored() Stored {
	return Stored{Bytes: t.manifest.Bytes(), Version: t.version, Trimmed: t.trimmed, Shards: len(t.parts)}
}
