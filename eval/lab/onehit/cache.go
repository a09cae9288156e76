package onehit

import (
	"errors"
	"math"

	"github.com/bloomery/bloomery/filter"
)

// ager is a doorkeeper together with its exact contents: the objects requested in the current or the previous
// generation.
type ager struct {
	door    *doorkeeper
	number  int       // number of the current generation, from 1
	last    []int     // the last generation in which each object came, 0 for none
	current uint64    // objects that came in the current generation
	least   uint64    // lower limit of the objects of a generation
	old     float64   // predicted rate of the previous generation
	rates   []float64 // predicted rates of a generation with 0, step, 2·step, ... objects
	step    float64

	absent, mistaken, expected float64 // absent objects, false positives among them, predicted false positives
}

// agerFPR is the false-positive rate of a full generation.
const agerFPR = 0.01

// newAger returns an empty filter whose generations hold capacity objects each. Requests are for the given number of
// objects.
func newAger(capacity, objects int) (*ager, error) {
	d, err := newDoorkeeper(uint64(capacity), agerFPR)
	if err != nil {
		return nil, err
	}
	a := &ager{
		door:   d,
		number: 1,
		last:   make([]int, objects),
		least:  uint64(0.9 * float64(capacity)),
		step:   max(1, float64(capacity)/40),
	}
	for i := range int(1.1*float64(capacity)/a.step) + 2 { // a generation ends slightly earlier or later than predicted
		a.rates = append(a.rates, d.fpr(uint64(math.Round(float64(i)*a.step))))
	}
	return a, nil
}

// see reports whether the filter contains an object, and whether the object was really requested. Then it adds the
// object.
func (a *ager) see(object uint32, h filter.Hash) (says, does bool, err error) {
	does = a.last[object] > 0 && a.last[object] >= a.number-1
	rate := a.rate()
	if says, err = a.door.admit(h); err != nil {
		return false, does, err
	}
	switch {
	case does && !says:
		return says, does, errors.New("the filter forgot an object")
	case !does:
		a.absent++
		a.expected += rate
		if says {
			a.mistaken++
		}
	}
	if a.last[object] != a.number {
		a.current++
	}
	a.last[object] = a.number
	if a.current < a.least { // too early for a new generation
		return says, does, nil
	}
	if number := a.door.rotations + 1; number > a.number {
		a.number, a.old, a.current = number, a.generation(), 0
	}
	return says, does, nil
}

// rate returns the predicted false-positive rate at present.
func (a *ager) rate() float64 { return 1 - (1-a.generation())*(1-a.old) }

// generation returns the predicted rate of the current generation alone.
func (a *ager) generation() float64 {
	at := min(float64(a.current)/a.step, float64(len(a.rates)-1))
	i := min(int(at), len(a.rates)-2)
	return a.rates[i] + (at-float64(i))*(a.rates[i+1]-a.rates[i])
}
