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

// addNear adds a key, and returns false without a change if it wants an extension.
func (f *Filter) addNear(base, chain, remainder uint64) bool {
	used := f.rank(base, f.span)
	if !f.near(base) {
		return false
	}
	const top = 1<<counterBits - 1
	at, c := chain, f.rank(base, chain)
	cell := remainder << f.payload
	if used == f.own && !f.g.Counting {
		return false
	}
	first := 64*base + f.cells
	for bitvec.Bit(f.table, 64*base+at)&1 != 0 {
		old := f.cell(base, c)
		if f.g.Counting && old>>f.payload == remainder && old&top < top && cell>>f.payload == remainder {
			bitvec.SetField(f.table, first+c*uint64(f.width), f.width, old+1)
			f.keys++
			return true
		}
		if cell <= old {
			if used == f.own {
				return false
			}
			bitvec.SetField(f.table, first+c*uint64(f.width), f.width, cell)
			cell = old
		}
		at = f.chains + c
		c = f.rank(base, at)
	}
	if used == f.own {
		return false
	}
	f.table[base+at/64] |= 1 << (at % 64)
	bitvec.Insert(f.table, 64*base+f.chains+c, 64*base+f.span, 1, 0)
	bitvec.Insert(f.table, first+c*uint64(f.width), first+(used+1)*uint64(f.width), f.width, cell)
	f.keys++
	f.used++
	return true
}

// removeNear removes a key, and returns false without a change if the bucket has an extension.
func (f *Filter) removeNear(base, chain, remainder uint64) (near bool, err error) {
	if !f.near(base) {
		return false, nil
	}
	at := chain
	var c, cell uint64
	for {
		if bitvec.Bit(f.table, 64*base+at)&1 == 0 {
			return true, filter.ErrNotFound
		}
		c = f.rank(base, at)
		cell = f.cell(base, c)
		if cell>>f.payload >= remainder {
			break
		}
		at = f.chains + c
	}
	if cell>>f.payload != remainder {
		return true, filter.ErrNotFound
	}
	first := 64*base + f.cells
	if f.g.Counting && cell&(1<<counterBits-1) > 0 {
		bitvec.SetField(f.table, first+c*uint64(f.width), f.width, cell-1)
		f.keys--
		return true, nil
	}
	for next := f.chains + c; bitvec.Bit(f.table, 64*base+next)&1 != 0; next = f.chains + c {
		behind := f.rank(base, next)
		bitvec.SetField(f.table, first+c*uint64(f.width), f.width, f.cell(base, behind))
		at, c = next, behind
	}
	f.table[base+at/64] &^= 1 << (at % 64)
	bitvec.Delete(f.table, 64*base+f.chains+c, 64*base+f.span, 1)
	bitvec.Delete(f.table, first+c*uint64(f.width), first+f.own*uint64(f.width), f.width)
	f.keys--
	f.used--
	return true, nil
}
