package onehit

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/blocked"
)

// doorkeeper remembers keys for one to two generations, as the doorkeeper of examples/cdn does. It also predicts its
// false-positive rates.
type doorkeeper struct {
	blocks            uint64 // blocks per generation
	k                 int    // probes per key
	current, previous *blocked.Filter
	held, limit       uint64 // keys that set a bit in the current generation; when held is limit, the generation ends
	rotations         int
}

// newDoorkeeper returns an empty doorkeeper. A generation that holds the given number of keys has a false-positive rate
// of at most fpr.
func newDoorkeeper(keys uint64, fpr float64) (*doorkeeper, error) {
	d := &doorkeeper{}
	var err error
	keeps := func(blocks uint64) bool {
		d.blocks = blocks
		if _, d.k, err = (blocked.Config{Keys: keys, Blocks: blocks}).Geometry(); err != nil {
			return true
		}
		return d.fpr(keys) <= fpr
	}
	low, high := uint64(0), uint64(1)
	for !keeps(high) {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; keeps(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	if keeps(high); err != nil {
		return nil, err
	}

	// Keys that are false positives set no bit and cannot be counted, so a generation ends at the expected number of
	// keys that set a bit.
	const steps = 12
	same := 0.0
	for i := range steps {
		same += d.fpr(uint64((2*float64(i) + 1) / (2 * steps) * float64(keys)))
	}
	d.limit = max(1, keys-uint64(same/steps*float64(keys)))

	if d.current, err = d.generation(); err == nil {
		d.previous, err = d.generation()
	}
	return d, err
}

// generation returns an empty generation.
func (d *doorkeeper) generation() (*blocked.Filter, error) {
	return blocked.New(blocked.Config{Blocks: d.blocks, K: d.k})
}

// fpr returns the predicted false-positive rate of a generation that holds the given number of keys.
func (d *doorkeeper) fpr(keys uint64) float64 { return blocked.FPR(keys, d.blocks, d.k, blocked.Line) }

// admit reports whether the key was requested before and is still remembered, and remembers this request.
func (d *doorkeeper) admit(h filter.Hash) (known bool, err error) {
	if d.current.Has(h) {
		return true, nil
	}
	known = d.previous.Has(h)
	if err := d.current.Add(h); err != nil {
		return false, err
	}
	if d.held++; d.held == d.limit {
		d.previous, d.held = d.current, 0
		d.rotations++
		d.current, err = d.generation()
	}
	return known, err
}
