package bloomery

import (
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/except"
)

// Set is a filter with the hash function of its keys. Queries are safe for concurrent use. Changes need exclusive use,
// unless the Set was made with Config.Concurrent or WithConcurrent.
//
// The zero Set contains nothing; fill it with UnmarshalBinary, UnmarshalText or ReadFrom. If that fails, and after Close,
// a Set without a filter cannot know its answers: Contains and the other queries are true, and Err says why. A Set must
// not be copied after first use: see Clone.
type Set struct {
	// plain reports that queries can use the filter directly: it is not nil, takes hashes, and is not in a mapped file.
	plain  bool
	filter filter.Filter
	hasher filter.Hasher
	// shards are those of a sharded Set, else nil. A sharded Set has no filter of its own.
	shards *shards
	// batcher, cold, raw and concurrent are the filter if it is one of these, else nil.
	batcher    filter.Batcher
	cold       filter.ColdBatcher
	raw        filter.RawKeyFilter
	concurrent filter.Concurrent
	// mapping is the file that the filter lies in, or nil. borrowed reports that the memory of the filter is not our
	// own. The first change copies the filter and clears both.
	mapping  *container.Mapping
	borrowed bool
	fault    atomic.Pointer[error] // the first fault in the mapping
	stored   Stored                // the file that the set was read from, or zero
	chosen   float64               // the chosen false-positive rate, or 0
}

// Stored describes the file that a Set was read from.
type Stored struct {
	Bytes   uint64 // length of the file, or of all shards
	Version uint16 // of the format, the highest one of all shards
	Trimmed bool   // the file, or each shard, has the form of Set.Trimmed
	Shards  int    // number of shards of a sharded Set, else 0
}

// Stored describes the file, or the bytes, that the Set was read from, also after changes. It is zero for other Sets.
func (s *Set) Stored() Stored {
	if s.shards != nil {
		return s.shards.stored()
	}
	return s.stored
}

// NewSet returns a Set of a filter and the hasher of its keys. The Set takes over the filter. With a nil filter it
// returns an empty receiver for UnmarshalBinary, UnmarshalText and ReadFrom, which need the hasher for filters with a
// secret.
func NewSet(f filter.Filter, h filter.Hasher) *Set {
	s := new(Set)
	s.become(f, h)
	return s
}

// newSet is NewSet, with the form for many writers if concurrent is true.
func newSet(f filter.Filter, h filter.Hasher, concurrent bool) (*Set, error) {
	if concurrent {
		if _, ok := f.(*except.Filter); ok {
			return nil, filter.ErrExceptions
		}
		sharer, ok := f.(filter.Sharer)
		if !ok {
			return nil, families.Lacks(filter.SpecOf(f), filter.CanConcurrent)
		}
		f = sharer.Concurrent()
	}
	return NewSet(f, h), nil
}

// main returns the filter without its exceptions, and these, or nil if it has none.
func (s *Set) main() (filter.Filter, *except.Cascade) {
	if f, ok := s.filter.(*except.Filter); ok {
		return f.Main(), f.Cascade()
	}
	return s.filter, nil
}

// become makes s a Set of another filter.
func (s *Set) become(f filter.Filter, h filter.Hasher) {
	s.filter, s.hasher, s.shards, s.mapping, s.borrowed = f, h, nil, nil, false
	s.batcher, _ = f.(filter.Batcher)
	s.cold, _ = f.(filter.ColdBatcher)
	s.raw, _ = f.(filter.RawKeyFilter)
	s.concurrent, _ = f.(filter.Concurrent)
	s.plain = f != nil && s.raw == nil
	s.fault.Store(nil)
}

// Filter returns the filter, for methods that only its family has. It is nil for the zero Set and a sharded one; see
// Shard. Do not change the filter of a Set from Open or FromBytes, and read that of a Set from Open in Guarded.
func (s *Set) Filter() filter.Filter { return s.filter }

// Hasher returns the hash function of the keys.
func (s *Set) Hasher() filter.Hasher { return s.hasher }

// Spec returns the Spec of the filter, which fixes its geometry. For a sharded Set it is that of each shard, as it was
// given to the build.
func (s *Set) Spec() filter.Spec {
	if s.shards != nil {
		return s.shards.manifest.Spec
	}
	if s.filter == nil {
		return filter.Spec{}
	}
	return filter.SpecOf(s.filter)
}

// Info describes the filter. It may read all of it. Its rates are at least the lowest of the hash function; see
// filter.HashID.LowestRate. For a sharded Set they are means over the shards, from the manifest as long as a shard has
// not been changed; Fill, FillSearched, Capacity and Pools are 0: see Shard.
func (s *Set) Info() (i filter.Info) {
	if s.filter != nil || s.shards != nil {
		s.guard(func() {
			if s.shards != nil {
				i = s.shards.info()
			} else {
				i = s.filter.Info()
			}
		})
		lowest := s.hasher.ID().LowestRate(i.Keys)
		i.FPRPrior, i.FPRPosterior = max(i.FPRPrior, lowest), max(i.FPRPosterior, lowest)
	}
	i.FPRChosen = s.chosen
	return i
}

// FPRChosen returns the false-positive rate that was chosen for the filter, or 0 if none was: see Config.FPRChosen. It
// is stored in the file, and every change keeps it. Info().Exceeded reports whether the filter has left it.
func (s *Set) FPRChosen() float64 { return s.chosen }

// SetFPRChosen sets the chosen rate, for a Set that was not built with one. 0 removes it. The error wraps
// filter.ErrConfig if rate is not below 1, or negative. It needs exclusive use.
func (s *Set) SetFPRChosen(rate float64) error {
	if err := (Config{FPRChosen: rate}).checkFields(); err != nil {
		return err
	}
	s.chosen = rate
	return nil
}

// CheckFPR returns a *filter.RateError if the false-positive rate Exceeds most. Call it after a change and before Save.
// If most is 0, it returns nil and does not read the filter.
func (s *Set) CheckFPR(most float64) error {
	if most == 0 {
		return nil
	}
	return s.Info().CheckFPR(most)
}

// Len returns the number of keys added minus the number removed, or 0 if the file does not contain it. A key that was
// added twice counts twice, except in families that drop duplicates; see filter.Info.
func (s *Set) Len() uint64 {
	if s.shards != nil {
		return s.shards.keys()
	}
	if s.concurrent != nil {
		return s.concurrent.Keys()
	}
	if e, ok := s.filter.(filter.Encoder); ok {
		return e.Encode().Keys
	}
	return s.Info().Keys
}

// EstimateKeys returns the number of distinct keys, estimated from the bits if the family can, else Len. It is +Inf if
// every bit is set. It may read the whole filter.
func (s *Set) EstimateKeys() (n float64) {
	if s.shards != nil {
		return s.estimateShards()
	}
	if e, ok := s.filter.(filter.Estimator); ok {
		s.guard(func() { n = e.EstimateKeys() })
		return n
	}
	if s.filter == nil {
		return 0
	}
	return float64(s.Len())
}

// Contains reports whether key may be in the set. If it is false, the key is absent. For an absent key it is true with
// probability Info().FPRPosterior. If the file of a mapped Set or a shard cannot be read, it is true, and Err returns
// an error; see ContainsContext.
func (s *Set) Contains(key []byte) bool {
	if s.plain {
		return s.filter.Has(s.hasher.Sum(key))
	}
	if s.shards != nil {
		return s.shardedHas(s.hasher.Sum(key))
	}
	if s.raw != nil {
		return s.containsRaw(string(key))
	}
	if s.filter == nil {
		return s.unknown()
	}
	return s.guardedHas(s.hasher.Sum(key))
}

// ContainsString is Contains for a string.
func (s *Set) ContainsString(key string) bool {
	if s.plain {
		return s.filter.Has(s.hasher.SumString(key))
	}
	if s.shards != nil {
		return s.shardedHas(s.hasher.SumString(key))
	}
	if s.raw != nil {
		return s.containsRaw(string([]byte(key))) // a copy, so that key does not escape
	}
	if s.filter == nil {
		return s.unknown()
	}
	return s.guardedHas(s.hasher.SumString(key))
}

// ContainsUint64 is Contains for the eight bytes of key, little endian.
func (s *Set) ContainsUint64(key uint64) bool {
	if s.plain {
		return s.filter.Has(s.hasher.SumUint64(key))
	}
	if s.shards != nil {
		return s.shardedHas(s.hasher.SumUint64(key))
	}
	if s.raw != nil {
		return s.containsRaw(string(littleEndian(key)))
	}
	if s.filter == nil {
		return s.unknown()
	}
	return s.guardedHas(s.hasher.SumUint64(key))
}

// Has is Contains for a key hashed by Hasher. A filter that takes raw keys has more false positives here.
func (s *Set) Has(h filter.Hash) bool {
	if s.plain {
		return s.filter.Has(h)
	}
	if s.shards != nil {
		return s.shardedHas(h)
	}
	if s.filter == nil {
		return s.unknown()
	}
	return s.guardedHas(h)
}

// unknown is the answer of a Set without a filter: false for the zero Set, and true after Close or a failed load.
func (s *Set) unknown() bool { return s.fault.Load() != nil }

// containsRaw queries a filter that takes raw keys.
func (s *Set) containsRaw(key string) (present bool) {
	present = true
	s.guard(func() { present = s.raw.HasKey([]byte(key)) })
	return present
}

// guardedHas queries a filter that may lie in a mapped file.
func (s *Set) guardedHas(h filter.Hash) (present bool) {
	if s.mapping == nil {
		return s.filter.Has(h)
	}
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if err := s.mapping.Fault(recover()); err != nil {
			s.failed(err)
			present = true // not a false negative
		}
	}()
	return s.filter.Has(h)
}

// guard calls f, which reads the filter. If the mapping faults, it stores the error for Err.
func (s *Set) guard(f func()) {
	if err := s.guarding(f); err != nil {
		s.failed(err)
	}
}

// guarding calls f, which reads the filter, and returns the error of a fault in the mapping.
func (s *Set) guarding(f func()) error {
	if s.mapping == nil {
		f()
		return nil
	}
	return s.mapping.Guard(f)
}

// failed keeps the first fault for Err. It is a function of its own so that err escapes in case of a fault only.
func (s *Set) failed(err error) { s.fault.CompareAndSwap(nil, &err) }

// Err returns an error wrapping container.ErrFile if the file of a mapped Set was overwritten or truncated in place
// since Open. Earlier answers may then be wrong. It compares size, time of modification and header of the file, with a
// system call. For a sharded Set it is a *shard.Error of a loaded shard, or of a shard whose last load failed, until a later
// one succeeds. After Close, or if a Set without a filter could not be loaded, it says so. It returns nil for other
// Sets.
func (s *Set) Err() error {
	if err := s.fault.Load(); err != nil {
		return *err
	}
	if s.shards != nil {
		return s.shards.err()
	}
	if s.mapping == nil {
		return nil
	}
	return s.mapping.Err()
}

// Close releases the memory of a Set that was read from a file or folder. No query may be running. Afterwards queries
// cannot know their answer: Contains is true, and Err and other methods return an error. Live has a Close that waits
// for queries. For other Sets, such as those of New and Build, Close does nothing.
func (s *Set) Close() error {
	m, t := s.mapping, s.shards
	if m == nil && t == nil && s.stored == (Stored{}) {
		return nil
	}
	s.become(nil, filter.Hasher{})
	s.stored = Stored{}
	s.failed(errSetClosed)
	switch {
	case t != nil:
		return t.close()
	case m != nil:
		return m.Close()
	}
	return nil
}

// newClosed returns a Set that answers like a closed one; Err returns err.
func newClosed(err error) *Set {
	s := new(Set)
	s.failed(err)
	return s
}

// lacks returns the error for an operation that the family does not have.
func (s *Set) lacks(can filter.Ability) error {
	if s.shards != nil {
		return families.Lacks(s.Spec(), can)
	}
	if s.filter == nil {
		return s.empty()
	}
	reads := can == filter.CanCount || can == filter.CanValues // as filters with exceptions do
	if _, c := s.main(); c != nil && !reads {
		return filter.ErrExceptions
	}
	return families.Lacks(s.Spec(), can)
}

// empty returns the error of methods of a Set without a filter.
func (s *Set) empty() error {
	if err := s.fault.Load(); err != nil {
		return *err
	}
	return errEmpty
}

var (
	errEmpty     = errors.New("bloomery: the Set is empty: it was neither made by New or Build nor read")
	errSetClosed = errors.New("bloomery: the Set is closed")
)

// hashPool holds buffers for the hashes of batches.
var hashPool = sync.Pool{New: func() any { return new([batchLen]filter.Hash) }}

// batchLen is the number of keys that are hashed before each batch query of the filter.
const batchLen = 256
