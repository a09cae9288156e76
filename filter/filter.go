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
	// HasMany sets dst[i] to Has(hs[i]) for every i. dst must be as long as hs.
	HasMany(dst []bool, hs []Hash)
}

// Adder is a Filter that takes keys after it was made. Unless the type says otherwise, Add needs exclusive use.
type Adder interface {
	// Add puts the key with hash h into the set. On error the filter is as it was.
	Add(h Hash) error
}

// KeyFilter is a Filter of another system that takes more bits from a key than a Hash has, so that it asks for keys. Has of
// a key's Hash is true wherever HasKey is, as for any Filter, and oftener: it tests the positions that it can. bloomery.Set
// asks the right one.
type KeyFilter interface {
	Filter
	// HasKey reports whether the key may be in the set, as the other system would. It does not allocate.
	HasKey(key []byte) bool
	// AddKey puts a key into the set. On error the filter is as it was.
	AddKey(key []byte) error
}

// Remover is a Filter that forgets keys. Remove only what was added: removing an absent key that happens to
// look like a present one would make the present one absent.
type Remover interface {
	// Remove undoes one Add of h, or returns an error wrapping ErrNotFound and changes nothing.
	Remove(h Hash) error
}

// Counter is a Filter that knows how often a key was added.
type Counter interface {
	// Count returns how often the key with hash h was added, or more, never less.
	Count(h Hash) uint64
}

// Valuer is a Filter that keeps a small value with each key. A key that looks like another one has its value.
type Valuer interface {
	// AddValue puts the key with hash h into the set, with a value; like Add it wants a Remove of its own. An error wrapping
	// ErrConfig says that the value has too many bits, one wrapping ErrFull that there is no room; the filter is as it was.
	AddValue(h Hash, value uint64) error
	// Put sets the value of a key that was added, or returns an error wrapping ErrNotFound, or ErrConfig as AddValue does, and
	// changes nothing.
	Put(h Hash, value uint64) error
	// Get returns the value of the key with hash h, and whether the key may be in the set.
	Get(h Hash) (value uint64, ok bool)
}

// Merger is a Filter that can take over the keys of another one of the same Spec and Hasher.
type Merger interface {
	// Merge makes the receiver hold the keys of both. It returns an error wrapping ErrMismatch, and changes
	// nothing, if the two differ in anything but their keys.
	Merge(other Filter) error
}

// Builder makes a filter from the hashes of all its keys. AddMany may be called from several goroutines at
// once; Build only after all of them returned, and only once.
type Builder interface {
	// AddMany takes keys; it does not keep hs.
	AddMany(hs []Hash) error
	// Build finishes the filter. It stops with ctx.Err() if ctx is done before.
	Build(ctx context.Context) (Filter, error)
}

// Searcher is a Builder whose Build goes on for a while.
type Searcher interface {
	Builder
	// OnProgress has Build call f some ten times a second, from one goroutine.
	OnProgress(f func(Progress))
}

// Progress is how far a search has come.
type Progress struct {
	Done float64       // the share that is done, in [0, 1]
	Rate float64       // the posterior rate so far where a worker looked last, 0 if not known
	Left time.Duration // what is left at the pace so far, 0 if not known
}

// Spiller is a Builder that can keep some of its keys in a temporary file.
type Spiller interface {
	Builder
	// Limit has the builder hold at most that many bytes of keys in memory, and the others in a file in dir, which is
	// os.TempDir() if empty. It comes before the first key.
	Limit(memory int64, dir string)
	// Close drops the keys, and the file with them, of a builder that will not Build.
	Close() error
}

// Encoded is a filter as the container stores it: a Spec from which every size follows, the number of keys, and
// the bits in sections of 64-bit words. Who receives an Encoded shares the words with who gave it.
type Encoded struct {
	Spec     Spec
	Keys     uint64
	Sections [][]uint64
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
