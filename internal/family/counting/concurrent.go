package counting

import (
	"math"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/parallel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Concurrent is a counting Bloom filter that any number of goroutines may query and change at once. See
// family.Concurrent for its methods; it also is a family.Remover and a family.Counter. Has and Count take no locks.
//
// # Why no key is lost
//
// Words are changed by compare-and-swap, so no change of a counter is lost or reaches its neighbours. Each of 256 locks
// (parallel.Stripes) stands for some keys, by their hash, and for some words, by their index:
//
//  1. Add, TestAndAdd and Remove hold the lock of their key. Changes of one key never overlap.
//  2. Remove also holds the locks of the words of its counters. All locks are taken in ascending order, so goroutines
//     cannot wait in a circle. Two removals that share a word never overlap. While Remove compares the counters with
//     what the key needs and then decrements them, they can therefore only grow, by additions of other keys: what it
//     found is still there, and no counter falls below 0.
//  3. Snapshot holds all locks. By 1 no change is running then, so the copy never has a part of a change.
//
// Let a key be added and not removed. By 1 its addition is complete, so each of its counters contains its share or is
// stuck. A removal of another key that was added takes only the share of that key. Hence the key's counters are at
// least its own share at every moment, also between the steps of other changes: Has is true and Count is not too small.
//
// A Has that overlaps changes of other keys may combine counters of different moments. This can only make an absent key
// look present.
type Concurrent struct {
	parallel.Stripes
	f Filter // its keys field is not used: the stripes count
}

// Concurrent returns the form for many goroutines, a *Concurrent. It takes over the filter's memory: do not use the
// filter afterwards.
func (f *Filter) Concurrent() family.Concurrent {
	c := &Concurrent{f: *f}
	c.Start(f.keys)
	return c
}

// Has reports whether the key may be in the set.
func (c *Concurrent) Has(h filter.Hash) bool {
	x, by := h.Lo, h.Hi
	for range c.f.k {
		if c.f.counter(probe.Position(x, c.f.m)) == 0 {
			return false
		}
		x = probe.Next(x, by)
	}
	return true
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (c *Concurrent) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(probe.InCache, dst, hs, c.f.prefetch, probe.HasEach(c))
}

// Count returns how often the key was added, as Count of Filter does. While others write, the result is not below the
// number of its additions that had returned, less the number of its removals that had begun.
func (c *Concurrent) Count(h filter.Hash) (n uint64, saturated bool) {
	var room [MaxK]uint64
	return counted(c.f.countAt(c.f.probesOf(&room, h)))
}

// Add adds a key once more. The error is always nil.
func (c *Concurrent) Add(h filter.Hash) error {
	s := c.Of(h)
	s.Lock()
	c.addHash(h)
	s.Added()
	s.Unlock()
	return nil
}

// TestAndAdd adds a key unless Has is true for it, and returns the answer of Has. If the answer is true, neither the
// counters nor the number of keys change. The error is always nil.
func (c *Concurrent) TestAndAdd(h filter.Hash) (present bool, err error) {
	if c.Has(h) {
		return true, nil
	}

	s := c.Of(h)
	s.Lock()
	defer s.Unlock()
	if present = c.Has(h); !present { // again, under the lock: another goroutine may have added it meanwhile
		c.addHash(h)
		s.Added()
	}
	return present, nil
}

// addHash increments the counters of a key, whose lock is held.
func (c *Concurrent) addHash(h filter.Hash) {
	x, by := h.Lo, h.Hi
	for range c.f.k {
		at := probe.Position(x, c.f.m)
		changeCounter(&c.f.words[at/inWord], at%inWord*width, 1)
		x = probe.Next(x, by)
	}
}

// Remove undoes one addition of h. Filter.Remove describes its errors and its risk.
func (c *Concurrent) Remove(h filter.Hash) error {
	var room [MaxK]uint64
	at := c.f.probesOf(&room, h)
	var locks parallel.StripeSet
	locks.Add(parallel.StripeOf(h))
	for _, i := range at {
		locks.Add(uint8(i / inWord))
	}

	c.Lock(&locks)
	defer c.Unlock(&locks)
	// If all counters of the key are stuck, they no longer show whether any key is left, so the number of keys decides.
	// A counter that is not stuck and not 0 shows that at least one key is left.
	if n := c.f.countAt(at); n == 0 || n > stuck && c.Keys() == 0 {
		return errNotFound
	}

	for _, i := range at {
		changeCounter(&c.f.words[i/inWord], i%inWord*width, math.MaxUint64)
	}

	c.Of(h).Removed()
	return nil
}

// Spec returns Info().Spec in constant time.
func (c *Concurrent) Spec() filter.Spec { return c.f.builtSpec() }

// Info counts the counters that are not 0, which reads the whole filter. While others write, it may combine counters of
// different moments.
func (c *Concurrent) Info() filter.Info { return c.f.infoFor(c.Keys(), c.f.nonzeroCounters()) }

// EstimateLoss is Filter.EstimateLoss.
func (c *Concurrent) EstimateLoss(keep float64) float64 { return c.f.EstimateLoss(keep) }

// Snapshot returns a copy, a *Filter. It stops all writers while it copies, but not Has and Count. The error wraps
// filter.ErrTooLarge if the copy does not fit into memory.
func (c *Concurrent) Snapshot() (family.Filter, error) {
	words, err := bitvec.Alloc(uint64(len(c.f.words)))
	if err != nil {
		return nil, err
	}
	c.LockAll()
	defer c.UnlockAll()
	copy(words, c.f.words)
	return &Filter{words: words, m: c.f.m, k: c.f.k, keys: c.Keys()}, nil
}

// changeCounter adds by, 1 or -1, to the counter at bit shift of a word, unless it is stuck. Others may change the word
// at the same time. A counter of 0 must not become less.
func changeCounter(word *uint64, shift, by uint64) {
	for {
		w := atomic.LoadUint64(word)
		if w>>shift&stuck == stuck || atomic.CompareAndSwapUint64(word, w, w+by<<shift) {
			return
		}
	}
}
