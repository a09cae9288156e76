package engine

import "math"

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
	A, B, Union, Intersection Estimate
}

// Sum adds the estimate of another shard. Estimates of shards are independent, so that the widths of their intervals
// add up as the squares of their errors do.
func (e *Estimate) Sum(o Estimate) {
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
