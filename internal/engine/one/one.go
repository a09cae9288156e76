// Package one implements the engine of a Set that is one filter: in memory, in a mapped file, of raw keys, for many
// writers, or with exceptions. It is also the engine of a Set without a filter, which has type nothing in its place:
// see Set.missing.
package one

import (
	"cmp"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Set is one filter with the hasher of its keys.
type Set struct {
	filter     family.Filter
	main       family.Filter // the filter without its exceptions
	exceptions *except.Cascade
	hasher     filter.Hasher
	// adder, batcher, cold, raw and shared are the filter if it is one of these, else nil.
	adder   family.Adder
	batcher family.Batcher
	cold    family.ColdBatcher
	raw     family.RawKeyFilter
	shared  family.Concurrent
	whole   kernel.Query // of the filter in memory, also if that is mapped, for batches in guarded
	mapping
	moves   uint32        // see engine.Facts
	stored  engine.Stored // the file that the set was read from, or zero
	planned float64       // the planned false-positive rate, or 0
}

var _ engine.Engine = (*Set)(nil)

// New returns a Set of a filter and the hasher of its keys. It takes over the filter.
func New(f family.Filter, h filter.Hasher) *Set {
	s := new(Set)
	s.become(f, h)
	return s
}

// Nothing returns a Set without a filter, with the hasher of a later one. It contains nothing. If err is not nil, it is
// the reason that the answers are unknown, and Contains returns true.
func Nothing(h filter.Hasher, err error) *Set {
	s := New(nothing{err}, h)
	if err != nil {
		s.failed(err)
	}
	return s
}

// NewForm is New, or if concurrent is true, returns the Set in the form for many writers.
func NewForm(f family.Filter, h filter.Hasher, concurrent bool) (*Set, error) {
	if concurrent {
		if _, c := except.Split(f); c != nil {
			return nil, filter.ErrExceptions
		}
		sharer, ok := f.(family.Sharer)
		if !ok {
			return nil, families.Lacks(family.SpecOf(f), family.CanConcurrent)
		}
		f = sharer.Concurrent()
	}
	return New(f, h), nil
}

// become makes s a Set of another filter.
func (s *Set) become(f family.Filter, h filter.Hasher) {
	s.hasher, s.file, s.borrowed = h, nil, false
	s.fault.Store(nil)
	s.setFilter(f)
	s.borrowed = s.missing() != nil // so that Own does not return early, and copyBorrowed returns the error
}

// setFilter sets the filter and the fields that depend on it.
func (s *Set) setFilter(f family.Filter) {
	s.filter = f
	s.main, s.exceptions = except.Split(f)
	s.adder, _ = f.(family.Adder)
	s.batcher, _ = f.(family.Batcher)
	s.cold, _ = f.(family.ColdBatcher)
	s.shared, _ = f.(family.Concurrent)
	s.raw, _ = f.(family.RawKeyFilter)
	s.whole = kernel.NewQuery(s.hasher, f, nil)
	// Callers that cached Facts compare this number, and read them again.
	s.moves++
}

// withFilter returns a new Set of f with the hasher and the planned rate of s.
func (s *Set) withFilter(f family.Filter) *Set {
	o := New(f, s.hasher)
	o.planned = s.planned
	return o
}

// missing returns the error of methods that need a filter if there is none, else nil.
func (s *Set) missing() error {
	if none, ok := s.filter.(nothing); ok {
		return cmp.Or(none.why, engine.ErrEmpty)
	}
	return nil
}

// otherOne returns another Set of one filter. The error wraps filter.ErrMismatch if e is nil, empty or sharded.
func (s *Set) otherOne(e engine.Engine) (*Set, error) {
	o, ok := e.(*Set)
	if !ok && e != nil {
		return nil, engine.ErrOneSharded
	}
	if err := s.missing(); err != nil {
		return nil, err
	}
	if o == nil || o.missing() != nil {
		return nil, fmt.Errorf("the other set is empty or nil: %w", filter.ErrMismatch)
	}
	return o, nil
}

// inForm returns a filter in the form of s, for many writers or for one.
func (s *Set) inForm(f family.Filter) family.Filter {
	if s.shared == nil {
		return f
	}
	return f.(family.Sharer).Concurrent()
}

// Single returns a Snapshot of a Set for many writers. It returns any other Set itself, which must not change while the
// result is in use.
func (s *Set) Single() (*Set, error) {
	if s.shared == nil {
		return s, s.missing()
	}
	f, err := s.shared.Snapshot()
	if err != nil {
		return nil, err
	}
	return s.withFilter(f), nil
}

// Facts returns the Facts of s. Query is the filter if it is in memory, else s, which survives faults of the mapping.
func (s *Set) Facts() engine.Facts {
	if s.missing() != nil {
		// Shared stays true: changes fail without losing a key, and Close must not turn a Set for many writers into one
		// for a single writer.
		return engine.Facts{Hasher: s.hasher, Shared: true, Planned: &s.planned, Moves: &s.moves}
	}

	f := engine.Facts{
		Shared: s.shared != nil, Filter: s.filter, Hasher: s.hasher, Hashes: s.raw == nil, Planned: &s.planned,
		Moves: &s.moves, Stored: s.stored,
	}

	switch {
	case !f.Hashes:
	case s.file != nil:
		f.Query = s
	default:
		f.Query = s.filter
	}
	return f
}

// Filter returns the filter.
func (s *Set) Filter() family.Filter { return s.filter }

// Hasher returns the hasher of the keys.
func (s *Set) Hasher() filter.Hasher { return s.hasher }

// Spec returns the Spec of the filter.
func (s *Set) Spec() filter.Spec { return family.SpecOf(s.filter) }

// Info describes the filter.
func (s *Set) Info() (i filter.Info) {
	s.guardReads(func() { i = s.filter.Info() })
	lowest := family.LowestRate(s.hasher.ID(), i.Keys)
	i.FPRPrior, i.FPRPosterior = max(i.FPRPrior, lowest), max(i.FPRPosterior, lowest)
	i.FPRPlanned, i.Form = s.planned, s.hasher.Form()
	return i
}

// Parts returns nil: there is one filter.
func (s *Set) Parts() engine.Parts { return nil }

// Len returns the number of keys.
func (s *Set) Len() uint64 {
	if s.shared != nil {
		return s.shared.Keys()
	}
	if e, ok := s.filter.(family.Encoder); ok {
		return e.Encode().Keys
	}
	return s.Info().Keys
}

// Lacks returns the error for an operation that the filter does not support.
func (s *Set) Lacks(can family.Ability) error {
	if err := s.missing(); err != nil {
		return err
	}
	reads := can == family.CanCount || can == family.CanValues // filters with exceptions still support these
	if s.exceptions != nil && !reads {
		return filter.ErrExceptions
	}
	return families.Lacks(s.Spec(), can)
}

// nothing is the filter of a Set without one. If why is not nil, it is the reason that the answers are unknown. nothing
// takes raw keys, because the hasher of a Set without a filter may be the zero Hasher, which cannot hash.
type nothing struct{ why error }

func (n nothing) Has(filter.Hash) bool { return n.why != nil }
func (n nothing) HasKey([]byte) bool   { return n.why != nil }
func (nothing) AddKey([]byte) error    { return engine.ErrEmpty } // not called: see Set.Own
func (nothing) Info() filter.Info      { return filter.Info{} }
