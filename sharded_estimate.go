package bloomery

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// sum adds the estimate of another shard. Estimates of shards are independent, so that the widths of their intervals
// add up as the squares of their errors do.
func (e *Estimate) sum(o Estimate) {
	low := math.Hypot(e.Keys-e.Low, o.Keys-o.Low)
	high := math.Hypot(e.High-e.Keys, o.High-o.Keys)
	if math.IsInf(e.Keys, 1) || math.IsInf(o.Keys, 1) { // one of them is full: only its lower end is known
		low, high = math.Inf(1), math.Inf(1)
		e.Low += o.Low
	}
	e.Keys += o.Keys
	if !math.IsInf(low, 1) {
		e.Low = max(0, math.Floor(e.Keys-low))
	}
	e.High = math.Ceil(e.Keys + high)
	e.Counted = e.Counted || o.Counted
}

// estimateShards is EstimateKeys of a sharded Set: the sum over its shards. Of a shard that cannot be read it
// takes the keys from the manifest, and Err returns the error.
func (s *Set) estimateShards() (n float64) {
	t := s.shards
	for i := range t.parts {
		err := t.visitOne(i, func(_ int, one *Set) error { n += one.EstimateKeys(); return one.Err() })
		if err != nil {
			n += float64(t.manifest.Shards[i].Keys)
		}
	}
	return n
}

// estimateShardsInterval is EstimateInterval of a sharded Set.
func (s *Set) estimateShardsInterval() (e Estimate, err error) {
	err = s.shards.visit(func(i int, one *Set) error {
		part, err := one.EstimateInterval()
		if err != nil {
			return s.shards.fail(i, err)
		}
		e.sum(part)
		return nil
	}, nil)
	return e, err
}

// estimateShardsOverlap is EstimateOverlap of two sharded Sets.
func (s *Set) estimateShardsOverlap(o *Set) (v Overlap, err error) {
	if err := s.sameShards(o); err != nil {
		return v, err
	}
	err = s.shards.visit(func(i int, a *Set) error {
		return o.shards.visitOne(i, func(_ int, b *Set) error {
			part, err := a.EstimateOverlap(b)
			if err != nil {
				return s.shards.fail(i, err)
			}
			v.A.sum(part.A)
			v.B.sum(part.B)
			v.Union.sum(part.Union)
			v.Intersection.sum(part.Intersection)
			return nil
		})
	}, nil)
	return v, err
}

// sameShards returns an error wrapping filter.ErrMismatch unless both sets are sharded and their shards correspond.
func (s *Set) sameShards(o *Set) error {
	switch {
	case o == nil || s.shards == nil || o.shards == nil:
		return fmt.Errorf("only one of the sets is sharded: %w", filter.ErrMismatch)
	case len(s.shards.parts) != len(o.shards.parts):
		return fmt.Errorf("%d and %d shards: %w", len(s.shards.parts), len(o.shards.parts), filter.ErrMismatch)
	case !s.hasher.Equal(o.hasher):
		return fmt.Errorf("the hash function, seed or secret differs: %w", filter.ErrMismatch)
	case planID(s) != planID(o):
		return fmt.Errorf("specs %s and %s, chosen rates %v and %v: %w",
			s.Spec(), o.Spec(), s.chosen, o.chosen, filter.ErrMismatch)
	}
	return nil
}

// planID returns shard.Manifest.ID with the chosen rate of the Set.
func planID(s *Set) string {
	m := shard.Manifest{
		Spec: s.shards.manifest.Spec, Hash: s.shards.manifest.Hash, Seed: s.shards.manifest.Seed,
		KeyCheck: s.shards.manifest.KeyCheck, FPRChosen: s.chosen, Shards: s.shards.manifest.Shards,
	}
	return m.ID()
}
