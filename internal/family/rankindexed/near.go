package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/kernel"
)

// The operations here are those of mutate.go for buckets without extensions, which most are. base is the first word of
// the bucket.

// near reports whether a bucket has no extension.
func (f *arrays) near(base uint64) bool {
	return f.table[base+f.span/64]&f.low|f.table[base+f.last]&f.high == 0
}

// setCell overwrites cell c.
func (f *arrays) setCell(base, c, v uint64) {
	bitvec.SetField(f.table, 64*base+f.cells+c*uint64(f.width), f.width, v)
}

// addNear adds a key. It returns false and changes nothing if the bucket has or needs an extension, or the filter must
// grow.
func (f *arrays) addNear(h filter.Hash, n *tally) bool {
	base, remainder, at, c, old, end := f.walk.Follow(h.Hi, h.Lo)
	if !f.near(base) {
		return false
	}
	const top = 1<<counterBits - 1
	if f.g.Counting && end == kernel.ChainCell && old>>f.payload == remainder && old&top < top {
		f.setCell(base, c, old+1)
		n.keys++
		return true
	}
	if f.walk.Used(base) == f.own || f.mustGrow(n) {
		return false
	}
	f.openNear(base, at, c, remainder<<f.payload, old, end == kernel.ChainCell)
	n.keys++
	n.used++
	return true
}

// openNear inserts a cell where a walk ended: at bit at of the index, before cell c, which is old and of the same chain
// if more is true.
func (f *arrays) openNear(base, at, c, cell, old uint64, more bool) {
	for more { // the new cell replaces this one, which replaces the next
		f.setCell(base, c, cell)
		cell = old
		at = f.chains + c
		c = f.walk.Rank(base, at)
		if more = bitvec.Bit(f.table, 64*base+at)&1 != 0; more {
			old = f.walk.Cell(base, c)
		}
	}
	f.walk.Open(base, at, c, cell)
}

// removeNear removes a key. It returns false and changes nothing if the bucket has an extension.
func (f *arrays) removeNear(h filter.Hash, n *tally) (near bool, err error) {
	base, remainder, at, c, cell, end := f.walk.Follow(h.Hi, h.Lo)
	if !f.near(base) {
		return false, nil
	}
	if end != kernel.ChainCell || cell>>f.payload != remainder {
		return true, filter.ErrNotFound
	}
	if f.g.Counting && cell&(1<<counterBits-1) > 0 {
		f.setCell(base, c, cell-1)
		n.keys--
		return true, nil
	}
	for next := f.chains + c; bitvec.Bit(f.table, 64*base+next)&1 != 0; next = f.chains + c {
		behind := f.walk.Rank(base, next)
		f.setCell(base, c, f.walk.Cell(base, behind))
		at, c = next, behind
	}
	f.walk.Close(base, at, c)
	n.keys--
	n.used--
	return true, nil
}
