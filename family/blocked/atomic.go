package blocked

import (
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

// Atomic is a blocked Bloom filter that any number of goroutines may add to and query at once. A key is present for
// every Has that begins after its Add returned.
type Atomic struct {
	f    Filter // its keys field is not used
	keys atomic.Uint64
}

// NewAtomic returns an empty filter for concurrent writers.
func NewAtomic(c Config) (*Atomic, error) {
	f, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Atomic{f: *f}, nil
}

// Has reports whether the key may be in the set.
func (a *Atomic) Has(h filter.Hash) bool {
	m := a.f.mask(h.Lo)
	w := a.f.words[a.f.block(h):][:a.f.blockWords()]
	for i := range w {
		if m[i] != 0 && atomic.LoadUint64(&w[i])&m[i] != m[i] {
			return false
		}
	}
	return true
}

// Add puts a key into the set, writing only to words that lack a bit of it. The error is always nil.
func (a *Atomic) Add(h filter.Hash) error {
	m := a.f.mask(h.Lo)
	w := a.f.words[a.f.block(h):][:a.f.blockWords()]
	for i := range w {
		if m[i] != 0 && atomic.LoadUint64(&w[i])&m[i] != m[i] {
			atomic.OrUint64(&w[i], m[i])
		}
	}
	a.keys.Add(1)
	return nil
}

// Info describes the filter; while others write it is a little behind.
func (a *Atomic) Info() filter.Info {
	c := newCensus(a.f.k)
	var copied [8]uint64
	size := a.f.blockWords()
	for i := 0; i < len(a.f.words); i += size {
		for j := range size {
			copied[j] = atomic.LoadUint64(&a.f.words[i+j])
		}
		c.add(copied[:size])
	}
	return c.info(&a.f, a.keys.Load())
}

// Filter returns the plain form once all writers are done. It shares the bits: do not use the Atomic afterwards.
func (a *Atomic) Filter() *Filter {
	f := a.f
	f.keys = a.keys.Load()
	return &f
}
