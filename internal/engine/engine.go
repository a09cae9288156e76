// Package engine defines the interface below a Set of package bloomery. An Engine is one filter (package one: in
// memory, mapped, of raw keys, for many writers, or empty) or a folder of filters (package shards). A new form of a Set
// is a new Engine; Set itself does not distinguish them.
//
//	Set.Contains ──► Facts.Query ─┬─► a filter in memory
//	             └─► raw keys     ├─► one.Set: a mapped filter
//	                              └─► shards.Set ──► a filter, or the one.Set of a shard
//	Set.Add, Remove, Get, ... ──► Engine.At ──► the one.Set that holds the key
package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/shard"
)

// Engine is a filter, or several, with the hasher of the keys. Most methods are described at the methods of
// bloomery.Set. Queries are safe for concurrent use; changes need exclusive use, unless the Engine is for many writers.
type Engine interface {
	Asker
	Changer
	Filer
}

// Asker answers for keys, and describes the set.
type Asker interface {
	// Contains reports whether a key may be in the set. If Facts.Hashes is false, raw is the bytes of the key, not nil,
	// and the hash is not used. No method keeps raw.
	Contains(h filter.Hash, raw []byte) bool
	// HasMany and ContainsMany set dst[i] to the answer for key i. The lengths agree.
	HasMany(dst []bool, hs []filter.Hash)
	ContainsMany(dst []bool, keys Keys)
	// Facts returns the Facts. Callers keep them until *Facts.Moves changes.
	Facts() Facts
	Spec() filter.Spec
	Info() filter.Info
	Len() uint64
	EstimateInterval() (Estimate, error)
	EstimateOverlap(o Engine) (Overlap, error)
	Equal(o Engine) bool
	// Lacks returns the error for an operation that the filter does not support.
	Lacks(a family.Ability) error
	// Parts returns the shards, or nil if there are none.
	Parts() Parts
}

// Changer changes the set.
type Changer interface {
	// At returns the filter that holds a key: the Engine itself if it is a One. change tells whether the caller will
	// change it.
	At(h filter.Hash, change bool) (One, error)
	AddMany(keys Keys) error
	Reset() error
	// Combine merges with o if how is family.CanMerge, and intersects with it if it is family.CanIntersect. o may be
	// nil.
	Combine(o Engine, how family.Ability) error
	// Except replaces the exceptions of the filter. If c is nil, it changes nothing and only returns an error if the
	// filter cannot have exceptions.
	Except(c *except.Cascade) error
}

// Filer copies the set and reads and writes its files.
type Filer interface {
	// Copy returns a copy in the same form, which shares nothing.
	Copy() (Engine, error)
	// Form returns the set in the trimmed or the full form for files.
	Form(trimmed bool) (Engine, error)
	// Encode returns the stored form of one filter. Callers must use the form inside Guarded.
	Encode() (*container.File, error)
	// Guarded calls f, which reads the filter, and returns its error. A fault of the mapping in f becomes an error.
	Guarded(f func() error) error
	Save(ctx context.Context, path string) error
	// Replace writes by, which may be the Engine itself, over the file or folder at path. was describes the file when
	// it was read.
	Replace(ctx context.Context, path string, was fs.FileInfo, by Engine) error
	// Check reads and checks everything that was not read yet.
	Check(ctx context.Context, progress func(bytes uint64)) error
	Err() error
	// Close releases the memory and mappings of files. Contains returns true afterwards.
	Close() error
}

// One is the filter that holds a key.
type One interface {
	// Ask is Contains with an error. If the answer cannot be known, it returns true and the error.
	Ask(h filter.Hash, raw []byte) (bool, error)
	Count(h filter.Hash) (n uint64, saturated bool, err error)
	Get(h filter.Hash) (value uint64, ok bool, err error)
	ValueBits() (int, error)
	Add(h filter.Hash, raw []byte) error
	TestAndAdd(h filter.Hash, raw []byte) (present bool, err error)
	Remove(h filter.Hash) error
	// Valuer returns the filter as a Valuer, ready to be changed.
	Valuer() (family.Valuer, error)
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

// Facts are the properties of an Engine that are known without reading a filter.
type Facts struct {
	// Query answers for hashes: the filter itself if it lies in memory, else the Engine. It is nil unless Hashes is
	// true.
	Query   family.Filter
	Hashes  bool          // queries and changes take hashes of keys, else their bytes
	Shared  bool          // many goroutines may change the set
	Filter  family.Filter // the filter, with its exceptions; nil for none or several filters
	Hasher  filter.Hasher
	Planned *float64 // the planned false-positive rate, which the Set sets
	Moves   *uint32  // the number of times that the filter was replaced
	Stored  Stored   // the file that the set was read from
}

// Stored describes the file that a Set was read from.
type Stored struct {
	Bytes   uint64 // length of the file, or of all shards
	Trimmed bool   // the file, or each shard, has the form of Set.Trimmed
	Shards  int    // number of shards of a sharded Set, else 0
}

// Can returns an error unless the family of e has an ability.
func Can(e Engine, a family.Ability) error {
	f, err := families.FormatOf(e.Spec().Family())
	if err != nil || !f.Can.Has(a) {
		return e.Lacks(a)
	}
	return nil
}

// ValueBits returns the number of bits of the value of a key. The error wraps errors.ErrUnsupported if the filter
// stores no values.
func ValueBits(e Engine) (int, error) {
	one, err := e.At(filter.Hash{}, false) // the shard of any key: all shards have the same Spec
	if err != nil {
		return 0, err
	}
	return one.ValueBits()
}

// Options are the options of opening a Set.
type Options struct {
	Secret     *filter.Secret
	Keyed      filter.Hasher // a hasher that has the secret, or zero
	MaxBytes   uint64        // 0: no limit
	Concurrent bool
	InMemory   bool
	Lazy       bool                    // InMemory applies to a shard at its first use
	Regular    bool                    // pipes and devices are errors, without waiting for them
	Opening    func(path string) error // for tests, else nil: returns an error of the system
}

// Open calls Opening before a file is opened, mapped or read.
func (o Options) Open(path string) error {
	if o.Opening == nil {
		return nil
	}
	return o.Opening(path)
}

// Limit returns the largest number of bytes of a set.
func (o Options) Limit() uint64 {
	if o.MaxBytes == 0 {
		return math.MaxInt64
	}
	return o.MaxBytes
}

// Hasher returns the hasher of the keys of a file.
func (o Options) Hasher(f *container.File) (filter.Hasher, error) {
	if o.Keyed != (filter.Hasher{}) && f.Hash == filter.SipHash && o.Keyed.KeyCheck() == f.KeyCheck {
		return o.Keyed.WithForm(f.Form)
	}
	return f.Hasher(o.Secret)
}

// The errors of Sets without a filter. ErrClosed wraps filter.ErrClosed.
var (
	ErrEmpty  = errors.New("bloomery: the Set is empty: it was neither made by New or Build nor read")
	ErrClosed = fmt.Errorf("bloomery: the Set is %w", filter.ErrClosed)
)

// ErrOneSharded is the error of two Sets that cannot be combined.
var ErrOneSharded = fmt.Errorf("only one of the sets is sharded: %w", filter.ErrMismatch)

// SameHasher returns an error wrapping filter.ErrMismatch unless two Sets have the same hasher.
func SameHasher(a, b filter.Hasher) error {
	switch {
	case a == b:
		return nil
	case a.Form() != b.Form():
		return fmt.Errorf("the forms of keys %s and %s: %w", a.Form(), b.Form(), filter.ErrMismatch)
	}
	return fmt.Errorf("the hash function, seed or secret differs: %w", filter.ErrMismatch)
}

// Estimate is an estimated number of distinct keys, with the ends of its 95% interval, which are whole numbers.
type Estimate struct {
	Keys      float64 // +Inf if the filter is full: every bit is set
	Low, High float64 // High is +Inf if nothing is known but Low
	// Counted is true if the number is counted, not estimated, because the bits of the filter do not tell it. Keys, Low
	// and High are then Set.Len, or for a filter with counters the number of distinct fingerprints.
	Counted bool
}

// Overlap is the estimates of the distinct keys of two sets, of their union and of their intersection.
type Overlap struct {
	A, B, Union, Intersection Estimate
}

// Sum adds the estimate of another shard. Estimates of shards are independent, so the squares of the widths of their
// intervals add up. The ends are not rounded: the errors of many shards would add up. See Whole.
func (e *Estimate) Sum(o Estimate) {
	low := math.Hypot(e.Keys-e.Low, o.Keys-o.Low)
	high := math.Hypot(e.High-e.Keys, o.High-o.Keys)
	if math.IsInf(e.Keys, 1) || math.IsInf(o.Keys, 1) { // only the lower end of a full filter is known
		low, high = math.Inf(1), math.Inf(1)
		e.Low += o.Low
	}

	e.Keys += o.Keys
	if !math.IsInf(low, 1) {
		e.Low = max(0, e.Keys-low)
	}
	e.High = e.Keys + high
	e.Counted = e.Counted || o.Counted
}

// Whole returns the estimate with the ends of the interval rounded outwards to whole numbers.
func (e Estimate) Whole() Estimate {
	e.Low, e.High = math.Floor(e.Low), math.Ceil(e.High)
	return e
}

// Keys are the keys of a batch. At most one field is set.
type Keys struct {
	Bytes   [][]byte
	Strings []string
	Uint64s []uint64
	Hashes  []filter.Hash
}

// Len returns the number of keys.
func (k *Keys) Len() int { return len(k.Bytes) + len(k.Strings) + len(k.Uint64s) + len(k.Hashes) }

// Sum sets dst to the hashes of the keys from number from on.
func (k *Keys) Sum(h filter.Hasher, dst []filter.Hash, from int) {
	switch {
	case k.Bytes != nil:
		kernel.Sums(dst, h, k.Bytes[from:][:len(dst)])
	case k.Strings != nil:
		kernel.Sums(dst, h, k.Strings[from:][:len(dst)])
	case k.Uint64s != nil:
		kernel.Sums(dst, h, k.Uint64s[from:][:len(dst)])
	default:
		copy(dst, k.Hashes[from:])
	}
}

// Key returns the hash of key i, or its bytes, not nil. An integer without a key in the form is the empty key.
func (k *Keys) Key(i int, f filter.KeyForm) (h filter.Hash, raw []byte) {
	switch {
	case k.Hashes != nil:
		return k.Hashes[i], nil
	case k.Strings != nil:
		return h, []byte(k.Strings[i])
	case k.Uint64s != nil:
		raw, _ = f.AppendUint64([]byte{}, k.Uint64s[i])
		return h, raw
	case k.Bytes[i] == nil:
		return h, []byte{}
	}
	return h, k.Bytes[i]
}

// BatchLen is the number of keys that are hashed before they are passed on.
const BatchLen = 256

var hashPool = sync.Pool{New: func() any { return new([BatchLen]filter.Hash) }}

// Each calls f with the hashes of BatchLen keys at a time; from is the number of the first of them.
func (k *Keys) Each(h filter.Hasher, f func(from int, hs []filter.Hash) error) error {
	buf := hashPool.Get().(*[BatchLen]filter.Hash)
	defer hashPool.Put(buf)
	for from, n := 0, k.Len(); from < n; from += BatchLen {
		hs := buf[:min(BatchLen, n-from)]
		k.Sum(h, hs, from)
		if err := f(from, hs); err != nil {
			return err
		}
	}
	return nil
}

// Ask sets dst[i] to the answer for key i, with hasMany for BatchLen hashes at a time.
func (k *Keys) Ask(dst []bool, h filter.Hasher, hasMany func(dst []bool, hs []filter.Hash)) {
	// The function below never fails.
	_ = k.Each(h, func(from int, hs []filter.Hash) error {
		hasMany(dst[from:][:len(hs)], hs)
		return nil
	})
}

// Stream calls write with the stored form of the filter of e.
func Stream(e Engine, write func(*container.File) error) error {
	f, err := e.Encode()
	if err != nil {
		return err
	}
	return e.Guarded(func() error { return write(f) })
}
