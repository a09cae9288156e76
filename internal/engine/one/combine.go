package one

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
)

// Combine merges with o or intersects with it.
func (s *Set) Combine(e engine.Engine, how family.Ability) error {
	o, err := s.otherOne(e)
	switch {
	case err != nil:
		return err
	case o.exceptions != nil:
		return fmt.Errorf("the other set: %w", filter.ErrExceptions)
	}
	if err := cmp.Or(engine.SameHasher(s.hasher, o.hasher), s.Own()); err != nil {
		return err
	}
	if engine.Can(s, how) != nil {
		return s.Lacks(how)
	}

	mine, err := s.Single()
	if err != nil {
		return err
	}

	theirs, err := o.Single()
	if err != nil {
		return err
	}

	do := combiner(mine.filter, how)
	if do == nil {
		return s.Lacks(how)
	}
	if err := theirs.Guarded(func() error { return do(theirs.filter, theirs.file.Release) }); err != nil {
		return err
	}
	// Single made a snapshot of a filter for many writers: the combined snapshot becomes the filter.
	if mine != s {
		s.become(s.inForm(mine.filter), s.hasher)
	}
	// The result keeps only the weaker of two promises.
	s.planned = max(s.planned, o.planned)
	return nil
}

// combiner returns the method of a filter for merging or intersecting, or nil if it has none.
func combiner(f family.Filter, how family.Ability) func(o family.Filter, passed func([]uint64)) error {
	if how == family.CanMerge {
		if m, ok := f.(family.Merger); ok {
			return m.Merge
		}
	} else if i, ok := f.(family.Intersecter); ok {
		return i.Intersect
	}
	return nil
}

// Join returns the Set of several files, merged or intersected. It reads the first one into memory and combines it with
// each of the others, which are mapped. It opens the mapped files first: opening reads them, and their pages are
// released before the first file takes its memory.
func Join(ctx context.Context, paths []string, how family.Ability, o engine.Options) (*Set, error) {
	others := make([]*Set, 0, len(paths))
	defer func() {
		for _, s := range others {
			_ = s.Close()
		}
	}()
	for _, path := range paths[1:] {
		other, err := Open(ctx, path, o)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
		other.Release()
	}

	o.InMemory = true
	set, err := Open(ctx, paths[0], o)
	if err != nil {
		return nil, err
	}

	for i, other := range others {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		err := set.Combine(other, how)
		if err == nil {
			err = other.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", paths[0], paths[i+1], err)
		}
	}
	return set, nil
}

// Copy returns a copy in the same form, which shares nothing with s.
func (s *Set) Copy() (engine.Engine, error) { return family.As[engine.Engine](s.Clone()) }

// Clone is Copy with the type of the result.
func (s *Set) Clone() (*Set, error) {
	if none, ok := s.filter.(nothing); ok {
		return Nothing(filter.Hasher{}, nil), none.why
	}

	o, err := s.Single()
	if err != nil {
		return nil, err
	}

	f := o.filter
	// Single has already copied a filter for many writers.
	if o == s {
		if f, err = s.copied(); err != nil {
			return nil, err
		}
	}
	return s.withFilter(s.inForm(f)), nil
}

// Model returns the filter without exceptions and in the form for one writer, as the model of a new filter. If s lies
// in a mapped file and lasting is true, it is a copy, so that it lasts when the file changes.
func (s *Set) Model(lasting bool) (f family.Filter, err error) {
	o, err := s.Single()
	if err != nil {
		return nil, err
	}
	if f = o.filter; lasting && s.Mapped() {
		if f, err = s.copied(); err != nil {
			return nil, err
		}
	}
	f, _ = except.Split(f)
	return f, nil
}

// Equal reports whether Save would write the same file of both sets.
func (s *Set) Equal(e engine.Engine) bool {
	if s.missing() != nil {
		o, ok := e.(*Set)
		return ok && o.missing() != nil
	}

	o, err := s.otherOne(e)
	if err != nil || s.hasher != o.hasher || s.planned != o.planned {
		return false
	}

	a, err := s.Encode()
	if err != nil {
		return false
	}

	b, err := o.Encode()
	if err != nil {
		return false
	}

	equal := false
	read := func() error {
		equal = a.Keys == b.Keys && a.Spec == b.Spec && slices.Equal(a.Exceptions, b.Exceptions) &&
			slices.EqualFunc(a.Sections, b.Sections, slices.Equal[[]uint64])
		return nil
	}
	return s.Guarded(func() error { return o.Guarded(read) }) == nil && equal
}

// Form returns the trimmed form, which shares all memory with s, or s itself, which is written in the full form. The
// error wraps errors.ErrUnsupported if the family has no trimmed form.
func (s *Set) Form(trimmed bool) (engine.Engine, error) {
	small, err := s.Trimmed()
	switch {
	case err != nil:
		return nil, err
	case trimmed:
		return small, nil
	}
	return s, nil
}

// Trimmed returns the trimmed form.
func (s *Set) Trimmed() (*Set, error) {
	if err := engine.Can(s, family.CanTrim); err != nil {
		return nil, err
	}

	plain, err := s.Single()
	if err != nil {
		return nil, err
	}

	t, ok := plain.main.(family.Trimmer)
	if !ok {
		return nil, families.Lacks(s.Spec(), family.CanTrim)
	}
	if err := t.Trimmable(); err != nil {
		return nil, err
	}
	if s.exceptions == nil {
		return s.withFilter(t.Trimmed()), nil
	}
	return s.withFilter(except.New(t.Trimmed(), s.exceptions)), nil
}
