package rankindexed

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// What stands here does for a bucket without extensions what mutate.go does for any: most buckets have none. Base is the
// first word of the bucket.

// near reports whether a bucket has no extension.
func (f *Filter) near(base uint64) bool {
	return f.pointer == 0 || bitvec.Field(f.table, 64*base+f.span, f.pointer) == 0
}

// cellAt returns the first bit of cell c.
func (f *Filter) cellAt(base, c uint64) uint64 { return 64*base + f.cells + c*uint64(f.width) }

// addNear adds a key, and returns false without a change if it wants an extension.
func (f *Filter) addNear(h filter.Hash) bool {
	b, _, remainder := f.walk.Locate(h.Hi, h.Lo)
	at, c, old, used, end := f.walk.Follow(h.Hi, h.Lo)
	base := b * f.words
	if !f.near(base) {
		return false
	}
	const top = 1<<counterBits - 1
	if f.g.Counting && end == bitvec.ChainCell && old>>f.payload == remainder && old&top < top {
		bitvec.SetField(f.table, f.cellAt(base, c), f.width, old+1)
		f.keys++
		return true
	}
	if used == f.own {
		return false
	}
	cell := remainder << f.payload
	for end == bitvec.ChainCell { // the new cell takes the place of this one, which takes that of the next
		bitvec.SetField(f.table, f.cellAt(base, c), f.width, cell)
		cell = old
		at = f.chains + c
		c = f.walk.Rank(base, at)
		if bitvec.Bit(f.table, 64*base+at)&1 == 0 {
			break
		}
		old = f.walk.Cell(base, c)
	}
	f.table[base+at/64] |= 1 << (at % 64)
	bitvec.Insert(f.table, 64*base+f.chains+c, 64*base+f.span, 1, 0)
	bitvec.Insert(f.table, f.cellAt(base, c), f.cellAt(base, used+1), f.width, cell)
	f.keys++
	f.used++
	return true
}

// removeNear removes a key, and returns false without a change if the bucket has an extension.
func (f *Filter) removeNear(h filter.Hash) (near bool, err error) {
	b, _, remainder := f.walk.Locate(h.Hi, h.Lo)
	at, c, cell, used, end := f.walk.Follow(h.Hi, h.Lo)
	base := b * f.words
	if !f.near(base) {
		return false, nil
	}
	if end != bitvec.ChainCell || cell>>f.payload != remainder {
		return true, filter.ErrNotFound
	}
	if f.g.Counting && cell&(1<<counterBits-1) > 0 {
		bitvec.SetField(f.table, f.cellAt(base, c), f.width, cell-1)
		f.keys--
		return true, nil
	}
	for next := f.chains + c; bitvec.Bit(f.table, 64*base+next)&1 != 0; next = f.chains + c {
		behind := f.walk.Rank(base, next)
		bitvec.SetField(f.table, f.cellAt(base, c), f.width, f.walk.Cell(base, behind))
		at, c = next, behind
	}
	f.table[base+at/64] &^= 1 << (at % 64)
	bitvec.Delete(f.table, 64*base+f.chains+c, 64*base+f.span, 1)
	bitvec.Delete(f.table, f.cellAt(base, c), f.cellAt(base, used), f.width)
	f.keys--
	f.used--
	return true, nil
}
