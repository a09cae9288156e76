package one

import (
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// Add adds a key.
func (s *Set) Add(h filter.Hash, raw []byte) error {
	if err := s.Own(); err != nil {
		return err
	}
	switch {
	case raw != nil:
		return s.raw.AddKey(raw)
	case s.adder != nil:
		return s.adder.Add(h)
	}
	return s.Lacks(family.CanAdd)
}

// AddMany adds keys until one fails.
func (s *Set) AddMany(keys engine.Keys) error {
	wrap := func(i int, err error) error { return fmt.Errorf("key %d of %d: %w", i, keys.Len(), err) }
	if s.raw == nil {
		return keys.Each(s.hasher, func(from int, hs []filter.Hash) error {
			for i, h := range hs {
				if err := s.Add(h, nil); err != nil {
					return wrap(from+i, err)
				}
			}
			return nil
		})
	}

	for i := range keys.Len() {
		if err := s.Add(keys.Key(i, s.hasher.Form())); err != nil {
			return wrap(i, err)
		}
	}
	return nil
}

// TestAndAdd adds a key unless it looks present.
func (s *Set) TestAndAdd(h filter.Hash, raw []byte) (present bool, err error) {
	if s.shared != nil {
		return s.shared.TestAndAdd(h)
	}
	if err := s.Own(); err != nil {
		return false, err
	}

	switch {
	case raw != nil:
		present = s.raw.HasKey(raw)
	case s.adder == nil:
		return false, s.Lacks(family.CanAdd)
	default:
		present = s.filter.Has(h)
	}
	if present {
		return true, nil
	}
	return false, s.Add(h, raw)
}

// Remove undoes one Add.
func (s *Set) Remove(h filter.Hash) error {
	if err := s.Own(); err != nil {
		return err
	}
	if r, ok := s.filter.(family.Remover); ok {
		return r.Remove(h)
	}
	return s.Lacks(family.CanRemove)
}

// Valuer returns the filter as a Valuer, ready to be changed.
func (s *Set) Valuer() (family.Valuer, error) {
	if err := s.Own(); err != nil {
		return nil, err
	}

	v, ok := s.filter.(family.Valuer)
	if ok && v.ValueBits() > 0 {
		return v, nil
	}
	if g, static := s.filter.(family.Getter); !ok && static && g.ValueBits() > 0 {
		return nil, fmt.Errorf("the values of %s came with the keys of its build and cannot change; families whose "+
			"values can: %s: %w", s.Spec(), strings.Join(families.With(family.CanValues), ", "), filter.ErrUnsupported)
	}
	return nil, s.Lacks(family.CanValues)
}

// At returns s. The methods of s that change the filter call Own first.
func (s *Set) At(filter.Hash, bool) (engine.One, error) { return s, nil }

// Own prepares the filter for changes: it copies a filter that lies in a mapped file or in the bytes given to
// FromBytes. A filter with exceptions cannot change: the error is filter.ErrExceptions. Own is small enough to be
// inlined into each change.
func (s *Set) Own() error {
	if !s.borrowed && s.exceptions == nil {
		return nil
	}
	return s.copyBorrowed()
}

func (s *Set) copyBorrowed() error {
	if err := s.missing(); err != nil {
		return err
	}
	// An added key could be listed among the exceptions, which would make it a false negative.
	if s.exceptions != nil {
		return filter.ErrExceptions
	}
	f, err := s.copied()
	if err != nil {
		return err
	}
	return s.replace(f)
}

// replace makes f the filter, and unmaps the file of the old one.
func (s *Set) replace(f family.Filter) error {
	// become clears the field, and the old file must stay mapped until the new filter is in place.
	file := s.file
	s.become(f, s.hasher)
	return file.Close()
}

// copied returns a copy of the filter.
func (s *Set) copied() (f family.Filter, err error) {
	e, ok := s.filter.(family.Encoder)
	if !ok {
		return nil, fmt.Errorf("%T cannot be copied: %w", s.filter, filter.ErrUnsupported)
	}

	err = s.Guarded(func() error {
		c := e.Encode()
		sections := make([][]uint64, len(c.Sections))
		for i, w := range c.Sections {
			if sections[i], err = bitvec.Alloc(uint64(len(w))); err != nil {
				return err
			}
			// Pages of the mapped file are released as they are copied, so the memory does not double.
			bitvec.Pass(sections[i], w, s.file.Release, func(words, other []uint64) { copy(words, other) })
		}
		c.Sections = sections
		if f, err = families.Decode(c); err != nil || s.exceptions == nil {
			return err
		}
		copied, err := s.exceptions.Clone()
		if err == nil {
			f = except.New(f, copied)
		}
		return err
	})
	return f, err
}

// Reset removes all keys and keeps the geometry.
func (s *Set) Reset() error {
	kind, err := families.ByName(s.Spec().Family())
	if s.exceptions != nil || err != nil || kind.New == nil {
		return s.Lacks(family.CanStartEmpty)
	}
	f, err := kind.Empty(s.filter)
	if err != nil {
		return err
	}
	return s.replace(s.inForm(f))
}

// Except replaces the exceptions of the filter, unless c is nil.
func (s *Set) Except(c *except.Cascade) error {
	switch err := s.missing(); {
	case err != nil:
		return err
	case s.shared != nil:
		return fmt.Errorf("exceptions for a set for many writers, which takes keys: %w", filter.ErrUnsupported)
	case family.Foreign(s.hasher.ID()):
		return fmt.Errorf("exceptions for %s with hash %s: %w; take one of our families and hash functions",
			s.Spec(), s.hasher.ID(), filter.ErrUnsupported)
	case c != nil:
		// The new exceptions replace the old ones, so they go around the plain filter.
		s.setFilter(except.New(s.main, c))
	}
	return nil
}
