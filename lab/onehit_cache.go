package lab

import (
	"cmp"
	"container/list"
	"errors"

	"github.com/bloomery/bloomery/family/standard"
	"github.com/bloomery/bloomery/filter"
)

// lru is a cache of so many objects that evicts the one that was used least recently. The objects of a stream are numbered,
// so a slice finds them; container/list is all that is left to do. (golang-lru has a map there, is a dependency under another
// licence than ours, and would not be shorter.)
type lru struct {
	size  int
	order *list.List      // the most recent first; values are object numbers
	where []*list.Element // nil for an object that is not in the cache
}

func newLRU(size, objects int) *lru {
	return &lru{size: size, order: list.New(), where: make([]*list.Element, objects)}
}

// use reports whether an object is in the cache, and makes it the most recent one if so.
func (c *lru) use(object uint32) bool {
	e := c.where[object]
	if e != nil {
		c.order.MoveToFront(e)
	}
	return e != nil
}

// put stores an object that is not in the cache.
func (c *lru) put(object uint32) {
	if c.order.Len() < c.size {
		c.where[object] = c.order.PushFront(object)
		return
	}
	e := c.order.Back() // is used again for the new object
	c.where[e.Value.(uint32)] = nil
	e.Value = object
	c.where[object] = e
	c.order.MoveToFront(e)
}

// ager is a filter that forgets. It has two generations, each a standard filter for so many objects. An object is known if either
// has it. A request puts it into the younger one; when that is full it becomes the older one, the older one is dropped, and
// an empty one takes its place. So an object is remembered for one to two generations after its last request.
type ager struct {
	config     standard.Config // of a generation
	young, old *standard.Filter
	held       uint64    // objects in the young one
	number     int       // of the young one
	last       []int     // the generation that each object was put into last, 0 for none: what the filter should know
	rates      []float64 // of a generation with 0, 1, ... objects, predicted

	absent, mistaken, expected float64 // objects that it should not know, those that it said it knows, those predicted
}

// agerFPR is the rate of a full generation.
const agerFPR = 0.01

// newAger returns an empty filter whose generations hold so many objects each.
func newAger(capacity, objects int) (*ager, error) {
	a := &ager{
		config: standard.Config{Keys: uint64(capacity), Size: filter.Sizing{FPR: agerFPR}},
		last:   make([]int, objects), rates: make([]float64, capacity+1),
	}
	m, k, err := a.config.Geometry()
	if err != nil {
		return nil, err
	}
	for i := range a.rates {
		a.rates[i] = standard.FPR(uint64(i), m, k)
	}
	return a, cmp.Or(a.rotate(), a.rotate())
}

// rotate begins a generation.
func (a *ager) rotate() (err error) {
	a.old, a.held = a.young, 0
	a.young, err = standard.New(a.config)
	a.number++
	return err
}

// see reports whether the filter says that it knows an object, and whether it does; then it remembers the object.
func (a *ager) see(object uint32, h filter.Hash) (says, does bool, err error) {
	young := a.young.Has(h)
	says = young || a.old.Has(h)
	does = a.last[object] > 0 && a.last[object] >= a.number-1
	switch {
	case does && !says:
		return says, does, errors.New("the filter forgot an object")
	case !does:
		a.absent++
		a.expected += a.rate()
		if says {
			a.mistaken++
		}
	}
	a.last[object] = a.number
	if !young {
		_ = a.young.Add(h) // is always nil
		if a.held++; a.held == a.config.Keys {
			err = a.rotate()
		}
	}
	return says, does, err
}

// rate predicts the rate of false positives as it is now: of a young generation that fills and an old one that is full, or
// was never filled.
func (a *ager) rate() float64 {
	old := 0.0
	if a.number > 2 {
		old = a.rates[a.config.Keys]
	}
	return 1 - (1-a.rates[a.held])*(1-old)
}
