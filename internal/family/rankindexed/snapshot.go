package rankindexed

import (
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// snapshot copies a table, bucket by bucket, while other goroutines change the table. The copy of a bucket has the same
// extensions. No two buckets in the copy share an extension, because a bucket is copied before it takes an extension;
// see pool.takeRecord.
type snapshot struct {
	from   *arrays
	to     *Filter
	copied []bool     // by bucket, guarded by its lock
	mu     sync.Mutex // guards the counts of to
	// copying, if not nil, is called before a bucket is copied.
	copying func(b uint64)
}

// copyBucket copies bucket b, whose lock is held, unless that was done before.
func (s *snapshot) copyBucket(b uint64) {
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
		p.claimRecord(record)
		words := p.stride / 64
		copy(p.words[record*words:][:words], u.parts[level].words[record*words:])
	}

	used, keys := u.usedCells(), u.countKeys()
	s.mu.Lock()
	s.to.used += used
	s.to.keys += keys
	s.mu.Unlock()
}

// Snapshot returns a copy, a *Filter. The copy contains every key whose Add returned before Snapshot began, and no key
// whose Remove returned before; it contains each concurrent change completely or not at all. If the filter is growing,
// Snapshot finishes the growth first. It locks one bucket at a time, so other goroutines wait for the copying of at
// most max(1, buckets/256) buckets. The error wraps filter.ErrTooLarge if the copy does not fit into memory.
func (c *Concurrent) Snapshot() (family.Filter, error) {
	c.snaps.Lock()
	defer c.snaps.Unlock()
	// If the table grows from here on, its buckets move, but their content stays in t, which is what the copy needs.
	t := c.finishGrowth()
	to, err := newFilter(t.g)
	if err != nil {
		return nil, err
	}

	s := &snapshot{from: &t.arrays, to: to, copied: make([]bool, t.buckets)}
	t.copyTo(s) // before the first bucket is copied: from now on a bucket is copied before it takes an extension
	defer t.copyTo(nil)
	for b := range t.buckets {
		l := t.stripeOf(b)
		l.mu.Lock()
		s.copyBucket(b)
		l.mu.Unlock()
	}
	return to, nil
}

// copyTo sets the snapshot that a bucket is copied to before it takes an extension, or nil for none.
func (f *arrays) copyTo(s *snapshot) {
	for _, p := range f.pools[1:] {
		p.mu.Lock()
		p.copying = s
		p.mu.Unlock()
	}
}

// A Copy copies a Cells, bucket by bucket, while other goroutines change the table.
type Copy struct {
	from     *Cells
	snapshot snapshot
}

// StartCopy begins a copy. copying is called once for each bucket when it is copied, by the goroutine that holds the
// lock of the bucket: a caller of Copy.Bucket or of Put. Finish ends the copy; until then no other copy may begin.
// StartCopy reuses the memory of earlier, if not nil, a copy of f whose table is no longer in use. The error wraps
// filter.ErrTooLarge if the copy does not fit into memory.
func (f *Cells) StartCopy(earlier *Copy, copying func(b uint64)) (*Copy, error) {
	c := earlier
	if c == nil {
		to, err := newFilter(f.g)
		if err != nil {
			return nil, err
		}
		c = &Copy{f, snapshot{from: &f.arrays, to: to, copied: make([]bool, f.buckets)}}
	}

	// A copied bucket replaces all its words, but only used extensions are copied: clear the others.
	for _, p := range c.snapshot.to.pools[1:] {
		clear(p.words)
		clear(p.taken)
		p.used, p.low = 0, 0
	}

	clear(c.snapshot.copied)
	c.snapshot.to.used, c.snapshot.to.keys, c.snapshot.copying = 0, 0, copying
	f.copyTo(&c.snapshot)
	return c, nil
}

// Bucket copies bucket b, whose lock the caller holds, unless it was copied before.
func (c *Copy) Bucket(b uint64) { c.snapshot.copyBucket(b) }

// Finish returns the copy, for which all buckets must have been copied.
func (c *Copy) Finish() *Cells {
	c.from.copyTo(nil)
	return &Cells{c.snapshot.to.arrays}
}

// Encode returns the stored form of the table, which is the form of a Filter with values. The words are shared with the
// table.
func (f *Cells) Encode() family.Encoded {
	all := Filter{arrays: f.arrays}
	for b := range f.buckets {
		all.keys += f.Used(b)
	}
	return all.Encode()
}

// StoredCells returns the geometry of a stored table with this Spec, and the number of words of each section. It
// returns the errors of NewCells.
func StoredCells(s filter.Spec) (Geometry, []uint64, error) {
	g, _, trimmed, err := storedGeometry(s)
	switch {
	case err != nil:
	case trimmed:
		err = family.Invalid("trimmed", s, "not in this form")
	default:
		err = g.checkCells()
	}
	return g, g.sections(), err
}

// DecodeCells returns the table of a stored form and keeps its words. It checks everything, as Decode does.
func DecodeCells(e family.Encoded) (*Cells, error) {
	if _, _, err := StoredCells(e.Spec); err != nil {
		return nil, err
	}
	f, err := Decode(e)
	if err != nil {
		return nil, err
	}
	return &Cells{f.arrays}, nil
}
