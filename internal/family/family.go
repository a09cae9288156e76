// Package family defines the interfaces that a family of filters implements, its description, and readers of its Spec.
// Each family is a package below this one, and package families lists them.
package family

import (
	"context"
	"fmt"
	"reflect"

	"github.com/bloomery/bloomery/filter"
)

// Filter answers whether a key may be in the set. Has never returns false for a key that was added.
// Has and Info may be called from any number of goroutines while no goroutine changes the filter.
type Filter interface {
	// Has reports whether the key with hash h may be in the set. It does not allocate.
	Has(h filter.Hash) bool
	// Info describes the present state of the filter. It may read the whole filter to count set bits.
	Info() filter.Info
}

// Batcher is a Filter that answers many keys at once, so that their cache misses overlap.
type Batcher interface {
	// HasMany sets dst[i] to Has(hs[i]) for every i. It panics if dst and hs differ in length.
	HasMany(dst []bool, hs []filter.Hash)
}

// ColdBatcher is a Batcher with faster queries for a filter that is not in the caches, such as one of many that take
// turns. The answers are the same.
type ColdBatcher interface {
	Batcher
	// Prefetch prefetches the words that queries of the keys read first, and does not wait.
	Prefetch(hs []filter.Hash)
	// HasManyCold is HasMany with prefetching in a filter of any size.
	HasManyCold(dst []bool, hs []filter.Hash)
}

// Spreader is a Filter that can be queried together with others of its family, each key in a different filter.
type Spreader interface {
	Filter
	// Spread returns an empty Spread with room for this number of filters, or nil if a Spread would not be faster.
	Spread(filters int) Spread
}

// Spread answers queries of many filters of one family, so that cache misses overlap even if each filter is asked for a
// few keys only. A Spread shares the memory of the filters, which must stay valid. It is safe for concurrent queries;
// SetFilter may run at the same time as calls for other filters.
type Spread interface {
	// SetFilter sets filter i to f. If f cannot be queried together with the others, it returns false and leaves filter
	// i unset.
	SetFilter(i int, f Filter) bool
	// HasManySpread sets dst[j] to Has(hs[j]) of filter at[j] for every j. These filters must be set. It panics if dst,
	// hs and at differ in length. It does not allocate.
	HasManySpread(dst []bool, hs []filter.Hash, at []uint32)
}

// Adder is a Filter to which keys can be added at any time. Add needs exclusive use, except in a Concurrent.
type Adder interface {
	// Add adds the key with hash h. On error the filter is unchanged.
	Add(h filter.Hash) error
}

// RawKeyFilter is a Filter of another system that needs more bits of a key than a Hash has, so its methods need the key
// itself. If HasKey is true for a key, Has is true for its Hash. Has returns more false positives, because it tests
// only the positions that follow from the Hash. bloomery.Set calls HasKey.
type RawKeyFilter interface {
	Filter
	// HasKey reports whether the key may be in the set, as the other system would. It does not allocate.
	HasKey(key []byte) bool
	// AddKey adds a key. On error the filter is unchanged.
	AddKey(key []byte) error
}

// Remover is a Filter from which keys can be removed. Remove only keys that were added: removing an absent key that
// collides with a present one makes the present key absent.
type Remover interface {
	// Remove undoes one Add of h. If h is not found it returns an error wrapping ErrNotFound and changes nothing.
	Remove(h filter.Hash) error
}

// Counter is a Filter that counts how often each key was added.
type Counter interface {
	// Count returns how often the key with hash h was added, minus how often it was removed. n is never too small,
	// unless saturated is true: then a counter of the key is at its maximum, and n is that maximum, a lower bound.
	Count(h filter.Hash) (n uint64, saturated bool)
}

// Getter is a Filter that stores a small value for each key.
type Getter interface {
	// Get returns the value of the key with hash h, and whether the key may be in the set. If ok is true for a key that
	// was not added, the value is arbitrary. Get does not allocate.
	Get(h filter.Hash) (value uint64, ok bool)
	// ValueBits returns the number of bits of a value, 0 if this filter stores no values.
	ValueBits() int
}

// Valuer is a Getter whose values can be set at any time. Keys that collide share a value.
type Valuer interface {
	Getter
	// AddValue adds the key with hash h and its value. Each AddValue needs its own Remove, like each Add. The error
	// wraps ErrConfig if the value has too many bits, ErrFull if the filter has no room; the filter is then unchanged.
	AddValue(h filter.Hash, value uint64) error
	// Put sets the value of a key that was added. The error wraps ErrNotFound if the key is absent, ErrConfig if the
	// value has too many bits; the filter is then unchanged.
	Put(h filter.Hash, value uint64) error
	// Upsert sets the value of the key with hash h, and adds the key if it is absent, in one atomic step. It returns
	// the errors of AddValue.
	Upsert(h filter.Hash, value uint64) error
}

// Merger is a Filter that can add all keys of another filter with the same Spec and Hasher.
type Merger interface {
	// Merge adds the keys of other to the receiver. It reads each word of other once, in order. passed, if not nil, is
	// called with the words that were read, at least once per MiB, so that the pages of a mapped file can be released.
	// Merge returns an error wrapping ErrMismatch, and changes nothing, if other is nil or the two differ in anything
	// but their keys.
	Merge(other Filter, passed func(words []uint64)) error
}

// Intersecter is a Filter that can be reduced to the keys that are also in another filter.
type Intersecter interface {
	// Intersect reduces the receiver to the keys that are in both filters and some false positives. passed and errors:
	// see Merge.
	Intersect(other Filter, passed func(words []uint64)) error
}

// Concurrent is a Filter that any number of goroutines may query and change at the same time. A key is present for
// every Has that begins after its Add returned. It is also a Remover, Counter or Valuer if the original Filter is one.
type Concurrent interface {
	Filter
	Adder
	// TestAndAdd adds the key with hash h unless Has(h) is true, and returns Has(h), in one atomic step. If many
	// goroutines add the same new key at the same time, present is false for exactly one of them, or for none if the
	// key is a false positive. On error the filter is unchanged and present is false.
	TestAndAdd(h filter.Hash) (present bool, err error)
	// Keys returns Info().Keys without reading the filter.
	Keys() uint64
	// Spec returns Info().Spec without reading the filter and without waiting for writers.
	Spec() filter.Spec
	// Snapshot returns a copy in the plain form. It contains all changes that returned before Snapshot began. Each
	// concurrent change is contained completely or not at all. If the filter is growing, Snapshot waits until it has
	// grown.
	Snapshot() (Filter, error)
}

// Sharer is a Filter with a form that any number of goroutines may change at the same time.
type Sharer interface {
	// Concurrent returns that form. It takes over the filter's memory: do not use the filter afterwards.
	Concurrent() Concurrent
}

// Trimmer is a Filter with a smaller form for transfer.
type Trimmer interface {
	// Trimmed returns a filter that shares the memory and whose Encode omits data that Decode can recompute.
	Trimmed() Filter
	// Trimmable returns an error wrapping ErrTooLarge if the filter is so much larger than its trimmed form that Decode
	// would return an error for the trimmed form.
	Trimmable() error
}

// Reoptimizer is a Filter that a search has fitted to its keys.
type Reoptimizer interface {
	// Reoptimize returns a Builder for the same geometry whose search starts from this filter. It needs all keys again.
	// The keys may have changed. With the level Keep the Builder does not search, so that filters of similar keys have
	// similar bits.
	Reoptimize(e filter.Effort) (Builder, error)
}

// Builder builds a filter from the hashes of all its keys. AddMany may be called from several goroutines at the same
// time. Call Build once, after all calls of AddMany have returned. After that, both return an error.
type Builder interface {
	// AddMany adds keys. It does not keep hs.
	AddMany(hs []filter.Hash) error
	// Build returns the filter. If ctx ends first, Build returns ctx.Err().
	Build(ctx context.Context) (Filter, error)
}

// ValueBuilder is a Builder of Getters. Its AddMany returns an error if the filter is to have values that cannot change
// later; else keys of AddMany have the value 0.
type ValueBuilder interface {
	Builder
	// AddValues adds the keys hs[i] with values[i] and keeps no reference to either. It may be called from several
	// goroutines at once. A key may be added again with the same value. The error wraps ErrConfig if the two slices
	// differ in length, or a value has too many bits; then it has added nothing. Build returns a *ValueError if a key
	// was added with two values.
	AddValues(hs []filter.Hash, values []uint64) error
}

// Gatherer is a Builder that gathers its keys until Build. A Builder that is not a Gatherer keeps no keys.
type Gatherer interface {
	Builder
	// SetOptions sets how the keys are gathered and the filter is built. Call it before the first key. A Builder
	// ignores the options that it does not need.
	SetOptions(BuildOptions)
	// Close drops the keys and removes their file. Build calls it. Call it if you do not call Build.
	Close() error
}

// BuildOptions are the options of a Gatherer. Zero fields take the default noted beside them.
type BuildOptions struct {
	// Memory is the maximum size in bytes of the keys in memory before Build; further keys go to a file in Dir.
	// Default: no limit.
	Memory int64
	Dir    string // folder of the file; default: os.TempDir()
	// Workers is the number of goroutines of Build. Default, also below 0: GOMAXPROCS. The filter does not depend on
	// it, except after a search by time.
	Workers int
	// Progress, if not nil, is called about ten times a second by Build, from one goroutine. If a search misses its
	// rate and a second one follows, the progress begins again at 0.
	Progress func(filter.Progress)
}

// Encoded is the stored form of a filter: a Spec from which every size follows, the number of keys, and the bits in
// sections of 64-bit words. The words are shared with the filter, not copied.
type Encoded struct {
	Spec     filter.Spec
	Keys     uint64
	Sections [][]uint64
}

// CheckSections returns an error unless the sections have these numbers of words. Its arguments are the results of a
// family's SectionWords. It returns err if that is not nil.
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
	// Encode returns the filter's content; its words are shared with the filter, not copied.
	Encode() Encoded
}

// SpecOf returns the Spec of a filter without reading its bits. Every filter of a family is an Encoder or, like
// Concurrent, has a method Spec. For any other filter SpecOf returns the zero Spec.
func SpecOf(f Filter) filter.Spec {
	switch f := f.(type) {
	case Encoder:
		return f.Encode().Spec
	case interface{ Spec() filter.Spec }:
		return f.Spec()
	}
	return filter.Spec{} // not Info().Spec: that would link the rates of all families into programs that only query
}

// As returns v as an I. On error it returns a nil I, not an I that holds a nil pointer.
func As[I, T any](v T, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return any(v).(I), nil
}

// CheckBatch panics if dst and hs differ in length. Every HasMany calls it first, because it must not write beyond dst.
func CheckBatch(dst []bool, hs []filter.Hash) {
	if len(dst) != len(hs) {
		badBatch(len(dst), len(hs))
	}
}

// badBatch is separate from CheckBatch so that the compiler inlines the comparison.
//
//go:noinline
func badBatch(places, keys int) {
	panic(fmt.Sprintf("filter: HasMany: dst has %d places for %d keys", places, keys))
}

// CellFilter is a Filter of equal cells, such as bits or counters. Each key uses some cells at random, and a used cell
// does not tell which keys use it, or how many. From the numbers of free cells of two such filters follows how many
// distinct keys they have, and have in common: see bloomery.Set.EstimateOverlap.
type CellFilter interface {
	Filter
	// Cells describes how a key uses cells. The result is the same for all filters of the same Spec.
	Cells() Cells
	// Free returns the number of cells that are free in both filters, which may be the same filter. It reads both
	// completely. The error wraps ErrMismatch if other is nil or its Spec differs.
	Free(other Filter) (uint64, error)
}

// Cells describes how the keys of a filter use its cells. Logarithms are natural.
type Cells struct {
	Number uint64     // number of the cells
	Free   float64    // logarithm of the probability that one key leaves a given cell free: below 0
	Pairs  []CellPair // all Number² ordered pairs of cells, including each cell with itself; the shares add up to 1
}

// CellPair describes pairs of cells.
type CellPair struct {
	Share float64 // share of all ordered pairs, in [0, 1]
	// Both is the logarithm of P(a key leaves both free) / P(it leaves the first free)·P(it leaves the second free): 0
	// if they are independent.
	Both float64
}

// Invalid returns a *ConfigError. Its Reason is reason formatted with args, as by fmt.Sprintf.
func Invalid(field string, value any, reason string, args ...any) error {
	return &filter.ConfigError{Field: field, Value: value, Reason: fmt.Sprintf(reason, args...)}
}

// Refused returns an Invalid error without the value if an unused field is set, else nil.
func Refused(field string, set bool, reason string) error {
	if !set {
		return nil
	}
	return Invalid(field, nil, "%s", reason)
}

// IsNil reports whether f is nil or a nil pointer.
func IsNil(f Filter) bool {
	v := reflect.ValueOf(f)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Mismatch returns an error wrapping ErrMismatch that names both filters: the filter with Spec s, and other, which may
// be nil, a nil pointer, or of any family.
func Mismatch(s filter.Spec, other Filter) error {
	what := "nil"
	if !IsNil(other) {
		what = SpecOf(other).String()
	}
	return fmt.Errorf("%s and %s: %w", s, what, filter.ErrMismatch)
}

// ValueError means that a ValueBuilder got a key with two values. It wraps filter.ErrValues.
type ValueError struct {
	Hash   filter.Hash // hash of the key; the low 32 bits of Lo are 0
	Values [2]uint64   // two of its values, in order
	Key    string      // empty if it is not known
}

func (e *ValueError) Error() string {
	key := fmt.Sprintf("%.80q", e.Key)
	if e.Key == "" {
		key = fmt.Sprintf("with hash %016x%08x", e.Hash.Hi, e.Hash.Lo>>32)
	}
	return fmt.Sprintf("key %s has the values %d and %d: want one value a key", key, e.Values[0], e.Values[1])
}

func (e *ValueError) Unwrap() error { return filter.ErrValues }

// Of reports whether h is the hash of the key.
func (e *ValueError) Of(h filter.Hash) bool { return h.Hi == e.Hash.Hi && h.Lo>>32 == e.Hash.Lo>>32 }

// ChainTable is a filter whose content is cells in the chains of buckets: rankindexed. Package delta reads and writes
// it bucket by bucket.
type ChainTable interface {
	Filter
	// ChainShape returns the sizes.
	ChainShape() ChainShape
	// BucketReader returns a function that reads bucket b and reuses the memory of to, for one goroutine.
	BucketReader() func(b uint64, to *ChainBucket)
	// CellsOf returns the number of cells in use of bucket b.
	CellsOf(b uint64) uint64
	// Extension returns the number of the extension of bucket b at a level, 1 or 2, or false if the bucket has no
	// extension at this level.
	Extension(b uint64, level int) (number uint64, ok bool)
	// SameShape returns an empty table of the same sizes. The error wraps ErrTooLarge.
	SameShape() (ChainTable, error)
	// BucketWriter returns a function that fills bucket b, which must be empty, for one goroutine at a time. The
	// function gives the bucket the extensions with these numbers that it needs; they must be free. The error wraps
	// ErrFull if the cells do not fit.
	BucketWriter() func(b uint64, from *ChainBucket, extensions [ChainLevels]uint64) error
	// Stored returns the stored form, trimmed or not.
	Stored(trimmed bool) Encoded
}

// ChainLevels is the number of parts that a bucket may have: itself, and an extension of level 1 and of level 2.
const ChainLevels = 3

// ChainShape describes the sizes of a ChainTable.
type ChainShape struct {
	Buckets, Chains uint64              // chains of a bucket
	Width, Payload  uint                // bits of a cell, and of these the lowest ones, which are not its remainder
	Room            [ChainLevels]uint64 // cells of a bucket, of an extension of level 1, of one of level 2
	Records         [ChainLevels]uint64 // number of buckets, of extensions of level 1, of extensions of level 2
}

// Most returns the number of cells of all buckets and extensions.
func (s ChainShape) Most() (n uint64) {
	for level, room := range s.Room {
		n += room * s.Records[level]
	}
	return n
}

// Levels returns the number of parts of a bucket with cells cells in use: 1 to ChainLevels, or more if the cells do not
// fit.
func (s ChainShape) Levels(cells uint64) (n int) {
	for _, room := range s.Room {
		if n++; cells <= room {
			return n
		}
		cells -= room
	}
	return n + 1
}

// ChainBucket is the content of a bucket.
type ChainBucket struct {
	Lengths []uint16 // number of cells of each chain
	Cells   []uint64 // chain by chain, each in order
	Numbers []uint16 // number of each cell in the bucket as it is stored
}
