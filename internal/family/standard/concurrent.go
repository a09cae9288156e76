package standard

import (
	"math/bits"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Concurrent is a standard Bloom filter that any number of goroutines may query and change at once. See
// family.Concurrent for its methods.
//
// Add and Has take no locks: bits are set by atomic ORs and never cleared, so the bits of an added key stay set. This
// does not suffice for TestAndAdd: two goroutines that add the same key could both find a bit unset. TestAndAdd
// therefore sets the bits under a lock that the key's hash chooses (parallel.Stripes.Once). The second goroutine then
// finds all of them set.
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
	words, m, k := c.f.Words, c.f.M, c.f.K
	x, by := h.Lo, h.Hi
	for range k {
		at := probe.Position(x, m)
		x = probe.Next(x, by)
		if atomic.LoadUint64(&words[at/64])>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (c *Concurrent) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(probe.InCache, dst, hs, c.f.prefetch, probe.HasEach(c))
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
	words, m, k := c.f.Words, c.f.M, c.f.K
	x, by := h.Lo, h.Hi
	for range k {
		at := probe.Position(x, m)
		x = probe.Next(x, by)
		w, bit := &words[at/64], uint64(1)<<(at%64)
		if atomic.LoadUint64(w)&bit == 0 {
			atomic.OrUint64(w, bit)
			unset = true
		}
	}
	return unset
}

// Spec returns Info().Spec in constant time.
func (c *Concurrent) Spec() filter.Spec { return c.f.Spec }

// Info counts the set bits, which reads the whole filter. While others write, keys that are being added may be missing.
func (c *Concurrent) Info() filter.Info {
	keys := c.Keys()
	var ones uint64
	for i := range c.f.Words {
		ones += uint64(bits.OnesCount64(atomic.LoadUint64(&c.f.Words[i])))
	}
	return c.f.infoFor(keys, ones)
}

// Snapshot returns a copy, a *Filter; see bitvec.CopyShared. The copy contains every key that its Info counts.
func (c *Concurrent) Snapshot() (family.Filter, error) {
	b, err := c.f.CopyShared(c.Keys())
	return &Filter{b}, err
}
