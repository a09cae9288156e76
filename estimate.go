package bloomery

import "github.com/bloomery/bloomery/internal/engine"

// Estimate is an estimated number of distinct keys, with the ends of its 95% interval, which are whole numbers.
type Estimate = engine.Estimate

// Overlap has the numbers of distinct keys of two sets, of both together, and of those that they have in common.
type Overlap = engine.Overlap

// EstimateKeys returns the number of distinct keys, estimated from the bits if the family can, else Len. It is +Inf if
// every bit is set. It may read the whole filter.
func (s *Set) EstimateKeys() float64 { return s.inner().EstimateKeys() }

// EstimateInterval is EstimateKeys with a 95% interval, in families with filter.CanEstimate: standard, blocked,
// counting, guava and bitsandblooms. It assumes that the keys do not depend on the hash function. In other families the
// Estimate is Counted. It may read the whole filter.
//
// The interval holds all numbers of keys that agree with the number of bits that are 0, see probe.KeysInCells for the
// equations. It is exact up to the normal limit: TestEstimateCoverage measures how often it holds the number. For a
// sharded Set it adds up the estimates of the shards.
func (s *Set) EstimateInterval() (Estimate, error) { return s.inner().EstimateInterval() }

// EstimateOverlap estimates how many distinct keys s and o hold, together and in common, with 95% intervals. Both must
// have the same Spec and hash function, including seed or secret; else the error wraps filter.ErrMismatch. It wraps
// errors.ErrUnsupported in families without filter.CanEstimate. It reads both filters and changes none.
//
// The estimate of the common keys is |A| + |B| - |A ∪ B| with an interval of its own; see probe.CommonInCells for the
// equations. The interval does not shrink with the number of common keys: it is as wide as the error of the union.
func (s *Set) EstimateOverlap(o *Set) (Overlap, error) { return s.inner().EstimateOverlap(o.other()) }

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
