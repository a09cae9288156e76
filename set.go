package bloomery

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// Set is a filter with the hash function of its keys. Queries are safe for concurrent use. Changes need exclusive use,
// unless the Set was made with Config.Concurrent or WithConcurrent.
//
// The zero Set contains nothing; fill it with UnmarshalBinary, UnmarshalText or ReadFrom. If that fails, and after
// Close, a Set without a filter cannot know its answers: Contains and the other queries are true, and Err says why. A
// Set must not be copied after first use: see Clone.
type Set struct {
	_      [0]atomic.Bool // go vet reports copies
	filter family.Filter  // engine.Facts.Query
	hasher filter.Hasher
	engine engine.Engine // nil in the zero Set: see inner
	one    engine.One    // the Engine if it is one filter, else nil
	hashes bool          // engine.Facts.Hashes
	moves  *uint32       // engine.Facts.Moves; nil in the zero Set
	moved  uint32        // *moves when filter was set
}

// Stored describes the file that a Set was read from.
type Stored = engine.Stored

// NewSet returns a Set of a filter and the hasher of its keys. The Set takes over the filter. With a nil filter it
// returns an empty receiver for UnmarshalBinary, UnmarshalText and ReadFrom, which need the hasher for filters with a
// secret.
func NewSet(f family.Filter, h filter.Hasher) *Set {
	if f == nil {
		return &Set{hasher: h}
	}
	return setOf(one.New(f, h))
}

// newSet is NewSet, with the form for many writers if concurrent is true.
func newSet(f family.Filter, h filter.Hasher, concurrent bool) (*Set, error) {
	return made(one.NewForm(f, h, concurrent))
}

// setOf returns a Set that stands on e.
func setOf(e engine.Engine) *Set {
	s := new(Set)
	s.take(e)
	return s
}

// made is setOf for the results of a function that makes an Engine.
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
func (s *Set) nothing() engine.Engine { return one.Nothing(s.hasher, nil) } // so that inner is inlined

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

// other returns the Engine of the other set of an operation on two, or nil if that is nil.
func (s *Set) other() engine.Engine {
	if s == nil {
		return nil
	}
	return s.inner()
}

// isEmpty reports whether s is nil or has no filter.
func (s *Set) isEmpty() bool {
	if s == nil {
		return true
	}
	_, none := s.inner().(*one.None)
	return none
}

// take makes s stand on e.
func (s *Set) take(e engine.Engine) {
	f := e.Facts()
	s.filter, s.hasher, s.engine, s.hashes, s.moves, s.moved = f.Query, f.Hasher, e, f.Hashes, f.Moves, *f.Moves
	s.one, _ = e.(engine.One)
}

// follow follows the Engine after a call that may have replaced its filter. If it has not, follow writes nothing: many
// goroutines may change a Set for many writers at once.
func (s *Set) follow() {
	if s.moves != nil && *s.moves != s.moved {
		s.take(s.engine)
	}
}

// Filter returns the filter, for methods that only its family has. It is nil for the zero Set and a sharded one; see
// Shard. Do not change the filter of a Set from Open or FromBytes, and read that of a Set from Open in Guarded.
func (s *Set) Filter() family.Filter { return s.inner().Facts().Filter }

// Hasher returns the hash function of the keys.
func (s *Set) Hasher() filter.Hasher { return s.hasher }

// Spec returns the Spec of the filter, which fixes its geometry. For a sharded Set it is that of each shard, as it was
// given to the build.
func (s *Set) Spec() filter.Spec { return s.inner().Spec() }

// Info describes the filter. It may read all of it. Its rates are at least n/2^b, the probability that an absent
// key has the same hash of b bits as one of the n keys. For a sharded Set they are means over the shards, from the
// manifest as long as a shard has not been changed; Fill, FillSearched, Capacity and Pools are 0: see Shard.
func (s *Set) Info() filter.Info { return s.inner().Info() }

// FPRChosen returns the false-positive rate that was chosen for the filter, or 0 if none was: see Config.FPRChosen. It
// is stored in the file, and every change keeps it. Info().Exceeded reports whether the filter has left it.
func (s *Set) FPRChosen() float64 { return *s.inner().Facts().Chosen }

// SetFPRChosen sets the chosen rate, for a Set that was not built with one. 0 removes it. The error wraps
// filter.ErrConfig if rate is not below 1, or negative. It needs exclusive use.
func (s *Set) SetFPRChosen(rate float64) error {
	if err := checkRate("fpr_chosen", rate); err != nil {
		return err
	}
	s.choose(rate)
	return nil
}

// checkRate returns an error unless rate is a rate, or 0.
func checkRate(field string, rate float64) error {
	if rate >= 0 && rate < 1 {
		return nil
	}
	return family.Invalid(field, rate, "want a rate above 0 and below 1, or 0 for none")
}

// choose sets the chosen rate.
func (s *Set) choose(rate float64) {
	s.engine = s.inner()
	*s.engine.Facts().Chosen = rate
}

// CheckFPR returns an error wrapping filter.ErrRate if the false-positive rate exceeds most, by the rules of
// filter.Info.Exceeded. Call it after a change and before Save. If most is 0, it returns nil and does not read the
// filter.
func (s *Set) CheckFPR(most float64) error {
	if most == 0 {
		return nil
	}
	return engine.CheckRate(s.Info(), most)
}

// Len returns the number of keys added minus the number removed, or 0 if the file does not contain it. A key that was
// added twice counts twice, except in families that drop duplicates; see filter.Info.
func (s *Set) Len() uint64 { return s.inner().Len() }

// Stored describes the file, or the bytes, that the Set was read from, also after changes. It is zero for other Sets.
func (s *Set) Stored() Stored { return s.inner().Facts().Stored }

// Manifest returns a copy of the manifest of a sharded Set, as it was read or last written, or nil for other Sets.
func (s *Set) Manifest() *shard.Manifest {
	if parts := s.inner().Parts(); parts != nil {
		return parts.Manifest()
	}
	return nil
}

// Shard returns the Set of one shard of a sharded Set, which it loads on first use. Do not change or close it. The
// error is a *shard.Error if the shard cannot be read; it wraps filter.ErrConfig if there is no such shard.
func (s *Set) Shard(i int) (*Set, error) {
	if n := s.Stored().Shards; i < 0 || i >= n {
		return nil, fmt.Errorf("shard %d of a Set with %d shards: %w", i, n, filter.ErrConfig)
	}
	return made(s.inner().Parts().Shard(i))
}

// Check reads all shards of a sharded Set that are not loaded and checks them completely, without keeping them in
// memory. progress, if not nil, is called with the number of bytes checked so far. It returns a *shard.Error for the
// first shard that is damaged, missing or foreign, or the cause of ctx if that ends, and otherwise Err. For other Sets,
// which Open has checked, it returns Err.
func (s *Set) Check(ctx context.Context, progress func(bytes uint64)) error {
	return s.inner().Check(ctx, progress)
}

// Err returns an error wrapping filter.ErrFile if the file of a mapped Set was overwritten or truncated in place
// since Open. Earlier answers may then be wrong. It compares size, time of modification and header of the file, with a
// system call. For a sharded Set it is a *shard.Error of a loaded shard, or of a shard whose last load failed, until a
// later one succeeds. After Close, or if a Set without a filter could not be loaded, it says so. It returns nil for
// other Sets.
func (s *Set) Err() error { return s.inner().Err() }

// Guarded calls f, which reads s.Filter(), and returns its error. If the Set is mapped and its file was overwritten or
// truncated in place, Guarded returns an error wrapping filter.ErrFile; without it, reading a truncated file crashes
// the program. The other methods of Set need no Guarded.
func (s *Set) Guarded(f func() error) error { return s.inner().Guarded(f) }

// Close releases the memory of a Set that was read from a file or folder. No query may be running. Afterwards queries
// cannot know their answer: Contains is true, and Err and other methods return an error. Live has a Close that waits
// for queries. For other Sets, such as those of New and Build, Close does nothing.
func (s *Set) Close() error {
	e := s.inner()
	if e.Facts().Stored == (Stored{}) {
		return nil
	}
	s.take(one.Nothing(filter.Hasher{}, engine.ErrClosed))
	return e.Close()
}

// Estimate is an estimated number of distinct keys, with the ends of its 95% interval, which are whole numbers.
type Estimate = engine.Estimate

// Overlap has the numbers of distinct keys of two sets, of both together, and of those that they have in common.
type Overlap = engine.Overlap

// EstimateKeys returns the number of distinct keys, estimated from the bits if the family can, else Len. It is +Inf if
// every bit is set. It may read the whole filter.
func (s *Set) EstimateKeys() float64 { return s.inner().EstimateKeys() }

// EstimateInterval is EstimateKeys with a 95% interval, in families with family.CanEstimate: standard, blocked,
// counting, guava and bitsandblooms. It assumes that the keys do not depend on the hash function. In other families the
// Estimate is Counted. It may read the whole filter.
//
// The interval holds all numbers of keys that agree with the number of bits that are 0, see probe.KeysInCells for the
// equations. It is exact up to the normal limit: TestEstimateCoverage measures how often it holds the number. For a
// sharded Set it adds up the estimates of the shards.
func (s *Set) EstimateInterval() (Estimate, error) { return s.inner().EstimateInterval() }

// EstimateOverlap estimates how many distinct keys s and o hold, together and in common, with 95% intervals. Both must
// have the same Spec and hash function, including seed or secret; else the error wraps filter.ErrMismatch. It wraps
// errors.ErrUnsupported in families without family.CanEstimate. It reads both filters and changes none.
//
// The estimate of the common keys is |A| + |B| - |A ∪ B| with an interval of its own; see probe.CommonInCells for the
// equations. The interval does not shrink with the number of common keys: it is as wide as the error of the union.
func (s *Set) EstimateOverlap(o *Set) (Overlap, error) { return s.inner().EstimateOverlap(o.other()) }
