package blocked

import (
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Concurrent is a blocked Bloom filter that any number of goroutines may query and change at once. See
// family.Concurrent for its methods, and standard.Concurrent for the locks.
type Concurrent struct {
	parallel.Stripes
	f Filter // its keys field is not used: the stripes count
}

// Concurrent returns the form for many goroutines, a *Concurrent. It takes over the filter's memory: do not use the
// filter afterwards.
func (f *Filter) Concurrent() family.Concurrent {
	c := &Concurrent{f: *f}
	c.Start(f.Keys)
	return c
}

// Has reports whether the key may be in the set.
func (c *Concurrent) Has(h filter.Hash) bool {
	m := c.f.blockMask(h.Lo)
	w := c.f.Words[c.f.firstWord(h):][:c.f.blockWords()]
	for i := range w {
		if m[i] != 0 && atomic.LoadUint64(&w[i])&m[i] != m[i] { // m[i] is 0 for most words: spare the atomic load
			return false
		}
	}
	return true
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (c *Concurrent) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(probe.InCache, dst, hs, c.f.Prefetch, probe.HasEach(c))
}

// Add adds a key. The error is always nil.
func (c *Concurrent) Add(h filter.Hash) error {
	c.setBits(h)
	c.Of(h).Added()
	return nil
}

// TestAndAdd adds a key unless Has is true for it, and returns the answer of Has. If the answer is true, neither the
// bits nor the number of keys change. The error is always nil.
func (c *Concurrent) TestAndAdd(h filter.Hash) (present bool, err error) {
	return c.Has(h) || !c.Once(h, c.setBits), nil
}

// setBits sets the bits of a key and reports whether it found one of them unset. It writes only to words that lack a
// bit: cache lines that need no change stay shared.
func (c *Concurrent) setBits(h filter.Hash) (unset bool) {
	m := c.f.blockMask(h.Lo)
	w := c.f.Words[c.f.firstWord(h):][:c.f.blockWords()]
	for i := range w {
		if m[i] != 0 && atomic.LoadUint64(&w[i])&m[i] != m[i] {
			atomic.OrUint64(&w[i], m[i])
			unset = true
		}
	}
	return unset
}

// Spec returns Info().Spec in constant time.
func (c *Concurrent) Spec() filter.Spec { return c.f.Spec }

// Info counts the set bits of every block, which reads the whole filter. While others write, keys that are being added
// may be missing.
func (c *Concurrent) Info() filter.Info { return c.f.infoFor(c.Keys()) }

// Snapshot returns a copy, a *Filter; see bitvec.CopyShared. The copy contains every key that its Info counts.
func (c *Concurrent) Snapshot() (family.Filter, error) {
	f := c.f
	b, err := f.CopyShared(c.Keys())
	f.Bits = b
	f.setWords(b.Words)
	return &f, err
}
