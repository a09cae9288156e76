package bloomery

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// Estimate is an estimated number of distinct keys, with the ends of its 95% interval, which are whole numbers.
type Estimate struct {
	Keys      float64 // +Inf if the filter is full: every bit is set
	Low, High float64 // High is +Inf if nothing is known but Low
	// Counted reports that the number is not estimated: the filter counts its keys, and its bits do not tell their
	// number. Keys, Low and High are then Set.Len.
	Counted bool
}

// Overlap has the numbers of distinct keys of two sets, of both together, and of those that they have in common.
type Overlap struct {
	A            Estimate `json:"a"`
	B            Estimate `json:"b"`
	Union        Estimate `json:"union"`
	Intersection Estimate `json:"intersection"`
}

// MarshalJSON writes an infinite number as null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	number := func(x float64) *float64 {
		if math.IsInf(x, 1) {
			return nil
		}
		return &x
	}
	return json.Marshal(struct {
		Keys    *float64 `json:"keys"`
		Low     *float64 `json:"low"`
		High    *float64 `json:"high"`
		Counted bool     `json:"counted,omitempty"`
	}{number(e.Keys), number(e.Low), number(e.High), e.Counted})
}

// EstimateInterval is EstimateKeys with a 95% interval, in families with filter.CanEstimate: standard, blocked,
// counting, guava and bitsandblooms. It assumes that the keys do not depend on the hash function. In other families the
// Estimate is Counted. It may read the whole filter.
//
// The interval holds all numbers of keys that agree with the number of bits that are 0, see probe.KeysInCells for the
// equations. It is exact up to the normal limit: TestEstimateCoverage measures how often it holds the number. For a
// sharded Set it adds up the estimates of the shards.
func (s *Set) EstimateInterval() (e Estimate, err error) {
	if s.shards != nil {
		return s.estimateShardsInterval()
	}
	if s.filter == nil {
		return e, s.empty()
	}
	if s.can(filter.CanEstimate) != nil {
		n := float64(s.Len())
		return Estimate{Keys: n, Low: n, High: n, Counted: true}, s.Err()
	}
	plain, err := s.plainForm()
	if err != nil {
		return e, err
	}
	main, _ := plain.main()
	cells, ok := main.(filter.CellFilter)
	if !ok {
		return e, s.lacks(filter.CanEstimate)
	}
	err = plain.Guarded(func() error {
		free, err := cells.Free(main)
		e.Keys, e.Low, e.High = probe.KeysInCells(cells.Cells(), free)
		return err
	})
	return e, err
}

// EstimateOverlap estimates how many distinct keys s and o hold, together and in common, with 95% intervals. Both must
// have the same Spec and hash function, including seed or secret; else the error wraps filter.ErrMismatch. It wraps
// errors.ErrUnsupported in families without filter.CanEstimate. It reads both filters and changes none.
//
// The estimate of the common keys is |A| + |B| - |A ∪ B| with an interval of its own; see probe.CommonInCells for the
// equations. The interval does not shrink with the number of common keys: it is as wide as the error of the union.
func (s *Set) EstimateOverlap(o *Set) (v Overlap, err error) {
	if s.shards != nil || o != nil && o.shards != nil {
		return s.estimateShardsOverlap(o)
	}
	if s.filter == nil {
		return v, s.empty()
	}
	if o == nil || o.filter == nil {
		return v, fmt.Errorf("the other set is empty or nil: %w", filter.ErrMismatch)
	}
	if err := s.can(filter.CanEstimate); err != nil {
		return v, err
	}
	a, err := s.plainForm()
	if err != nil {
		return v, err
	}
	b, err := o.plainForm()
	if err != nil {
		return v, err
	}
	mainA, _ := a.main()
	mainB, _ := b.main()
	mine, ok := mainA.(filter.CellFilter)
	if !ok {
		return v, families.Lacks(a.Spec(), filter.CanEstimate)
	}
	theirs, ok := mainB.(filter.CellFilter)
	switch {
	case !ok:
		return v, families.Lacks(b.Spec(), filter.CanEstimate)
	case !s.hasher.Equal(o.hasher):
		return v, fmt.Errorf("the hash function, seed or secret differs: %w", filter.ErrMismatch)
	}
	count := func() error {
		both, err := mine.Free(mainB)
		if err != nil {
			return err
		}
		inA, _ := mine.Free(mainA) // a filter matches itself
		inB, _ := theirs.Free(mainB)
		c := mine.Cells()
		v.A.Keys, v.A.Low, v.A.High = probe.KeysInCells(c, inA)
		v.B.Keys, v.B.Low, v.B.High = probe.KeysInCells(c, inB)
		v.Union.Keys, v.Union.Low, v.Union.High = probe.KeysInCells(c, both)
		v.Intersection.Keys, v.Intersection.Low, v.Intersection.High = probe.CommonInCells(c, inA, inB, both)
		return nil
	}
	err = a.Guarded(func() error { return b.Guarded(count) })
	return v, err
}

// distinct returns Len if it is at most the capacity, or if the bits do not contradict that all of these keys are
// distinct. Otherwise some came several times: it returns the least number of distinct keys that agrees with the bits.
// A filter that counts how often each key came stores copies in the room of one key and returns filter.ErrFull itself:
// its Len is not compared with a capacity, and distinct returns 0.
func (s *Set) distinct(capacity uint64) uint64 {
	n := s.Len()
	if n <= capacity {
		return n
	}
	e, err := s.EstimateInterval()
	switch {
	case err == nil && e.Counted && s.Spec().Has("counting"):
		return 0
	case err == nil && e.High < float64(n):
		return uint64(e.Low)
	}
	return n
}
