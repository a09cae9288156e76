package rankindexed

import (
	"math/bits"
	"sync"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// pool holds the extensions of one level, each a record of whole words: the pointer to the next level, the bits of the
// higher index, the cells. Free records are all zero. Who has a record is alone with its words; take and free may be called
// from many goroutines.
type pool struct {
	words  []uint64
	stride uint64 // bits of a record
	head   uint64 // bits of its pointer
	room   uint64 // its cells
	size   uint64 // records

	mu    sync.Mutex
	used  uint64
	taken []uint64 // bit i: record i is in use; not stored
	low   int      // no word of taken before this one has a bit that is not set
}

func newPool(g Geometry, level int, words []uint64) *pool {
	return &pool{
		words: words, stride: 64 * g.words(level), head: uint64(g.pointer(level + 1)), room: uint64(g.Cells[level]),
		size: g.Pools[level], taken: make([]uint64, (g.Pools[level]+63)/64),
	}
}

// take returns a free record, or false if there is none.
func (p *pool) take() (record uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == p.size {
		return 0, false
	}
	for ^p.taken[p.low] == 0 {
		p.low++
	}
	bit := bits.TrailingZeros64(^p.taken[p.low])
	p.taken[p.low] |= 1 << bit
	p.used++
	return uint64(64*p.low + bit), true
}

// free gives a record back.
func (p *pool) free(record uint64) {
	clear(p.words[record*p.stride/64:][:p.stride/64])
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken[record/64] &^= 1 << (record % 64)
	p.low = min(p.low, int(record/64))
	p.used--
}

// claim takes one record, or returns false if it is not there or taken.
func (p *pool) claim(record uint64) bool {
	if record >= p.size || p.taken[record/64]>>(record%64)&1 != 0 {
		return false
	}
	p.taken[record/64] |= 1 << (record % 64)
	p.used++
	return true
}

// clean reports whether all records that are not taken are 0, as whoever takes one relies on.
func (p *pool) clean() bool {
	for record := range p.size {
		if p.taken[record/64]>>(record%64)&1 != 0 {
			continue
		}
		for _, w := range p.words[record*p.stride/64:][:p.stride/64] {
			if w != 0 {
				return false
			}
		}
	}
	return true
}

// lengthen gives the bucket one more level, or returns false if there is none to be had.
func (u *bucket) lengthen() bool {
	if u.n == levels {
		return false
	}
	record, ok := u.f.pools[u.n].take()
	if !ok {
		return false
	}
	words, at := u.pointerAt(u.n)
	bitvec.SetField(words, at, uint(u.f.g.pointer(u.n)), record+1)
	u.extend(record)
	u.n++
	return true
}

// pointerAt returns the words and the bit of the pointer to a level.
func (u *bucket) pointerAt(level int) (words []uint64, at uint64) {
	if level == 1 {
		return u.f.table, u.parts[0].index + u.f.span
	}
	return u.parts[1].words, u.parts[1].index - u.f.pools[1].head
}

// shorten gives the last level of the bucket, which is empty, back to its pool.
func (u *bucket) shorten() {
	u.n--
	words, at := u.pointerAt(u.n)
	bitvec.SetField(words, at, uint(u.f.g.pointer(u.n)), 0)
	u.f.pools[u.n].free(u.parts[u.n].record)
	u.parts[u.n] = part{}
}
