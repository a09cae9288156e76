package rankindexed

import (
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

// stripes is the number of locks of a Concurrent. Buckets take them in turns, so that neighbours have different ones.
const stripes = 256

// Concurrent is a Filter that any number of goroutines may read and change at once. Each bucket has one of 256 locks; a
// filter that grows stops everybody while it does.
type Concurrent struct {
	all     atomic.Pointer[Filter] // geometry and arrays; not its counts
	used    atomic.Uint64          // cells in use, kept only if the filter can grow
	stripes [stripes]stripe
}

// stripe is a lock with what it guards: a copy of the filter whose counts are those of its own buckets.
type stripe struct {
	mu sync.Mutex
	f  Filter
	_  [64]byte // so that no two locks share a cache line
}

// NewConcurrent takes a filter over, which must not be used any more.
func NewConcurrent(f *Filter) *Concurrent {
	c := new(Concurrent)
	c.share(f)
	return c
}

// share gives every stripe its view of the filter, the counts to the first. All locks are held, or nobody else knows c.
func (c *Concurrent) share(f *Filter) {
	for i := range c.stripes {
		view := *f
		if i > 0 {
			view.keys, view.used = 0, 0
		}
		if f.g.Growth > 0 {
			view.all = &c.used
		} else {
			view.all = nil
		}
		c.stripes[i].f = view
	}
	c.used.Store(f.used)
	c.all.Store(f)
}

// lock returns the stripe of a key, held, and the filter that it is of.
func (c *Concurrent) lock(h filter.Hash) (*stripe, *Filter) {
	for {
		f := c.all.Load()
		b, _, _ := f.walk.Locate(h.Hi, h.Lo)
		s := &c.stripes[b%stripes]
		s.mu.Lock()
		if c.all.Load() == f {
			return s, f
		}
		s.mu.Unlock() // it has grown meanwhile
	}
}

// lockAll stops everybody else, until unlockAll.
func (c *Concurrent) lockAll() {
	for i := range c.stripes {
		c.stripes[i].mu.Lock()
	}
}

func (c *Concurrent) unlockAll() {
	for i := range c.stripes {
		c.stripes[i].mu.Unlock()
	}
}

// total returns the filter with all counts. All locks are held.
func (c *Concurrent) total() *Filter {
	f := *c.all.Load()
	f.keys, f.used, f.all = 0, 0, nil
	for i := range c.stripes {
		f.keys += c.stripes[i].f.keys
		f.used += c.stripes[i].f.used
	}
	return &f
}

// grow doubles the filter, unless another goroutine has done so since it was was.
func (c *Concurrent) grow(was *Filter) error {
	c.lockAll()
	defer c.unlockAll()
	if c.all.Load() != was {
		return nil
	}
	f := c.total()
	if err := f.Grow(); err != nil {
		return err
	}
	c.share(f)
	return nil
}

// change does what changes a bucket, under its lock, and has the filter grow where its capacity is reached.
func (c *Concurrent) change(h filter.Hash, do func(f *Filter) error) error {
	for {
		s, whole := c.lock(h)
		was := s.f.used
		err := do(&s.f)
		if s.f.all != nil {
			c.used.Add(s.f.used - was)
		}
		s.mu.Unlock()
		if err != errGrow {
			return err
		}
		if err := c.grow(whole); err != nil {
			return err
		}
	}
}

// Add is that of Filter.
func (c *Concurrent) Add(h filter.Hash) error {
	return c.change(h, func(f *Filter) error { return f.add(h) })
}

// AddValue is that of Filter.
func (c *Concurrent) AddValue(h filter.Hash, value uint64) error {
	return c.change(h, func(f *Filter) error { return f.addValue(h, value) })
}

// Put is that of Filter.
func (c *Concurrent) Put(h filter.Hash, value uint64) error {
	return c.change(h, func(f *Filter) error { return f.Put(h, value) })
}

// Remove is that of Filter.
func (c *Concurrent) Remove(h filter.Hash) error {
	return c.change(h, func(f *Filter) error { return f.Remove(h) })
}

// Has is that of Filter.
func (c *Concurrent) Has(h filter.Hash) bool {
	s, _ := c.lock(h)
	ok := s.f.Has(h)
	s.mu.Unlock()
	return ok
}

// Get is that of Filter.
func (c *Concurrent) Get(h filter.Hash) (value uint64, ok bool) {
	s, _ := c.lock(h)
	value, ok = s.f.Get(h)
	s.mu.Unlock()
	return value, ok
}

// Count is that of Filter.
func (c *Concurrent) Count(h filter.Hash) (n uint64, saturated bool) {
	s, _ := c.lock(h)
	n, saturated = s.f.Count(h)
	s.mu.Unlock()
	return n, saturated
}

// Info is that of Filter. It stops everybody else for a moment.
func (c *Concurrent) Info() filter.Info {
	c.lockAll()
	defer c.unlockAll()
	return c.total().Info()
}

// Filter returns the filter itself; c must not be used any more.
func (c *Concurrent) Filter() *Filter {
	c.lockAll()
	defer c.unlockAll()
	return c.total()
}
