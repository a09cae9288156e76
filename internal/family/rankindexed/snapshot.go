package rankindexed

import (
	"sync"

	"github.com/bloomery/bloomery/internal/family"
)

// snapshot is a copy of a table that is being made, bucket by bucket, while others change the table. The copy of a
// bucket has the same extensions. That works because no two buckets in the copy have the same one: a bucket that takes
// an extension is copied before it does, see pool.take.
type snapshot struct {
	from   *arrays
	to     *Filter
	copied []bool     // by bucket, guarded by its lock
	mu     sync.Mutex // guards the counts of to
	// copying, if not nil, is called before a bucket is copied.
	copying func(b uint64)
}

// bucket copies bucket b, whose lock is held, unless that was done before.
func (s *snapshot) bucket(b uint64) {
	if s.copied[b] {
		return
	}
	s.copied[b] = true
	if s.copying != nil {
		s.copying(b)
	}
	words := s.from.words
	copy(s.to.table[b*words:][:words], s.from.table[b*words:])
	u := s.from.bucket(b)
	for level := 1; level < u.n; level++ {
		p, record := s.to.pools[level], u.parts[level].record
		p.claim(record)
		words := p.stride / 64
		copy(p.words[record*words:][:words], u.parts[level].words[record*words:])
	}
	used, keys := u.used(), u.keys()
	s.mu.Lock()
	s.to.used += used
	s.to.keys += keys
	s.mu.Unlock()
}

// Snapshot returns a copy, a *Filter. It holds every key whose Add returned before Snapshot began and no key that was
// removed before that; of changes that run at the same time it has some and not others, each whole. If the filter is
// growing, Snapshot finishes that first. It locks one bucket at a time, so that others wait for the copying of at most
// max(1, buckets/256) buckets. The error wraps filter.ErrTooLarge if the copy has no room in memory.
func (c *Concurrent) Snapshot() (family.Filter, error) {
	c.snaps.Lock()
	defer c.snaps.Unlock()
	// If the table grows from here on, its buckets are moved but their old content remains: it is still what the copy
	// needs.
	t := c.finish()
	to, err := newFilter(t.g)
	if err != nil {
		return nil, err
	}
	s := &snapshot{from: &t.arrays, to: to, copied: make([]bool, t.buckets)}
	t.copyTo(s)
	defer t.copyTo(nil)
	for b := range t.buckets {
		l := t.stripe(b)
		l.mu.Lock()
		s.bucket(b)
		l.mu.Unlock()
	}
	return to, nil
}

// copyTo sets the snapshot that a bucket is copied to before it takes an extension, or nil for none.
func (f *arrays) copyTo(s *snapshot) {
	for level := 1; level < levels; level++ {
		p := f.pools[level]
		p.mu.Lock()
		p.copying = s
		p.mu.Unlock()
	}
}
