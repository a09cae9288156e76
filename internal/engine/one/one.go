// Package one is the engine of a Set that is one filter: in memory, in a mapped file, of raw keys, for many writers,
// with exceptions, or none at all. What differs between these forms stands in mapping.go, raw.go and none.go.
package one

import (
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
)

// Set is one filter with the hasher of its keys.
type Set struct {
	filter     filter.Filter
	main       filter.Filter // the filter without its exceptions
	exceptions *except.Cascade
	hasher     filter.Hasher
	takes      engine.Takes
	// adder, batcher, cold, raw and shared are the filter if it is one of these, else nil.
	adder   filter.Adder
	batcher filter.Batcher
	cold    filter.ColdBatcher
	raw     filter.RawKeyFilter
	shared  filter.Concurrent
	mapping
	moves  uint32        // see engine.Front
	stored engine.Stored // the file that the set was read from, or zero
	chosen float64       // the chosen false-positive rate, or 0
}

var _ engine.Engine = (*Set)(nil)

// New returns a Set of a filter and the hasher of its keys. It takes over the filter.
func New(f filter.Filter, h filter.Hasher) *Set {
	s := new(Set)
	s.become(f, h)
	return s
}

// NewForm is New, with the form for many writers if concurrent is true.
func NewForm(f filter.Filter, h filter.Hasher, concurrent bool) (*Set, error) {
	if concurrent {
		if _, c := except.Split(f); c != nil {
			return nil, filter.ErrExceptions
		}
		sharer, ok := f.(filter.Sharer)
		if !ok {
			return nil, families.Lacks(filter.SpecOf(f), filter.CanConcurrent)
		}
		f = sharer.Concurrent()
	}
	return New(f, h), nil
}

// become makes s a Set of another filter.
func (s *Set) become(f filter.Filter, h filter.Hasher) {
	s.hasher, s.file, s.borrowed = h, nil, false
	s.fault.Store(nil)
	s.set(f)
}

// set sets the filter and what follows from it.
func (s *Set) set(f filter.Filter) {
	s.filter, s.takes = f, engine.Hashes
	s.main, s.exceptions = except.Split(f)
	s.adder, _ = f.(filter.Adder)
	s.batcher, _ = f.(filter.Batcher)
	s.cold, _ = f.(filter.ColdBatcher)
	s.shared, _ = f.(filter.Concurrent)
	if s.raw, _ = f.(filter.RawKeyFilter); s.raw != nil {
		s.takes = engine.RawKeys
	}
	s.moves++
}

// like returns a Set of another filter with the hasher and the chosen rate of s.
func (s *Set) like(f filter.Filter) *Set {
	o := New(f, s.hasher)
	o.chosen = s.chosen
	return o
}

// inForm returns a filter in the form of s: for many writers or for one.
func (s *Set) inForm(f filter.Filter) filter.Filter {
	if s.shared == nil {
		return f
	}
	return f.(filter.Sharer).Concurrent()
}

// Single returns a Snapshot of a Set for many writers, and any other Set itself, for use while that does not change.
func (s *Set) Single() (*Set, error) {
	if s.shared == nil {
		return s, nil
	}
	f, err := s.shared.Snapshot()
	if err != nil {
		return nil, err
	}
	return s.like(f), nil
}

// Front has the filter if it is in memory, else s.
func (s *Set) Front() engine.Front {
	f := engine.Front{Hasher: s.hasher, Takes: s.takes, Filter: s, Moves: &s.moves}
	switch {
	case s.takes != engine.Hashes:
		f.Filter = nil
	case s.file == nil:
		f.Filter = s.filter
	}
	return f
}

// Filter returns the filter.
func (s *Set) Filter() filter.Filter { return s.filter }

// Hasher returns the hasher of the keys.
func (s *Set) Hasher() filter.Hasher { return s.hasher }

// Spec returns the Spec of the filter.
func (s *Set) Spec() filter.Spec { return filter.SpecOf(s.filter) }

// Info describes the filter.
func (s *Set) Info() (i filter.Info) {
	s.guard(func() { i = s.filter.Info() })
	lowest := s.hasher.ID().LowestRate(i.Keys)
	i.FPRPrior, i.FPRPosterior = max(i.FPRPrior, lowest), max(i.FPRPosterior, lowest)
	i.FPRChosen = s.chosen
	return i
}

// Chosen returns the chosen false-positive rate, or 0.
func (s *Set) Chosen() float64 { return s.chosen }

// SetChosen sets the chosen rate.
func (s *Set) SetChosen(rate float64) { s.chosen = rate }

// Stored describes the file that the Set was read from.
func (s *Set) Stored() engine.Stored { return s.stored }

// Exceptions reports whether the filter has exceptions.
func (s *Set) Exceptions() bool { return s.exceptions != nil }

// Parts returns nil: there is one filter.
func (s *Set) Parts() engine.Parts { return nil }

// Len returns the number of keys.
func (s *Set) Len() uint64 {
	if s.shared != nil {
		return s.shared.Keys()
	}
	if e, ok := s.filter.(filter.Encoder); ok {
		return e.Encode().Keys
	}
	return s.Info().Keys
}

// Can returns an error unless the family has an ability.
func (s *Set) Can(a filter.Ability) error {
	f, err := families.ByName(s.Spec().Family())
	if err == nil && !f.Can.Has(a) {
		err = s.Lacks(a)
	}
	return err
}

// Lacks returns the error for an operation that the filter does not have.
func (s *Set) Lacks(can filter.Ability) error {
	if _, ok := s.filter.(gone); ok {
		return engine.ErrClosed
	}
	reads := can == filter.CanCount || can == filter.CanValues // as filters with exceptions do
	if s.Exceptions() && !reads {
		return filter.ErrExceptions
	}
	return families.Lacks(s.Spec(), can)
}
