package bloomery

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/except"
)

// Merge adds the keys of o to s. Both must have the same Spec and hash function, including seed or secret. If they
// differ or o is nil, the error wraps filter.ErrMismatch and s is unchanged. If the family does not merge, it wraps
// errors.ErrUnsupported. If their chosen rates differ, s gets the higher one. Merge needs exclusive use of both sets,
// also of sets for many writers. Of a mapped o it keeps about 1 MiB in memory at a time. If the file of o was changed
// in place, the error wraps container.ErrFile, and s may have changed. Two sharded sets are merged shard by shard if
// their manifests have the same plan id; all shards of s are in memory then.
func (s *Set) Merge(o *Set) error {
	if s.shards != nil || o != nil && o.shards != nil {
		return s.combineShards(o, (*Set).Merge)
	}
	return s.combine(o, filter.CanMerge, func(a, b filter.Filter, passed func([]uint64)) error {
		return a.(filter.Merger).Merge(b, passed)
	})
}

// Intersect reduces s to a set that contains at least the keys in both. Its false-positive rate is at most that of
// either set, but above that of a filter built from the common keys. Errors and memory are those of Merge.
func (s *Set) Intersect(o *Set) error {
	if s.shards != nil || o != nil && o.shards != nil {
		return s.combineShards(o, (*Set).Intersect)
	}
	return s.combine(o, filter.CanIntersect, func(a, b filter.Filter, passed func([]uint64)) error {
		return a.(filter.Intersecter).Intersect(b, passed)
	})
}

func (s *Set) combine(o *Set, can filter.Ability, do func(a, b filter.Filter, passed func([]uint64)) error) error {
	if s.filter == nil {
		return s.empty()
	}
	if o == nil || o.filter == nil {
		return fmt.Errorf("the other set is empty or nil: %w", filter.ErrMismatch)
	}
	if _, c := o.main(); c != nil {
		return fmt.Errorf("the other set: %w", filter.ErrExceptions)
	}
	if !s.hasher.Equal(o.hasher) {
		return fmt.Errorf("the hash function, seed or secret differs: %w", filter.ErrMismatch)
	}
	if err := s.own(); err != nil {
		return err
	}
	if s.can(can) != nil {
		return s.lacks(can)
	}
	mine, err := s.plainForm()
	if err != nil {
		return err
	}
	other, err := o.plainForm()
	if err != nil {
		return err
	}
	if !provides(mine.filter, can) {
		return s.lacks(can)
	}
	if err := other.Guarded(func() error { return do(mine.filter, other.filter, other.release()) }); err != nil {
		return err
	}
	if s.concurrent != nil {
		shared := mine.filter.(filter.Sharer).Concurrent()
		s.become(shared, s.hasher)
	}
	s.chosen = max(s.chosen, o.chosen)
	return nil
}

// provides reports whether a filter has the interface of an ability.
func provides(f filter.Filter, can filter.Ability) (ok bool) {
	if can == filter.CanMerge {
		_, ok = f.(filter.Merger)
	} else {
		_, ok = f.(filter.Intersecter)
	}
	return ok
}

// release returns a function that takes the words of a mapped filter out of memory after a pass over them, or nil.
func (s *Set) release() func([]uint64) {
	if s.mapping == nil {
		return nil
	}
	return s.mapping.Release
}

// Guarded calls f, which reads s.Filter(), and returns its error. If the Set is mapped and its file was overwritten or
// truncated in place, Guarded returns an error wrapping container.ErrFile; without it, reading a truncated file crashes
// the program. The other methods of Set need no Guarded.
func (s *Set) Guarded(f func() error) (err error) {
	if s.mapping == nil {
		return f()
	}
	fault := s.mapping.Guard(func() { err = f() })
	if fault == nil && err == nil {
		fault = s.mapping.Err()
	}
	if fault != nil {
		s.failed(fault)
		return fault
	}
	return err
}

// Snapshot returns a copy of s in the plain form, for one writer. Later changes of either do not affect the other. A Set
// for many writers may change meanwhile: the copy contains all changes that returned before Snapshot began. Each
// concurrent change is contained completely or not at all. If the filter is growing, Snapshot waits for the end of that.
//
// The copy takes the memory of the filter, also that of a mapped Set. Of a sharded Set it copies the shards that were
// changed, as Clone does. Save and WriteTo need no Snapshot.
func (s *Set) Snapshot() (*Set, error) {
	switch {
	case s.shards != nil && s.shards.options.concurrent:
		return s.cloneShards((*Set).Snapshot)
	case s.concurrent == nil:
		return s.Clone()
	}
	return s.plainForm()
}

// plainForm returns a Snapshot of a Set for many writers, and any other Set itself, for use while that does not change.
func (s *Set) plainForm() (*Set, error) {
	if s.concurrent == nil {
		return s, nil
	}
	f, err := s.concurrent.Snapshot()
	if err != nil {
		return nil, err
	}
	return s.like(f), nil
}

// like returns a Set of another filter with the hasher and the chosen rate of s.
func (s *Set) like(f filter.Filter) *Set {
	o := NewSet(f, s.hasher)
	o.chosen = s.chosen
	return o
}

// Clone returns a copy that shares nothing with s. The clone of a Set for many writers is one too. That of a sharded
// Set opens the files of shards that are not changed by name again.
func (s *Set) Clone() (*Set, error) {
	if s.shards != nil {
		return s.cloneShards((*Set).Clone)
	}
	if err := s.fault.Load(); s.filter == nil && err != nil {
		return nil, *err
	}
	if s.filter == nil {
		return new(Set), nil
	}
	if s.concurrent != nil {
		f, err := s.concurrent.Snapshot()
		if err != nil {
			return nil, err
		}
		return s.like(f.(filter.Sharer).Concurrent()), nil
	}
	f, err := s.copied()
	if err != nil {
		return nil, err
	}
	return s.like(f), nil
}

// copied returns a copy of the filter.
func (s *Set) copied() (f filter.Filter, err error) {
	e, ok := s.filter.(filter.Encoder)
	if !ok {
		return nil, fmt.Errorf("%T cannot be copied: %w", s.filter, filter.ErrUnsupported)
	}
	_, exceptions := s.main()
	err = s.Guarded(func() error {
		c := e.Encode()
		sections := make([][]uint64, len(c.Sections))
		for i, w := range c.Sections {
			if sections[i], err = bitvec.Alloc(uint64(len(w))); err != nil {
				return err
			}
			bitvec.Pass(sections[i], w, s.release(), func(words, other []uint64) { copy(words, other) })
		}
		c.Sections = sections
		if f, err = families.Decode(c); err != nil || exceptions == nil {
			return err
		}
		copied, err := exceptions.Clone()
		if err == nil {
			f = except.New(f, copied)
		}
		return err
	})
	return f, err
}

// own prepares the filter for changes: it copies one that lies in a mapped file or in the bytes given to FromBytes. A
// filter with exceptions cannot change: the error is filter.ErrExceptions.
func (s *Set) own() error {
	if _, c := s.main(); c != nil {
		return filter.ErrExceptions
	}
	if !s.borrowed {
		return nil
	}
	f, err := s.copied()
	if err != nil {
		return err
	}
	m := s.mapping
	s.become(f, s.hasher)
	if m != nil {
		return m.Close()
	}
	return nil
}

// Reset removes all keys and keeps the geometry. The error wraps errors.ErrUnsupported if the family cannot start
// empty. Reset needs exclusive use, also of a Set for many writers.
func (s *Set) Reset() error {
	if s.shards != nil {
		return s.resetShards()
	}
	family, err := families.ByName(s.Spec().Family())
	if _, c := s.main(); c != nil || err != nil || family.New == nil {
		return s.lacks(filter.CanStartEmpty)
	}
	shared := s.concurrent != nil
	f, err := family.Empty(s.filter)
	if err != nil {
		return err
	}
	m := s.mapping
	if shared {
		f = f.(filter.Sharer).Concurrent()
	}
	s.become(f, s.hasher)
	if m != nil {
		return m.Close()
	}
	return nil
}

// Equal reports whether two sets have the same Spec, hash function, chosen rate, number of keys and bits, so that Save
// would write the same file.
func (s *Set) Equal(o *Set) bool {
	if s.shards != nil || o != nil && o.shards != nil {
		return s.equalShards(o)
	}
	if s.filter == nil || o == nil || o.filter == nil {
		return o != nil && s.filter == o.filter
	}
	if !s.hasher.Equal(o.hasher) || s.chosen != o.chosen {
		return false
	}
	a, err := s.encode()
	if err != nil {
		return false
	}
	b, err := o.encode()
	if err != nil {
		return false
	}
	equal := false
	read := func() error {
		equal = a.Keys == b.Keys && a.Spec.Equal(b.Spec) && slices.Equal(a.Exceptions, b.Exceptions) &&
			slices.EqualFunc(a.Sections, b.Sections, slices.Equal[[]uint64])
		return nil
	}
	return s.Guarded(func() error { return o.Guarded(read) }) == nil && equal
}

// Trimmed returns the set in its form for transfer: Save and WriteTo omit data that Open and Read recompute. It shares
// all memory with s. The error wraps errors.ErrUnsupported if the family has no such form, and filter.ErrTooLarge if
// the file could not be read: the size limit of a trimmed filter in memory is 64x its file + 1 MiB.
func (s *Set) Trimmed() (*Set, error) {
	if s.shards != nil {
		return s.trimmedShards(false)
	}
	if err := s.can(filter.CanTrim); err != nil {
		return nil, err
	}
	plain, err := s.plainForm()
	if err != nil {
		return nil, err
	}
	main, exceptions := plain.main()
	t, ok := main.(filter.Trimmer)
	if !ok {
		return nil, families.Lacks(s.Spec(), filter.CanTrim)
	}
	if err := t.Trimmable(); err != nil {
		return nil, err
	}
	if exceptions == nil {
		return s.like(t.Trimmed()), nil
	}
	return s.like(except.New(t.Trimmed(), exceptions)), nil
}

// Optimize continues the search of a partitioned, blockpartitioned or twochoice filter for keys that have changed, with
// the default effort; see Optimizer for others. keys must yield all keys: the set contains no others afterwards. On
// error s is unchanged. The error wraps errors.ErrUnsupported if the family has no search.
func (s *Set) Optimize(ctx context.Context, keys iter.Seq[[]byte]) error {
	b, err := s.Optimizer(filter.Effort{}, Config{})
	if err != nil {
		return err
	}
	defer b.Close()
	if err := feed(ctx, b, keys); err != nil {
		return err
	}
	better, err := b.Build(ctx)
	if err != nil {
		return err
	}
	if t := s.shards; t != nil { // its files stay those of s
		for i := range t.parts {
			t.publish(i, better.shards.sets[i].Load())
			t.parts[i].changed.Store(true)
		}
		return nil
	}
	m := s.mapping
	s.become(better.filter, s.hasher)
	if m != nil {
		return m.Close()
	}
	return nil
}
