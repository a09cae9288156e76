package shards

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// Facts returns t itself as Query, because the key determines the shard.
func (t *Set) Facts() engine.Facts {
	return engine.Facts{
		Query: t, Hasher: t.hasher, Hashes: true, Shared: t.options.Concurrent, Planned: &t.planned, Moves: &t.moves,
		Stored: engine.Stored{Bytes: t.manifest.Bytes(), Trimmed: t.trimmed, Shards: len(t.parts)},
	}
}

// Spec returns the Spec of each shard, as it was given to the build.
func (t *Set) Spec() filter.Spec { return t.manifest.Spec }

// Parts returns t.
func (t *Set) Parts() engine.Parts { return t }

// Manifest returns a copy of the manifest, as it was read or last written.
func (t *Set) Manifest() *shard.Manifest { return shardset.Clone(t.manifest) }

// Shard returns a shard, which it loads on first use.
func (t *Set) Shard(i int) (engine.Engine, error) {
	return family.As[engine.Engine](t.shardAt(i))
}

// Check checks all shards that are not loaded completely, without keeping them in memory.
func (t *Set) Check(ctx context.Context, progress func(bytes uint64)) error {
	if err := t.visitAll(func(int, *one.Set) error { return context.Cause(ctx) }, progress); err != nil {
		return err
	}
	return t.Err()
}

// Lacks returns the error for an operation that the family does not have.
func (t *Set) Lacks(a family.Ability) error { return families.Lacks(t.Spec(), a) }

// Info returns sums over the shards, and for rates their means, since an absent key belongs to each shard with the same
// probability. For unchanged shards it takes the rates of the manifest and reads no file.
func (t *Set) Info() (i filter.Info) {
	i.Spec = t.manifest.Spec
	for at := range t.parts {
		part := t.infoOf(at)
		i.Keys += part.Keys
		i.Bits += part.Bits
		i.Late += part.Late
		i.Allowed += part.Allowed
		i.Exceptions += part.Exceptions
		i.ExceptionBits += part.ExceptionBits
		i.FPRPrior += part.FPRPrior
		i.FPRPosterior += part.FPRPosterior
	}

	n, lowest := float64(len(t.parts)), family.LowestRate(t.hasher.ID(), i.Keys)
	i.FPRPrior, i.FPRPosterior = max(i.FPRPrior/n, lowest), max(i.FPRPosterior/n, lowest)
	i.FPRPlanned, i.Form = t.planned, t.hasher.Form()
	return i
}

func (t *Set) infoOf(i int) filter.Info {
	if t.parts[i].changed.Load() {
		if s := t.sets[i].Load(); s != nil {
			return s.Info()
		}
	}
	e, p := t.manifest.Shards[i], &t.parts[i]
	return filter.Info{
		Keys: e.Keys, Bits: p.bits, FPRPrior: e.FPRPrior, FPRPosterior: e.FPRPosterior,
		Allowed: p.allowed, Exceptions: p.exceptions, ExceptionBits: p.exceptionBits,
	}
}

// Len returns the number of keys of all shards.
func (t *Set) Len() (n uint64) {
	for i := range t.parts {
		if s := t.sets[i].Load(); s != nil {
			n += s.Len()
		} else {
			n += t.manifest.Shards[i].Keys
		}
	}
	return n
}

// Err returns the error of a shard that could not be read, or that was changed in place since.
func (t *Set) Err() error {
	for i := range t.sets {
		if f := t.parts[i].failed.Load(); f != nil {
			return f.Err
		}
		if s := t.sets[i].Load(); s != nil {
			if err := s.Err(); err != nil {
				return t.Fail(i, err)
			}
		}
	}
	return nil
}

// Guarded only calls f, because each query guards the shard that it reads.
func (t *Set) Guarded(f func() error) error { return f() }

// Encode returns an error: a folder has no single stored form.
func (t *Set) Encode() (*container.File, error) { return nil, errSharded }

// errSharded is the error of operations on one file.
var errSharded = fmt.Errorf(
	"a sharded Set is a folder of files, not a stream of bytes: %w; take Save, or WriteTo of each Shard",
	filter.ErrUnsupported)

// Except returns an error: the keys of all shards are needed at once.
func (t *Set) Except(*except.Cascade) error {
	return fmt.Errorf("exceptions for a sharded set: %w; build it with them", filter.ErrUnsupported)
}
