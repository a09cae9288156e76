package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/kernel"
)

// What stands here does for a bucket without extensions what mutate.go does for any: most buckets have none. Base is the
// first word of the bucket.

// near reports whether a bucket has no extension.
func (f *Filter) near(base uint64) bool {
	return f.table[base+f.span/64]&f.low|f.table[base+f.last]&f.high == 0
}

// setCell overwrites cell c.
func (f *Filter) setCell(base, c, v uint64) {
	bitvec.SetField(f.table, 64*base+f.cells+c*uint64(f.width), f.width, v)
}

// addNear adds a key, and returns false without a change if it wants an extension.
func (f *Filter) addNear(h filter.Hash) bool {
	base, remainder, at, c, old, end := f.walk.Follow(h.Hi, h.Lo)
	if !f.near(base) {
		return false
	}
	const top = 1<<counterBits - 1
	if f.g.Counting && end == kernel.ChainCell && old>>f.payload == remainder && old&top < top {
		f.setCell(base, c, old+1)
		f.keys++
		return true
	}
	if f.walk.Used(base) == f.own || f.mustGrow() {
		return false
	}
	cell := remainder << f.payload
	for end == kernel.ChainCell { // the new cell takes the place of this one, which takes that of the next
		f.setCell(base, c, cell)
		cell = old
		at = f.chains + c
		c = f.walk.Rank(base, at)
		if bitvec.Bit(f.table, 64*base+at)&1 == 0 {
			break
		}
		old = f.walk.Cell(base, c)
	}
	f.walk.Open(base, at, c, cell)
	f.keys++
	f.used++
	return true
}

// removeNear removes a key, and returns false without a change if the bucket has an extension.
func (f *Filter) removeNear(h filter.Hash) (near bool, err error) {
	base, remainder, at, c, cell, end := f.walk.Follow(h.Hi, h.Lo)
	if !f.near(base) {
		return false, nil
	}
	if end != kernel.ChainCell || cell>>f.payload != remainder {
		return true, filter.ErrNotFound
	}
	if f.g.Counting && cell&(1<<counterBits-1) > 0 {
		f.setCell(base, c, cell-1)
		f.keys--
		return true, nil
	}
	for next := f.chains + c; bitvec.Bit(f.table, 64*base+next)&1 != 0; next = f.chains + c {
		behind := f.walk.Rank(base, next)
		f.setCell(base, c, f.walk.Cell(base, behind))
		at, c = next, behind
	}
	f.walk.Close(base, at, c)
	f.keys--
	f.used--
	return true, nil
}
