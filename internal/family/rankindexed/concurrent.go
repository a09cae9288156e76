package rankindexed

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Concurrent is a Filter that any number of goroutines may query and change at once. An operation holds the lock of its
// bucket, one of at most 512, which guards at most max(1, buckets/256) buckets. Operations do not allocate, except to
// grow.
//
// A filter that reaches its capacity and has a doubling left allocates a table of twice the size. From then on each
// change moves its own bucket to the new table, or one or a few other buckets if its own has already moved. So the new
// table is complete after about as many changes as the old table had buckets. Until then both tables are in memory, and
// a query reads its bucket in the old table until the bucket has moved.
type Concurrent struct {
	table atomic.Pointer[generation] // the only table, or the one that is being doubled
	used  atomic.Uint64              // cells in use, counted only while the filter can double
	grows sync.Mutex                 // held while a larger table is allocated
	snaps sync.Mutex                 // held while a snapshot is taken
	alloc func(Geometry) (*Filter, error)
	lanes [lanes]lane // the counts
}

// lane is a part of the counts, in a cache line of its own.
type lane struct {
	keys, used atomic.Uint64
	_          [48]byte
}

// lanes is the number of parts of the counts: enough that goroutines rarely write to the same one.
const lanes = 64

// generation is the table of a Concurrent between two doublings.
type generation struct {
	arrays
	stripes []stripe
	next    atomic.Pointer[growth] // nil until the table is being doubled
}

// stripe is the lock of every bucket whose number is equal to the number of the stripe modulo the number of stripes.
type stripe struct {
	mu sync.Mutex
	n  tally // of the running operation
	_  [40]byte
}

// maxStripes is the largest number of stripes, a power of two. A table of fewer buckets has one lock per bucket; in a
// larger table a lock guards at most ⌈buckets/512⌉ buckets, which is at most buckets/256.
const maxStripes = 512

func newGeneration(f *Filter) *generation {
	n := uint64(1)
	for n < min(f.buckets, maxStripes) {
		n *= 2
	}
	return &generation{arrays: f.arrays, stripes: make([]stripe, n)}
}

// stripeOf returns the lock of bucket b.
func (t *generation) stripeOf(b uint64) *stripe { return &t.stripes[b&uint64(len(t.stripes)-1)] }

// Concurrent returns a *Concurrent, which any number of goroutines may query and change at once. It takes over the
// filter's memory: do not use the filter afterwards.
func (f *Filter) Concurrent() family.Concurrent { return newConcurrent(f) }

func newConcurrent(f *Filter) *Concurrent {
	c := &Concurrent{alloc: newFilter}
	c.table.Store(newGeneration(f))
	c.used.Store(f.used)
	c.lanes[0].keys.Store(f.keys)
	c.lanes[0].used.Store(f.used)
	return c
}

// lockBucket locks the bucket of h, in the table where it is now. It is apart from lockToChange because queries take a
// tenth longer with both in one.
func (c *Concurrent) lockBucket(h filter.Hash) (*generation, *stripe) {
	for t := c.table.Load(); ; {
		b := probe.Position(h.Hi, t.buckets)
		s := t.stripeOf(b)
		s.mu.Lock()
		g := t.next.Load() // under the lock: a bucket moves only under its lock
		if g == nil || !g.moved[b] {
			return t, s
		}
		s.mu.Unlock()
		t = g.to
	}
}

// lockToChange is lockBucket, but moves the bucket to the new table first if the filter is growing, and reports whether
// it did.
func (c *Concurrent) lockToChange(h filter.Hash) (t *generation, s *stripe, moved bool) {
	for t = c.table.Load(); ; {
		b := probe.Position(h.Hi, t.buckets)
		s = t.stripeOf(b)
		s.mu.Lock()
		g := t.next.Load()
		if g == nil {
			return t, s, moved
		}
		moved = c.moveBucket(t, g, b) || moved
		s.mu.Unlock()
		t = g.to
	}
}

// change locks the bucket of h and runs do, which changes the bucket. If do returns errGrow, change makes the filter
// grow and tries again. If do finds no room while the filter grows, change finishes the growth and tries again. Each
// change also moves its share of buckets.
func (c *Concurrent) change(h filter.Hash, do func(a *arrays, n *tally) error) error {
	for {
		t, s, moved := c.lockToChange(h)
		var used uint64
		if t.g.Growth > 0 { // only mustGrow reads it: without growth, spare the shared cache line
			used = c.used.Load()
		}

		s.n = tally{used: used} // in the stripe, not on the stack: a pointer to a local would make it escape
		err := do(&t.arrays, &s.n)
		keys, cells := s.n.keys, s.n.used-used // a removal wraps around, and so does the sum that it is added to
		lane := &c.lanes[probe.Position(h.Hi, lanes)]
		if keys != 0 {
			lane.keys.Add(keys)
		}
		if cells != 0 {
			lane.used.Add(cells)
			if t.g.Growth > 0 {
				c.used.Add(cells)
			}
		}
		s.mu.Unlock()

		switch {
		case err == nil:
		case err == errGrow:
			if err := c.beginGrowth(t); err != nil {
				return err
			}
			continue
		case errors.Is(err, filter.ErrFull) && c.table.Load().next.Load() != nil:
			c.finishGrowth() // which ends the reservation of extensions for buckets that have not moved
			continue
		}
		if !moved {
			c.moveShare()
		}
		return err
	}
}

// Add is Filter.Add.
func (c *Concurrent) Add(h filter.Hash) error {
	return c.change(h, func(a *arrays, n *tally) error { return a.addHash(h, n) })
}

// TestAndAdd adds the key with hash h unless Has(h) is true, and returns Has(h), in one atomic step. If many goroutines
// add the same new key at the same time, present is false for exactly one of them, or for none if the key is a false
// positive. It returns the errors of Add; the filter is then unchanged, and present is false.
func (c *Concurrent) TestAndAdd(h filter.Hash) (present bool, err error) {
	err = c.change(h, func(a *arrays, n *tally) error {
		if present = a.Has(h); present {
			return nil
		}
		return a.addHash(h, n)
	})
	return present, err
}

// AddValue is Filter.AddValue.
func (c *Concurrent) AddValue(h filter.Hash, value uint64) error {
	return c.change(h, func(a *arrays, n *tally) error { return a.addValue(h, value, n) })
}

// Put is Filter.Put.
func (c *Concurrent) Put(h filter.Hash, value uint64) error {
	return c.change(h, func(a *arrays, n *tally) error { return a.Put(h, value) })
}

// Upsert is Filter.Upsert in one atomic step: if many goroutines bring the same new key, one of them adds it.
func (c *Concurrent) Upsert(h filter.Hash, value uint64) error {
	return c.change(h, func(a *arrays, n *tally) error { return a.upsert(h, value, n) })
}

// Remove is Filter.Remove.
func (c *Concurrent) Remove(h filter.Hash) error {
	return c.change(h, func(a *arrays, n *tally) error { return a.removeHash(h, n) })
}

// Has is Filter.Has.
func (c *Concurrent) Has(h filter.Hash) bool {
	t, s := c.lockBucket(h)
	ok := t.Has(h)
	s.mu.Unlock()
	return ok
}

// HasMany sets dst[i] to Has(hs[i]) for every i; the answers are not one atomic view. It prefetches as Filter.HasMany
// does; in a growing filter it prefetches the old table. It panics if dst and hs differ in length.
func (c *Concurrent) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(probe.InCache, dst, hs, func(hs []filter.Hash) {
		if t := c.table.Load(); len(t.table) >= probe.InCache {
			t.prefetch(hs)
		}
	}, probe.HasEach(c))
}

// Get is Filter.Get.
func (c *Concurrent) Get(h filter.Hash) (value uint64, ok bool) {
	t, s := c.lockBucket(h)
	defer s.mu.Unlock()
	return t.Get(h)
}

// Count is Filter.Count.
func (c *Concurrent) Count(h filter.Hash) (n uint64, saturated bool) {
	t, s := c.lockBucket(h)
	defer s.mu.Unlock()
	return t.Count(h)
}

// Keys returns the number of additions less removals, without reading the filter or taking a lock. While others change
// the filter, it may miss some of the changes that run at the same time.
func (c *Concurrent) Keys() uint64 { return c.sumLanes().keys }

// sumLanes returns the sums of the counts in all lanes.
func (c *Concurrent) sumLanes() tally {
	var n tally
	for i := range c.lanes {
		n.keys += c.lanes[i].keys.Load()
		n.used += c.lanes[i].used.Load()
	}
	// While others change the filter, the sums may include a removal but not the addition before it, and be below 0.
	return tally{keys: uint64(max(0, int64(n.keys))), used: uint64(max(0, int64(n.used)))}
}

// Spec returns Info().Spec in constant time. While the filter grows, it is the Spec of the new table.
func (c *Concurrent) Spec() filter.Spec { return c.newest().g.Spec() }

// Info describes the filter without reading it or taking the lock of a bucket. If other goroutines change the filter,
// the numbers may be from slightly different times. While the filter grows, sizes are the sizes of the new table, and
// Pools.Used counts the extensions of buckets that were moved.
func (c *Concurrent) Info() filter.Info {
	return c.newest().infoWith(c.sumLanes())
}

// newest returns the table that a growth fills, or the only table.
func (c *Concurrent) newest() *generation {
	t := c.table.Load()
	for g := t.next.Load(); g != nil; g = t.next.Load() {
		t = g.to
	}
	return t
}

// filter finishes a growth and returns the filter itself. c must not be used at the same time or afterwards.
func (c *Concurrent) filter() *Filter {
	return &Filter{arrays: c.finishGrowth().arrays, tally: c.sumLanes()}
}

var _ interface {
	family.Concurrent
	family.Batcher
	family.Remover
	family.Counter
	family.Valuer
} = (*Concurrent)(nil)
