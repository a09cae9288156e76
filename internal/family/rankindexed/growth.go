package rankindexed

import (
	"sync"
	"sync/atomic"
)

// growth is the doubling of a table of a Concurrent. Once it has begun, the old table is changed only by operations
// that took their lock earlier, and these take no extensions.
type growth struct {
	to     *generation
	moved  []bool        // by bucket of the old table, guarded by its lock there
	left   atomic.Uint64 // buckets that were not moved
	cursor atomic.Uint64 // position of help, modulo the number of buckets
	share  uint64        // the number of buckets that help moves
	lists  sync.Pool     // of *splitter
}

// beginGrowth allocates the table of twice the size of t and begins the growth, unless another goroutine has. It holds
// no lock of a bucket, so only changes that need another cell wait meanwhile. On error the filter is unchanged.
func (c *Concurrent) beginGrowth(t *generation) error {
	c.grows.Lock()
	defer c.grows.Unlock()
	if t.next.Load() != nil {
		return nil
	}

	c.finishGrowth() // if t itself is still being filled: at most two tables are in memory
	twice, err := t.allocTwice(c.alloc)
	if err != nil {
		return err
	}

	g := &growth{to: newGeneration(twice), moved: make([]bool, t.buckets)}
	g.left.Store(t.buckets)
	// The growth ends before half of the additional capacity is used, except in a table with fewer than 512 keys and
	// more buckets than keys.
	g.share = min(2*t.buckets/t.g.Capacity+1, max(1, t.buckets/256))
	g.lists.New = func() any { return new(splitter) }
	for level := 1; level < levels; level++ {
		// Splitting a bucket needs at most two extensions for each of its own, so a reserved one is always free.
		twice.pools[level].reserved = 2 * t.pools[level].closeForGrowth()
	}

	t.next.Store(g)
	return nil
}

// closeForGrowth makes takeRecord return errGrow from now on, and returns the number of records in use, which can no
// longer rise.
func (p *pool) closeForGrowth() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.used
}

// releaseReserved ends the reservation of n records, or of all that are left.
func (p *pool) releaseReserved(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved -= min(n, p.reserved)
}

// moveBucket moves bucket b of t, whose lock is held, to the new table. It returns false if that was done before. No
// other goroutine uses the two buckets there: until all buckets are moved, they are reached only through the old one.
func (c *Concurrent) moveBucket(t *generation, g *growth, b uint64) bool {
	if g.moved[b] {
		return false
	}

	s := g.lists.Get().(*splitter)
	if err := s.splitBucket(&t.arrays, b, &g.to.arrays); err != nil {
		panic("rankindexed: splitting a bucket: " + err.Error()) // impossible, see split and grow
	}

	g.lists.Put(s)
	u := t.bucket(b)
	for level := 1; level < u.n; level++ {
		g.to.pools[level].releaseReserved(2)
	}

	g.moved[b] = true
	if g.left.Add(^uint64(0)) == 0 { // subtracts 1
		c.endGrowth(t, g)
	}
	return true
}

// endGrowth ends a growth whose buckets have all been moved. It may be called more than once.
func (c *Concurrent) endGrowth(t *generation, g *growth) {
	for level := 1; level < levels; level++ {
		g.to.pools[level].releaseReserved(^uint64(0))
	}
	c.table.CompareAndSwap(t, g.to) // fails if another goroutine was first
}

// tries is the number of buckets that help examines for each bucket to move.
const tries = 8

// moveShare moves a few buckets if the filter is growing. It takes one lock at a time and never waits for a lock.
func (c *Concurrent) moveShare() {
	t := c.table.Load()
	g := t.next.Load()
	if g == nil {
		return
	}

	moved := uint64(0)
	for range tries * g.share {
		b := (g.cursor.Add(1) - 1) % t.buckets
		s := t.stripeOf(b)
		if !s.mu.TryLock() {
			continue // the cursor wraps around and comes to this bucket again
		}
		if c.moveBucket(t, g, b) {
			moved++
		}
		s.mu.Unlock()
		if moved == g.share || g.left.Load() == 0 {
			return
		}
	}
}

// finishGrowth moves all buckets that are left if the filter is growing, one lock at a time, and returns a table that
// was not growing at some moment after the call began.
func (c *Concurrent) finishGrowth() *generation {
	for {
		t := c.table.Load()
		g := t.next.Load()
		if g == nil {
			return t
		}
		for b := range t.buckets {
			s := t.stripeOf(b)
			s.mu.Lock()
			c.moveBucket(t, g, b)
			s.mu.Unlock()
		}
		c.endGrowth(t, g)
	}
}
