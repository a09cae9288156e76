// Package filter is the vocabulary that every room of Bloomery speaks: the 128-bit Hash of a key and the
// Hasher that makes it, the small interfaces of a filter, the Spec that names one, the Info that it reports
// and the errors that it returns. It imports no other package of this module.
//
// Terms, as the literature has them: n keys, m bits, k probes (hash functions) a key, fill f the share of bits
// that are set. Three rates of false positives have three names and are never mixed:
//
//   - prior p_b ("before"), predicted from n, m and k alone;
//   - posterior p_a ("after"), computed from the bits that are really set;
//   - observed p_o, counted on keys that are known to be absent.
package filter

import (
	"context"
	"fmt"
	"time"
)

// Filter answers whether a key may be in the set. Has never returns false for a key that was added.
// Has and Info may be called from any number of goroutines as long as nobody writes.
type Filter interface {
	// Has reports whether the key with hash h may be in the set. It does not allocate.
	Has(h Hash) bool
	// Info describes the filter as it is now. It may read the whole filter to count set bits.
	Info() Info
}

// Batcher is a Filter that answers many keys at once, so that their cache misses overlap.
type Batcher interface {
	// HasMany sets dst[i] to Has(hs[i]) for every i. It panics if dst and hs differ in length.
	HasMany(dst []bool, hs []Hash)
}

// Adder is a Filter that takes keys after it was made. Add needs exclusive use, except in a Concurrent.
type Adder interface {
	// Add adds the key with hash h. On error the filter is unchanged.
	Add(h Hash) error
}

// RawKeyFilter is a Filter of another system that takes more bits from a key than a Hash has, so that it takes the key
// itself. Has of a key's Hash is true wherever HasKey is, as for every Filter, but has more false positives: it tests only
// the positions that follow from the Hash. bloomery.Set calls the right one.
type RawKeyFilter interface {
	Filter
	// HasKey reports whether the key may be in the set, as the other system would. It does not allocate.
	HasKey(key []byte) bool
	// AddKey adds a key. On error the filter is unchanged.
	AddKey(key []byte) error
}

// Remover is a Filter that keys can be removed from. Remove only keys that were added: an absent key that looks like a
// present one takes that one out.
type Remover interface {
	// Remove undoes one Add of h. If h is not found it returns an error wrapping ErrNotFound and changes nothing.
	Remove(h Hash) error
}

// Counter is a Filter that knows how often a key was added.
type Counter interface {
	// Count returns how often the key with hash h was added, less how often it was removed. n is never too small, unless
	// saturated is true: then a counter of the key is at its maximum, and n is that maximum, a lower bound.
	Count(h Hash) (n uint64, saturated bool)
}

// Valuer is a Filter that keeps a small value with each key. Two keys that look alike share a value.
type Valuer interface {
	// AddValue adds the key with hash h and its value. Like Add it must be undone by a Remove of its own. The error wraps
	// ErrConfig if the value has too many bits, ErrFull if there is no room; the filter is then unchanged.
	AddValue(h Hash, value uint64) error
	// Put sets the value of a key that was added. The error wraps ErrNotFound if the key is absent, ErrConfig if the value
	// has too many bits; the filter is then unchanged.
	Put(h Hash, value uint64) error
	// Get returns the value of the key with hash h, and whether the key may be in the set.
	Get(h Hash) (value uint64, ok bool)
	// ValueBits returns the number of bits of a value, 0 if this filter was made without values.
	ValueBits() int
}

// Upserter is a Valuer that sets a value in one step, also while other goroutines do.
type Upserter interface {
	// Upsert sets the value of the key with hash h, and adds the key if it is absent. Errors are those of AddValue.
	Upsert(h Hash, value uint64) error
}

// Merger is a Filter that can take over the keys of another one of the same Spec and Hasher.
type Merger interface {
	// Merge makes the receiver hold the keys of both. It returns an error wrapping ErrMismatch, and changes nothing, if
	// other is nil or the two differ in anything but their keys.
	Merge(other Filter) error
}

// Intersecter is a Filter that can be reduced to the keys that another one has too.
type Intersecter interface {
	// Intersect makes the receiver hold at least the keys that stand in both. Errors are those of Merge.
	Intersect(other Filter) error
}

// Estimator is a Filter that estimates from its bits how many distinct keys it holds.
type Estimator interface {
	// EstimateKeys returns the estimate, or +Inf if every bit is set. It may read the whole filter.
	EstimateKeys() float64
}

// Concurrent is a Filter that any number of goroutines may query and change at once. A key is present for every Has that
// begins after its Add returned. It also is a Remover, Counter or Valuer if the Filter that it was made from is one.
type Concurrent interface {
	Filter
	Adder
	// TestAndAdd adds the key with hash h unless Has(h) was true, and reports that answer, in one step: of many goroutines
	// that bring one new key at the same time, at most one is told that it was absent, and exactly one unless the key is a
	// false positive. On error the filter is unchanged and present is false.
	TestAndAdd(h Hash) (present bool, err error)
	// Keys returns Info().Keys without reading the filter.
	Keys() uint64
	// Snapshot returns a copy in the plain form. It holds every key whose Add returned before Snapshot began and no key
	// that was removed before that; of changes that run at the same time it has some and not others, each whole. A filter
	// that is growing finishes that first.
	Snapshot() (Filter, error)
}

// Sharer is a Filter with a form that any number of goroutines may change at once.
type Sharer interface {
	// Concurrent returns that form. It takes over the filter's memory: do not use the filter afterwards.
	Concurrent() Concurrent
}

// Trimmer is a Filter with a smaller form for transfer.
type Trimmer interface {
	// Trimmed returns the same filter, sharing its memory, whose Encode leaves out what Decode makes again.
	Trimmed() Filter
}

// Emptier is a Filter whose Spec does not suffice to make an empty one like it.
type Emptier interface {
	// Empty returns a filter of the same geometry without keys.
	Empty() (Filter, error)
}

// Reoptimizer is a Filter that was fitted to its keys by a search.
type Reoptimizer interface {
	// Reoptimize starts a filter of the same geometry whose search goes on from this one. All keys are needed again; they
	// may have changed.
	Reoptimize(e Effort) (Builder, error)
}

// Builder makes a filter from the hashes of all its keys. AddMany may be called from several goroutines at
// once; Build only after all of them returned, and only once.
type Builder interface {
	// AddMany takes keys; it does not keep hs.
	AddMany(hs []Hash) error
	// Build finishes the filter. It stops with ctx.Err() if ctx is done before.
	Build(ctx context.Context) (Filter, error)
}

// Searcher is a Builder that reports the progress of its Build.
type Searcher interface {
	Builder
	// OnProgress makes Build call f about ten times a second, from one goroutine. Call it before Build.
	OnProgress(f func(Progress))
}

// Progress is how far a Build is.
type Progress struct {
	Done float64       // the share that is done, in [0, 1]
	Rate float64       // the posterior rate so far of the part that was looked at last; 0 if not known
	Left time.Duration // the time that is left at the pace so far; 0 if not known
}

// Parallel is a Builder whose Build uses several goroutines.
type Parallel interface {
	Builder
	// SetWorkers sets how many goroutines Build uses at once, GOMAXPROCS if n is 0 or less. The filter does not depend on
	// it, except after a search by time. Call it before the first key.
	SetWorkers(n int)
}

// Spiller is a Builder that gathers its keys until Build and can keep some of them in a temporary file. A Builder that is
// not a Spiller keeps no keys, so that any limit of their memory holds.
type Spiller interface {
	Builder
	// Limit sets how many bytes of keys the builder holds in memory at most until Build has all of them, 0 for no limit.
	// The others go to a file in dir, or in os.TempDir() if dir is empty. Call it before the first key.
	Limit(memory int64, dir string)
	// Close drops the keys and removes their file. Build calls it; call it for a builder that will not Build.
	Close() error
}

// Encoded is the stored form of a filter: a Spec from which every size follows, the number of keys, and the bits in sections
// of 64-bit words. The words are shared with the filter, not copied.
type Encoded struct {
	Spec     Spec
	Keys     uint64
	Sections [][]uint64
}

// CheckSections returns an error unless the sections have these numbers of words. It takes the results of a family's
// SectionWords, whose error it passes on.
func (e Encoded) CheckSections(words []uint64, err error) error {
	if err != nil {
		return err
	}
	if len(e.Sections) != len(words) {
		return fmt.Errorf("%d sections, want %d for %s", len(e.Sections), len(words), e.Spec)
	}
	for i, s := range e.Sections {
		if uint64(len(s)) != words[i] {
			return fmt.Errorf("section %d has %d words, want %d for %s", i, len(s), words[i], e.Spec)
		}
	}
	return nil
}

// Encoder is a Filter that can be stored in a file.
type Encoder interface {
	// Encode returns the filter's content; its words are those of the filter, not a copy.
	Encode() Encoded
}

// SpecOf returns the Spec of a filter, without counting its bits if it is an Encoder.
func SpecOf(f Filter) Spec {
	if e, ok := f.(Encoder); ok {
		return e.Encode().Spec
	}
	return f.Info().Spec
}
