package twochoice

import (
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Concurrent is a filter that any number of goroutines may query and change at once. See family.Concurrent for its
// methods. A key whose windows change while its group is chosen may set more new bits than necessary.
type Concurrent struct {
	parallel.Stripes
	f Filter // its fields keys and late have the values from the start
}

// Concurrent returns the form for many goroutines, a *Concurrent. It takes over the filter's memory: do not use the
// filter afterwards.
func (f *Filter) Concurrent() family.Concurrent {
	c := &Concurrent{f: *f}
	c.Start(f.keys)
	return c
}

// window returns a word whose lowest bits are the window that begins at a bit.
func (c *Concurrent) window(at uint64) uint64 {
	low, high := atomic.LoadUint64(&c.f.words[at/64]), atomic.LoadUint64(&c.f.words[at/64+1])
	return low>>(at%64) | high<<1<<(63-at%64)
}

// Has reports whether the key may be in the set.
func (c *Concurrent) Has(h filter.Hash) bool {
	w, all := c.f.walkKey(h), uint64(1)<<c.f.choices-1
	for k := c.f.k; k > 0 && all != 0; k-- {
		all &= c.window(w.next())
	}
	return all != 0
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (c *Concurrent) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(c.f.words), dst, hs, c.f.prefetch, probe.HasEach(c))
}

// Add adds a key. The error is always nil.
func (c *Concurrent) Add(h filter.Hash) error {
	c.setBits(h)
	c.Of(h).Added()
	return nil
}

// TestAndAdd adds a key unless Has is true for it, and returns the answer of Has. The error is always nil.
func (c *Concurrent) TestAndAdd(h filter.Hash) (present bool, err error) {
	return c.Has(h) || !c.Once(h, func(h filter.Hash) bool {
		if c.Has(h) { // another goroutine added it
			return false
		}
		c.setBits(h)
		return true
	}), nil
}

// setBits sets the bits of the best group of a key. It writes only to words that lack a bit: cache lines that need no
// change stay shared.
func (c *Concurrent) setBits(h filter.Hash) {
	var room [MaxK]uint64
	var fresh freshBits
	at, w := room[:c.f.k], c.f.walkKey(h)
	for i := range at {
		at[i] = w.next()
		fresh.count(c.window(at[i]))
	}

	s := fresh.fewest(c.f.choices, w.x)
	for _, u := range at {
		word, bit := &c.f.words[(u+s)/64], uint64(1)<<((u+s)%64)
		if atomic.LoadUint64(word)&bit == 0 {
			atomic.OrUint64(word, bit)
		}
	}
}

// Spec returns Info().Spec in constant time.
func (c *Concurrent) Spec() filter.Spec { return c.f.builtSpec() }

// Info describes a snapshot.
func (c *Concurrent) Info() filter.Info {
	f, err := c.Snapshot()
	if err != nil { // no memory for a copy
		return filter.Info{Spec: c.Spec(), Keys: c.Keys(), Bits: c.f.shards * c.f.bits}
	}
	return f.Info()
}

// Snapshot returns a copy, a *Filter; see bitvec.CopyShared. The copy contains every key that its Info counts.
func (c *Concurrent) Snapshot() (family.Filter, error) {
	f := c.f
	f.keys = c.Keys() // before the bits: a key is counted after its bits are set, so that no counted key is missing
	if f.searched > 0 {
		f.late += f.keys - c.f.keys
	}

	var err error
	f.words, err = bitvec.CopyShared(c.f.words)
	return &f, err
}

// Like returns a Builder of a filter of the same geometry for other keys. Without keys it builds an empty filter.
func (c *Concurrent) Like() (family.Builder, error) {
	f, err := c.Snapshot()
	if err != nil {
		return nil, err
	}
	return f.(*Filter).Reoptimize(filter.Effort{Level: filter.Keep})
}
