package bloomery

import (
	"context"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/shard"
)

// Set is a filter with the hash function of its keys. Queries are safe for concurrent use. Changes need exclusive use,
// unless the Set was made with Config.Concurrent or WithConcurrent: two changes at the same time lose keys, and panic
// if a change detects the other.
//
// The zero Set contains nothing; fill it with UnmarshalBinary. If that fails, and after Close, the Set has no filter:
// Contains and the other queries return true, and Err says why. A Set must not be copied after first use: see Clone.
type Set struct {
	_      [0]atomic.Bool // go vet reports copies
	query  kernel.Query   // engine.Facts.Query with the hasher
	engine engine.Engine  // nil in the zero Set: see inner
	one    engine.One     // the Engine if it is one filter, else nil
	hashes bool           // engine.Facts.Hashes
	moves  *uint32        // engine.Facts.Moves; nil in the zero Set
	moved  uint32         // *moves when filter was set

	shared   bool // engine.Facts.Shared
	changing bool // true during a change; not used for many writers
}

// newSet returns a Set of a filter, which it takes over, and the hasher of its keys. It is in the form for many writers
// if concurrent is true.
func newSet(f family.Filter, h filter.Hasher, concurrent bool) (*Set, error) {
	return made(one.NewForm(f, h, concurrent))
}

// setOf returns a Set that stands on e.
func setOf(e engine.Engine) *Set {
	s := new(Set)
	s.take(e)
	return s
}

// made is setOf for a function that returns an Engine and an error.
func made[E engine.Engine](e E, err error) (*Set, error) {
	if err != nil {
		return nil, err
	}
	return setOf(e), nil
}

// newClosed returns a Set that answers like a closed one; Err returns err.
func newClosed(err error) *Set { return setOf(one.Nothing(filter.Hasher{}, err)) }

// inner returns the Engine.
func (s *Set) inner() engine.Engine {
	if s.engine == nil {
		return s.nothing()
	}
	return s.engine
}

//go:noinline
func (s *Set) nothing() engine.Engine { return one.Nothing(s.query.Hasher(), nil) } // so that inner is inlined

// at is Engine.At.
func (s *Set) at(h filter.Hash, change bool) (engine.One, error) {
	if s.one != nil {
		return s.one, nil
	}
	return s.find(h, change)
}

//go:noinline
func (s *Set) find(h filter.Hash, change bool) (engine.One, error) { // so that at is inlined
	return s.inner().At(h, change)
}

// other returns the Engine of the second set of an operation on two sets, or nil if s is nil.
func (s *Set) other() engine.Engine {
	if s == nil {
		return nil
	}
	return s.inner()
}

// isEmpty reports whether s is nil or has no filter.
func (s *Set) isEmpty() bool {
	return s == nil || s.Spec().Family() == ""
}

// take makes s stand on e.
func (s *Set) take(e engine.Engine) {
	f := e.Facts()
	s.query = kernel.NewQuery(f.Hasher, f.Query, e)
	s.engine, s.hashes, s.shared, s.moves, s.moved = e, f.Hashes, f.Shared, f.Moves, *f.Moves
	s.one, _ = e.(engine.One)
}

// begin begins a change. It panics if it detects a change by another goroutine at the same time. The flag is not
// atomic, because an atomic flag costs more; so begin may miss a change.
func (s *Set) begin() {
	if s.shared {
		return
	}
	if s.changing {
		panic("bloomery: two goroutines change a Set at the same time, which loses keys: make the Set with " +
			"Config.Concurrent, open it with WithConcurrent, or hold a mutex")
	}
	s.changing = true
}

// end ends a change. If the Engine has replaced its filter, the Set takes the new one. Otherwise end writes nothing to
// a Set for many writers, since many goroutines may change it at once.
func (s *Set) end() {
	if s.changing {
		s.changing = false
	}
	if s.moves != nil && *s.moves != s.moved {
		s.take(s.engine)
	}
}

// Hasher returns the hash function of the keys.
func (s *Set) Hasher() filter.Hasher { return s.query.Hasher() }

// Spec returns the Spec of the filter, which fixes its geometry. For a sharded Set it is the Spec of each shard that
// the build was given.
func (s *Set) Spec() filter.Spec { return s.inner().Spec() }

// Info describes the filter. It may read all of it. Its rates are at least n/2^b, the probability that an absent key
// has the same hash of b bits as one of the n keys. For a sharded Set they are means over the shards, with the figures
// of the manifest for unchanged shards; Fill, FillSearched, Capacity and Pools are 0.
func (s *Set) Info() filter.Info { return s.inner().Info() }

// planned returns the planned false-positive rate of the filter, or 0 if it has none: see Config.FPR. It is
// stored in the file, and every change keeps it.
func (s *Set) planned() float64 { return *s.inner().Facts().Planned }

// choose sets the planned rate.
func (s *Set) choose(rate float64) {
	s.engine = s.inner()
	*s.engine.Facts().Planned = rate
}

// checkFPR is engine.CheckRate. If most is 0, it does not read the filter.
func (s *Set) checkFPR(most float64) error {
	if most == 0 {
		return nil
	}
	return engine.CheckRate(s.Info(), most)
}

// Len returns the number of keys added minus the number removed, or 0 if the file does not contain it. A key that was
// added twice counts twice, except in families that drop duplicates; see filter.Info.
func (s *Set) Len() uint64 { return s.inner().Len() }

// ValueBits returns the number of bits of the values that the Set stores, at least 1. It may load a shard of a sharded
// Set. The error wraps errors.ErrUnsupported if the Set stores no values.
func (s *Set) ValueBits() (int, error) { return engine.ValueBits(s.inner()) }

// FileInfo describes the file that a Set was read from, or the files of all shards of a sharded Set.
type FileInfo struct {
	Bytes   uint64 // the length of the file, or the sum of the lengths of all shards, in bytes
	Version uint16 // the version of the file format, from 1
	Trimmed bool   // the file, or every shard, has the form of [Set.Trimmed]
}

// FileInfo describes the file, folder or bytes that the Set was opened, read or made from. It is zero for other Sets,
// such as Sets of New and Build without Config.Sharding.Dir, and after Close. Changes of the Set do not change it.
func (s *Set) FileInfo() FileInfo {
	stored := s.inner().Facts().Stored
	if stored.Bytes == 0 { // the Set was not read from a file
		return FileInfo{}
	}

	return FileInfo{Bytes: stored.Bytes, Version: container.Version, Trimmed: stored.Trimmed}
}

// Manifest returns a copy of the manifest of a sharded Set, as it was read or last written, or nil for other Sets.
func (s *Set) Manifest() *shard.Manifest {
	if parts := s.inner().Parts(); parts != nil {
		return parts.Manifest()
	}
	return nil
}

// Check reads all shards of a sharded Set that are not loaded and checks them completely, without keeping them in
// memory. progress, if not nil, is called with the number of bytes checked so far. The error is a *shard.Error of the
// first shard that is damaged, missing or foreign, or the cause of ctx, and otherwise Err. For other Sets, which Open
// has checked, it returns Err.
func (s *Set) Check(ctx context.Context, progress func(bytes uint64)) error {
	return s.inner().Check(ctx, progress)
}

// Err returns an error wrapping filter.ErrFile if the file of a mapped Set was overwritten or truncated in place since
// Open. Earlier answers may then be wrong. It compares size, time of modification and header of the file, with a system
// call. For a sharded Set it is a *shard.Error of a loaded shard, or of a shard whose last load failed, until a later
// one succeeds. After Close, or after a failed UnmarshalBinary of a Set without a filter, it returns an error that says
// so. It returns nil for other Sets.
func (s *Set) Err() error { return s.inner().Err() }

// Close releases the memory of a Set that was opened from a file or folder. No query may be running. Afterwards
// Contains is true, and Err and other methods return an error. [Live] has a Close that waits for queries. For Sets in
// memory, such as Sets of New and Build, Close does nothing.
func (s *Set) Close() error {
	e := s.inner()
	if e.Facts().Stored == (engine.Stored{}) {
		return nil
	}
	s.take(one.Nothing(filter.Hasher{}, engine.ErrClosed))
	return e.Close()
}

// Estimate is an estimated number of distinct keys, with the ends of its 95% interval, which are whole numbers.
type Estimate struct {
	Keys      float64 // +Inf if the filter is full: every bit is set
	Low, High float64 // High is +Inf if only a lower bound is known
	// Counted reports that the number is not estimated: the filter counts its keys, and its bits do not
	// tell their number. Keys, Low and High are then Set.Len, or if a filter counts additions of each key, the
	// number of distinct fingerprints.
	Counted bool
}

// Overlap holds estimates of the numbers of distinct keys in two sets, in their union, and in their intersection.
type Overlap struct {
	A, B, Union, Intersection Estimate
}

// EstimateInterval estimates the number of distinct keys, with a 95% interval, from the bits of the filter, in the
// families standard, blocked, counting, guava and bitsandblooms; in others the Estimate is Counted. It assumes that the
// keys do not depend on the hash function. It may read the whole filter. For a sharded Set it adds up the estimates of
// the shards.
func (s *Set) EstimateInterval() (Estimate, error) {
	e, err := s.inner().EstimateInterval()
	return Estimate(e), err
}

// EstimateOverlap estimates how many distinct keys s and o hold, together and in common, with 95% intervals. It reads
// both filters and changes none. The interval of the number of common keys is as wide as the interval of the union,
// also if few keys are common. The error wraps filter.ErrMismatch unless both have the same Spec and hash function,
// including seed or secret, and errors.ErrUnsupported in families without EstimateInterval.
func (s *Set) EstimateOverlap(o *Set) (Overlap, error) {
	v, err := s.inner().EstimateOverlap(o.other())
	return Overlap{Estimate(v.A), Estimate(v.B), Estimate(v.Union), Estimate(v.Intersection)}, err
}
