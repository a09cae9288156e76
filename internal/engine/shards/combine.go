package shards

import (
	"context"
	"errors"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// Combine merges with o or intersects with it, shard by shard. On error t is unchanged: it keeps results apart until
// all shards are done.
func (t *Set) Combine(with engine.Engine, how family.Ability) error {
	o, err := t.otherShards(with)
	if err != nil {
		return err
	}

	results := make([]*one.Set, len(t.parts))
	for i := range results {
		err := o.visitOne(i, func(other *one.Set) (err error) {
			if results[i], err = t.copyOf(i); err == nil {
				err = results[i].Combine(other, how)
			}
			return err
		})
		if err != nil {
			return t.Fail(i, err)
		}
	}

	// From here on nothing can fail, so either all shards change or none.
	for i, s := range results {
		if old := t.sets[i].Load(); old != nil {
			_ = old.Close()
		}
		t.publish(i, s)
		t.parts[i].changed.Store(true)
	}
	t.planned = max(t.planned, o.planned)
	return nil
}

// copyOf returns a copy of a shard in memory.
func (t *Set) copyOf(i int) (s *one.Set, err error) {
	if t.parts[i].changed.Load() || t.derive != nil {
		err = t.visitOne(i, func(own *one.Set) error { s, err = own.Clone(); return err })
		return s, err
	}
	p := &t.parts[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, err = t.readShard(i, true); err != nil {
		err = t.Fail(i, err)
	}
	return s, err
}

// derived returns a Set whose shard i is f(i), which may be called any number of times. It closes the Sets of origin.
func (t *Set) derived(planned float64, origin []*Set, f func(i int) (*one.Set, error)) *Set {
	d := &Set{
		dir: t.dir, manifest: shardset.Clone(t.manifest), hasher: t.hasher, planned: planned, options: t.options,
		derive: f, origin: origin,
	}
	d.allocSlots()
	d.manifest.FPRPlanned = planned
	for i := range d.parts {
		d.parts[i].sizes = t.parts[i].sizes
	}
	return d
}

// DerivedMemory is the number of bytes of shards up to which a derived Set keeps them in memory. A larger derived Set
// computes its shards again at each use. Tests set it.
var DerivedMemory = uint64(1 << 30)

// compute computes all shards of a derived Set, unless ctx ends, and sets their keys, sizes and rates in its manifest.
func (t *Set) compute(ctx context.Context) error {
	keep := t.manifest.Bytes() <= DerivedMemory
	return t.parallel(ctx, writers, func(i int) error {
		s, err := t.derive(i)
		if err != nil {
			return t.Fail(i, err)
		}
		f, err := s.Encode()
		if err != nil {
			return t.Fail(i, err)
		}
		bytes, err := container.Len(f)
		if err != nil {
			return t.Fail(i, err)
		}
		info := s.Info()
		e := shardset.EntryOf(info)
		e.File, e.Bytes = shardset.Name(i, len(t.parts), ""), bytes
		t.manifest.Shards[i] = e
		if t.parts[i].sizes = sizesOf(info); keep {
			t.publish(i, s)
		}
		return nil
	})
}

// Join returns the Set of several folders, merged or intersected one shard after the other. open opens each folder. The
// result has no files of its own.
func Join(
	ctx context.Context, paths []string, how family.Ability, open func(path string) (engine.Engine, error),
) (result *Set, err error) {
	var opened []engine.Engine
	defer func() {
		if err != nil {
			for _, e := range opened {
				_ = e.Close()
			}
		}
	}()

	var first *Set
	var mixed error // the error for a first set that is not sharded
	var sets []*Set
	planned := 0.0
	for i, path := range paths {
		e, err := open(path)
		if err != nil {
			return nil, err
		}
		opened, planned = append(opened, e), max(planned, *e.Facts().Planned)

		if i == 0 {
			first, mixed = sharded(e)
			sets = append(sets, first)
			continue
		}
		o, err := first, mixed
		if err == nil {
			o, err = first.otherShards(e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", paths[0], path, err)
		}
		sets = append(sets, o)
	}

	result = first.derived(planned, sets, func(i int) (*one.Set, error) {
		s, err := first.copyOf(i)
		if err != nil {
			return nil, err
		}
		for at, o := range sets[1:] {
			if err := o.visitOne(i, func(other *one.Set) error { return s.Combine(other, how) }); err != nil {
				return nil, fmt.Errorf("%s and %s: %w", paths[0], paths[at+1], o.Fail(i, err))
			}
		}
		return s, nil
	})
	return result, result.compute(ctx)
}

// Form returns the set in its trimmed or its full form. The result has no files.
func (t *Set) Form(trimmed bool) (engine.Engine, error) {
	if err := engine.Can(t, family.CanTrim); err != nil {
		return nil, err
	}

	d := t.derived(t.planned, nil, func(i int) (s *one.Set, err error) {
		if s = t.sets[i].Load(); s == nil {
			if s, err = t.copyOf(i); err != nil {
				return nil, err
			}
		}
		small, err := s.Trimmed()
		if err == nil && trimmed {
			s = small
		}
		return s, err
	})
	return family.As[engine.Engine](d, d.compute(context.Background()))
}

// Copy returns a copy of the Set: it copies changed shards and loads the others again.
func (t *Set) Copy() (engine.Engine, error) {
	c := t.derived(t.planned, nil, t.derive)
	c.trimmed, c.base, c.was = t.trimmed, shardset.Clone(t.manifest), t.was
	for i := range t.parts {
		s := t.sets[i].Load()
		if s == nil || !t.parts[i].changed.Load() && !t.options.Concurrent {
			continue
		}
		s, err := s.Clone()
		if err != nil {
			return nil, err
		}
		c.publish(i, s)
		c.parts[i].changed.Store(t.parts[i].changed.Load())
	}
	return c, nil
}

var errDiffer = errors.New("the shards differ")

// Equal reports whether Save would write the same files of both sets.
func (t *Set) Equal(e engine.Engine) bool {
	o, err := t.otherShards(e)
	if err != nil {
		return false
	}
	return t.visitAll(func(i int, s *one.Set) error {
		if t.asInFile(i) && o.asInFile(i) && t.manifest.Shards[i].SHA256 == o.manifest.Shards[i].SHA256 {
			return nil
		}
		return o.visitOne(i, func(other *one.Set) error {
			if !s.Equal(other) {
				return errDiffer
			}
			return nil
		})
	}, nil) == nil
}

// asInFile reports whether a shard has the content of its file.
func (t *Set) asInFile(i int) bool { return !t.parts[i].changed.Load() && t.derive == nil }

// Rebuild returns a Set in memory whose shard i is the result of f for shard i.
func (t *Set) Rebuild(f func(i int, part engine.Engine) (engine.Engine, error)) (engine.Engine, error) {
	d := t.derived(t.planned, nil, nil)
	for i := range t.parts {
		s, err := t.shardAt(i)
		if err != nil {
			return nil, err
		}
		better, err := f(i, s)
		if err != nil {
			return nil, err
		}
		d.publish(i, better.(*one.Set))
	}
	// All shards are published, so computing one again only loads it.
	d.derive = func(i int) (*one.Set, error) { return d.sets[i].Load(), nil }
	return family.As[engine.Engine](d, d.compute(context.Background()))
}

// EstimateInterval adds up the estimates of the shards.
func (t *Set) EstimateInterval() (e engine.Estimate, err error) {
	err = t.visitAll(func(i int, s *one.Set) error {
		part, err := s.EstimateInterval()
		if err != nil {
			return t.Fail(i, err)
		}
		e.Sum(part)
		return nil
	}, nil)
	return e.Whole(), err
}

// EstimateOverlap adds up the estimates of the shards of two sets.
func (t *Set) EstimateOverlap(with engine.Engine) (v engine.Overlap, err error) {
	o, err := t.otherShards(with)
	if err != nil {
		return v, err
	}

	err = t.visitAll(func(i int, a *one.Set) error {
		return o.visitOne(i, func(b *one.Set) error {
			part, err := a.EstimateOverlap(b)
			if err != nil {
				return t.Fail(i, err)
			}
			v.A.Sum(part.A)
			v.B.Sum(part.B)
			v.Union.Sum(part.Union)
			v.Intersection.Sum(part.Intersection)
			return nil
		})
	}, nil)
	v = engine.Overlap{A: v.A.Whole(), B: v.B.Whole(), Union: v.Union.Whole(), Intersection: v.Intersection.Whole()}
	return v, err
}

// sharded returns e as a Set of shards.
func sharded(e engine.Engine) (*Set, error) {
	if o, ok := e.(*Set); ok {
		return o, nil
	}
	return nil, engine.ErrOneSharded
}

// otherShards returns another Set of shards. The error wraps filter.ErrMismatch unless the shards of both correspond.
func (t *Set) otherShards(e engine.Engine) (*Set, error) {
	o, err := sharded(e)
	switch {
	case err != nil:
		return nil, err
	case len(t.parts) != len(o.parts):
		return nil, fmt.Errorf("%d and %d shards: %w", len(t.parts), len(o.parts), filter.ErrMismatch)
	}
	if err := engine.SameHasher(t.hasher, o.hasher); err != nil {
		return nil, err
	}
	if t.planID() != o.planID() {
		return nil, fmt.Errorf("specs %s and %s, planned rates %v and %v: %w",
			t.Spec(), o.Spec(), t.planned, o.planned, filter.ErrMismatch)
	}
	return o, nil
}

// planID returns Manifest.ID with the planned rate of the Set.
func (t *Set) planID() string {
	m := shard.Manifest{
		Spec: t.manifest.Spec, Hash: t.manifest.Hash, Seed: t.manifest.Seed,
		KeyCheck: t.manifest.KeyCheck, Form: t.manifest.Form, FPRPlanned: t.planned, Shards: t.manifest.Shards,
	}
	return m.ID()
}
