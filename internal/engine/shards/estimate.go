package shards

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/shard"
)

// EstimateInterval adds up the estimates of the shards.
func (t *Set) EstimateInterval() (e engine.Estimate, err error) {
	err = t.visit(func(i int, s *one.Set) error {
		part, err := s.EstimateInterval()
		if err != nil {
			return t.Fail(i, err)
		}
		e.Sum(part)
		return nil
	}, nil)
	return e, err
}

// EstimateOverlap adds up the estimates of the shards of two sets.
func (t *Set) EstimateOverlap(with engine.Engine) (v engine.Overlap, err error) {
	o, err := t.other(with)
	if err != nil {
		return v, err
	}
	err = t.visit(func(i int, a *one.Set) error {
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
	return v, err
}

// sharded returns e as a Set of shards.
func sharded(e engine.Engine) (*Set, error) {
	if o, ok := e.(*Set); ok {
		return o, nil
	}
	return nil, engine.ErrOneSharded
}

// other returns another Set of shards. The error wraps filter.ErrMismatch unless the shards of both correspond.
func (t *Set) other(e engine.Engine) (*Set, error) {
	o, err := sharded(e)
	switch {
	case err != nil:
		return nil, err
	case len(t.parts) != len(o.parts):
		return nil, fmt.Errorf("%d and %d shards: %w", len(t.parts), len(o.parts), filter.ErrMismatch)
	case t.hasher != o.hasher:
		return nil, engine.ErrHasher
	case t.planID() != o.planID():
		return nil, fmt.Errorf("specs %s and %s, chosen rates %v and %v: %w",
			t.Spec(), o.Spec(), t.chosen, o.chosen, filter.ErrMismatch)
	}
	return o, nil
}

// planID returns Manifest.ID with the chosen rate of the Set.
func (t *Set) planID() string {
	m := shard.Manifest{
		Spec: t.manifest.Spec, Hash: t.manifest.Hash, Seed: t.manifest.Seed,
		KeyCheck: t.manifest.KeyCheck, FPRChosen: t.chosen, Shards: t.manifest.Shards,
	}
	return m.ID()
}
