package rankindexed

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// pool manages the extensions of one level. Each extension is a record of whole words: the pointer to the next level,
// the bits of the higher index, the cells. Free records are all zero. Only the bucket to which a record belongs reads
// or writes its words, and takeRecord and freeRecord are locked, so that operations on different buckets may run at the
// same time.
type pool struct {
	words  []uint64
	stride uint64 // bits of a record
	head   uint64 // bits of its pointer
	room   uint64 // its cells
	size   uint64 // records

	mu    sync.Mutex // guards the fields below
	used  uint64
	taken []uint64 // bit i: record i is in use; not stored
	low   int      // all bits are set in the words of taken before this one
	// The fields below are for a Concurrent.
	reserved uint64    // free records for buckets that come from the table of half the size
	closed   bool      // the filter is growing: takeRecord returns errGrow
	copying  *snapshot // not nil: a copy is being made
}

func newPool(g Geometry, level int, words []uint64) *pool {
	return &pool{
		words: words, stride: 64 * g.levelWords(level), head: uint64(g.pointerBits(level + 1)),
		room: uint64(g.Cells[level]), size: g.Pools[level], taken: make([]uint64, (g.Pools[level]+63)/64),
	}
}

// takeRecord returns a free record, and the snapshot that the bucket must be copied to before it uses the record, or
// nil. Only a bucket that comes from the table of half the size may have a reserved record. The error is errGrow or
// wraps filter.ErrFull.
func (p *pool) takeRecord(reserved bool) (record uint64, s *snapshot, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return 0, nil, errGrow
	case p.used == p.size || !reserved && p.used+p.reserved >= p.size:
		return 0, nil, filter.ErrFull
	}

	for ^p.taken[p.low] == 0 {
		p.low++
	}

	bit := bits.TrailingZeros64(^p.taken[p.low])
	p.taken[p.low] |= 1 << bit
	p.used++
	return uint64(64*p.low + bit), p.copying, nil
}

// freeRecord returns a record to the pool.
func (p *pool) freeRecord(record uint64) {
	clear(p.words[record*p.stride/64:][:p.stride/64]) // before others can take the record
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken[record/64] &^= 1 << (record % 64)
	p.low = min(p.low, int(record/64))
	p.used--
}

// claimRecord marks a record as in use. It returns false if the record does not exist or is already in use.
func (p *pool) claimRecord(record uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if record >= p.size || p.taken[record/64]>>(record%64)&1 != 0 {
		return false
	}
	p.taken[record/64] |= 1 << (record % 64)
	p.used++
	return true
}

// recordsInUse returns the number of records in use.
func (p *pool) recordsInUse() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// freeRecordsAreZero reports whether all free records are 0, as takeRecord requires.
func (p *pool) freeRecordsAreZero() bool {
	for record := range p.size {
		taken := p.taken[record/64]>>(record%64)&1 != 0
		if !taken && !bitvec.ZeroFrom(p.words[record*p.stride/64:][:p.stride/64], 0) {
			return false
		}
	}
	return true
}

// lengthen gives the bucket one more level. pool.takeRecord explains reserved and the error.
func (u *bucket) lengthen(reserved bool) error {
	if u.n == levels {
		return filter.ErrFull
	}

	record, s, err := u.f.pools[u.n].takeRecord(reserved)
	if err != nil {
		return err
	}

	// In the copy, another bucket may still have this record, if it was copied before it returned the record.
	if s != nil {
		s.copyBucket(u.number())
	}

	u.attach(record)
	return nil
}

// attach gives the bucket one more level, the extension that it has taken from the pool.
func (u *bucket) attach(record uint64) {
	u.setPointer(u.n, record+1)
	u.extend(record)
}

// describeFull adds the cause to filter.ErrFull and returns any other error unchanged.
func (f *arrays) describeFull(err error) error {
	if err == filter.ErrFull {
		if f.g.Growth == 0 {
			return fmt.Errorf("no room in the bucket of a key, in a filter for %d keys without growth=: %w", f.g.Capacity, err)
		}
		return fmt.Errorf("no room in the bucket of a key, in a filter for %d keys: %w", f.g.Capacity, err)
	}
	return err
}

// setPointer sets the pointer to a level: the number of its extension + 1, or 0.
func (u *bucket) setPointer(level int, pointer uint64) {
	words, at := u.f.table, u.parts[0].index+u.f.span
	if level > 1 {
		words, at = u.parts[1].words, u.parts[1].index-u.f.pools[1].head
	}
	bitvec.SetField(words, at, uint(u.f.g.pointerBits(level)), pointer)
}

// shorten returns the last level of the bucket, which must be empty, to its pool.
func (u *bucket) shorten() {
	u.n--
	u.setPointer(u.n, 0)
	u.f.pools[u.n].freeRecord(u.parts[u.n].record)
	u.parts[u.n] = part{}
}

// renumberExtensions numbers the extensions in the order of their buckets, so that the same keys make the same filter
// in any order. It returns the filter.
func (f *Filter) renumberExtensions() (*Filter, error) {
	for level := 1; level < levels; level++ {
		old := f.pools[level]
		words, err := bitvec.Alloc(uint64(len(old.words)))
		if err != nil {
			return nil, err
		}
		fresh := newPool(f.g, level, words)
		for b := range f.buckets {
			u := f.bucket(b)
			if u.n <= level {
				continue
			}
			record, _, err := fresh.takeRecord(false)
			if err != nil {
				return nil, err
			}
			from := old.words[u.parts[level].record*old.stride/64:][:old.stride/64]
			copy(words[record*fresh.stride/64:], from)
			u.setPointer(level, record+1)
		}
		f.pools[level] = fresh
	}
	return f, nil
}
