package one

import (
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// Contains reports whether a key may be in the set.
func (s *Set) Contains(h filter.Hash, raw []byte) bool {
	if raw != nil {
		return s.hasKey(raw)
	}
	return s.Has(h)
}

// hasKey reports whether a raw key may be in the set. Families that take raw keys hash them themselves.
func (s *Set) hasKey(key []byte) (present bool) {
	ended := s.guardReads(func() { present = s.raw.HasKey(key) })
	return present || !ended
}

// Ask is Contains with an error if the answer cannot be known.
func (s *Set) Ask(h filter.Hash, raw []byte) (bool, error) {
	present := s.Contains(h, raw)
	if err := s.fault.Load(); err != nil {
		return true, *err
	}
	return present, nil
}

// ContainsMany sets dst[i] to Contains of key i.
func (s *Set) ContainsMany(dst []bool, keys engine.Keys) {
	if s.raw == nil {
		done := false
		if keys.Uint64s != nil {
			s.guarded(dst, func() { done = s.whole.AskIntegers(dst, keys.Uint64s) })
		}
		// AskIntegers returns false if it has no kernel for this filter and processor, or if a fault ended it.
		if !done {
			keys.Ask(dst, s.hasher, s.HasMany)
		}
		return
	}

	for i := range dst {
		dst[i] = s.Contains(keys.Key(i, s.hasher.Form()))
	}
}

// HasMany sets dst[i] to Has(hs[i]) for every i.
func (s *Set) HasMany(dst []bool, hs []filter.Hash) { s.queryBatch(dst, hs, false) }

// HasManyCold is HasMany for a filter that is probably not in the caches.
func (s *Set) HasManyCold(dst []bool, hs []filter.Hash) { s.queryBatch(dst, hs, s.cold != nil) }

// Prefetch prefetches the words that queries of the keys read first, if the family can.
func (s *Set) Prefetch(hs []filter.Hash) {
	if s.cold != nil {
		s.guardReads(func() { s.cold.Prefetch(hs) }) // on some processors, Prefetch is a read, which may fault
	}
}

// Cold returns the filter if it is a ColdBatcher, else nil.
func (s *Set) Cold() family.ColdBatcher { return s.cold }

func (s *Set) queryBatch(dst []bool, hs []filter.Hash, cold bool) {
	s.guarded(dst, func() {
		switch {
		case cold:
			s.cold.HasManyCold(dst, hs)
		case s.batcher != nil:
			s.batcher.HasMany(dst, hs)
		default:
			for i, h := range hs {
				dst[i] = s.filter.Has(h)
			}
		}
	})
}

// guarded calls f, which sets dst. If f faults in the mapping, it sets all of dst to true, so that there is no false
// negative.
func (s *Set) guarded(dst []bool, f func()) {
	if !s.guardReads(f) {
		for i := range dst {
			dst[i] = true
		}
	}
}

// Count returns how often a key was added.
func (s *Set) Count(h filter.Hash) (n uint64, saturated bool, err error) {
	c, ok := s.main.(family.Counter)
	if !ok {
		return 0, false, s.Lacks(family.CanCount)
	}
	err = s.file.Guard(func() {
		// A key that the exceptions exclude was never added, although its cells may be set.
		if s.exceptions == nil || s.exceptions.Has(h) {
			n, saturated = c.Count(h)
		}
	})
	return n, saturated, err
}

// Get returns the value of a key.
func (s *Set) Get(h filter.Hash) (value uint64, ok bool, err error) {
	if err := s.missing(); err != nil {
		return 0, s.Has(h), err
	}

	v, is := s.main.(family.Getter)
	if !is || v.ValueBits() == 0 {
		return 0, false, s.noValues(is)
	}

	err = s.file.Guard(func() {
		if s.exceptions == nil || s.exceptions.Has(h) {
			value, ok = v.Get(h)
		}
	})
	return value, ok || err != nil, err
}

// ValueBits returns the number of bits of the value of a key.
func (s *Set) ValueBits() (int, error) {
	v, ok := s.main.(family.Getter)
	if !ok || v.ValueBits() == 0 {
		return 0, s.noValues(ok)
	}
	return v.ValueBits(), nil
}

// noValues returns the error for a filter without values. could reports whether other filters of its family have some.
func (s *Set) noValues(could bool) error {
	if err := s.missing(); err != nil {
		return err
	}

	others := families.With(family.CanBuildValues) // this includes all families whose values can change
	problem := "%s does not keep values; families that do: %s: %w"
	if could {
		problem = "%s was built without values; families with value_bits=: %s: %w"
	}
	return fmt.Errorf(problem, s.Spec(), strings.Join(others, ", "), filter.ErrUnsupported)
}
