// Package engine defines what a Set of package bloomery stands on. An Engine is one filter (package one: in memory,
// mapped, of raw keys, for many writers, or none at all) or a folder of them (package shards). A new form of a Set is a
// new Engine: Set itself does not ask which one it has.
//
//	Set.Contains ──► Front.Filter ─┬─► a filter in memory
//	             └─► raw keys      ├─► one.Set: a mapped filter
//	                               └─► shards.Set ──► a filter, or the one.Set of a shard
package engine

import (
	"context"
	"io/fs"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/shard"
)

// Engine is a filter, or several, with the hasher of the keys. The methods of bloomery.Set describe what most methods
// do. Queries are safe for concurrent use; changes need exclusive use, unless the Engine is for many writers.
type Engine interface {
	Queries
	Changes
	Facts
	Files
}

// Queries ask for keys.
type Queries interface {
	// Contains reports whether a key may be in the set. raw is nil, or the bytes of the key if Front.Takes is RawKeys; the
	// hash is then not used. No method keeps raw.
	Contains(h filter.Hash, raw []byte) bool
	// Ask is Contains that returns an error if the answer cannot be known; it is then true.
	Ask(h filter.Hash, raw []byte) (bool, error)
	// HasMany and ContainsMany set dst[i] to the answer for key i. The lengths agree.
	HasMany(dst []bool, hs []filter.Hash)
	ContainsMany(dst []bool, keys Keys)
	Count(h filter.Hash) (n uint64, saturated bool, err error)
	Get(h filter.Hash) (value uint64, ok bool, err error)
	ValueBits() (int, error)
}

// Changes change the keys.
type Changes interface {
	Add(h filter.Hash, raw []byte) error
	AddMany(keys Keys) error
	TestAndAdd(h filter.Hash, raw []byte) (present bool, err error)
	Remove(h filter.Hash) error
	// Valuer returns the filter that holds a key, ready to be changed.
	Valuer(h filter.Hash) (filter.Valuer, error)
	Reset() error
	// Combine merges with o if how is filter.CanMerge, and intersects with it if it is filter.CanIntersect. o may be nil.
	Combine(o Engine, how filter.Ability) error
	// Take takes over the filters of o, which were built for the same place. o must not be used afterwards.
	Take(o Engine) error
	SetChosen(rate float64)
	// NewExceptions returns a Builder of exceptions, with about the geometry of those of like, which may be nil. Except
	// gives the filter exceptions, in place of those that it has.
	NewExceptions(like Engine) (*except.Builder, error)
	Except(c *except.Cascade) error
}

// Facts describe the filter.
type Facts interface {
	// Front is what Set needs to pass on keys. It is asked for again when *Front.Moves has changed.
	Front() Front
	// Filter returns the filter, with its exceptions if it has some, or nil if there is none or several.
	Filter() filter.Filter
	Spec() filter.Spec
	Info() filter.Info
	Chosen() float64
	Len() uint64
	EstimateKeys() float64
	EstimateInterval() (Estimate, error)
	EstimateOverlap(o Engine) (Overlap, error)
	// EstimateLoss is filter.LossEstimator; it returns simple if the family has none.
	EstimateLoss(simple, keep float64) float64
	Equal(o Engine) bool
	// Can returns an error unless the family has an ability. Lacks returns the error for an operation that the filter does
	// not have.
	Can(a filter.Ability) error
	Lacks(a filter.Ability) error
	// Exceptions reports whether there are exceptions: keys of a list that are not members and absent.
	Exceptions() bool
}

// Files are the ways from and to files.
type Files interface {
	Stored() Stored
	// Parts returns the shards, or nil if there are none.
	Parts() Parts
	// Copy returns a copy that shares nothing. It is in the form for one writer if plain is true, else in the same form.
	Copy(plain bool) (Engine, error)
	// Form returns the set in the trimmed or the full form for files.
	Form(trimmed bool) (Engine, error)
	// Encode returns the stored form of one filter. It is used in Guarded.
	Encode() (*container.File, error)
	// Guarded calls f, which reads the filter, and returns its error, or that of a fault of the mapping.
	Guarded(f func() error) error
	Save(ctx context.Context, path string) error
	// Replace replaces the file or folder at path, which was was when it was read, by the set of by, or by the set itself
	// if by is the same Engine.
	Replace(ctx context.Context, path string, was fs.FileInfo, by Engine) error
	// Check reads what was not read yet and checks it.
	Check(ctx context.Context, progress func(bytes uint64)) error
	Err() error
	// Close releases what was read from files. Contains is true afterwards.
	Close() error
}

// Parts are the shards of an Engine.
type Parts interface {
	// Manifest returns a copy of the manifest.
	Manifest() *shard.Manifest
	// Shard returns a shard, which it loads on first use.
	Shard(i int) (Engine, error)
	// Change calls f with shard i, ready to be changed. Errors of f name the shard.
	Change(i int, f func(Engine) error) error
	// Rebuild returns an Engine in memory whose shards are f of these shards.
	Rebuild(f func(i int, part Engine) (Engine, error)) (Engine, error)
	// Fail returns an error of shard i as a *shard.Error.
	Fail(i int, err error) error
}

// Front is what Set needs to pass on keys.
type Front struct {
	// Filter answers for hashes: the filter itself if it lies in memory, else the Engine. It is nil unless Takes is
	// Hashes.
	Filter filter.Filter
	Hasher filter.Hasher
	Takes  Takes
	Moves  *uint32 // how often the filter was replaced
}

// Stored describes the file that a Set was read from.
type Stored struct {
	Bytes   uint64 // length of the file, or of all shards
	Version uint16 // of the format, the highest one of all shards
	Trimmed bool   // the file, or each shard, has the form of Set.Trimmed
	Shards  int    // number of shards of a sharded Set, else 0
}
