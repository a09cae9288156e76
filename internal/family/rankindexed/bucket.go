package rankindexed

import (
	"github.com/bloomery/bloomery/internal/bitvec"
)

// bucket is one bucket with its extensions. Positions in the index and numbers of cells continue from level to level.
type bucket struct {
	f     *arrays
	n     int // its levels
	parts [levels]part
}

// part is one level of a bucket: a range of index bits and one of cells.
type part struct {
	words  []uint64
	index  uint64 // first bit of the index
	bits   uint64 // bits of the index
	cells  uint64 // first bit of the cells
	room   uint64 // cells
	ones   uint64 // set bits of the index
	record uint64 // number of the extension
}

// bucket returns bucket b.
func (f *arrays) bucket(b uint64) (u bucket) {
	u.f, u.n = f, 1
	first := 64 * b * f.words
	u.parts[0] = part{words: f.table, index: first, bits: f.span, cells: first + f.cells, room: f.own}
	u.parts[0].ones = u.rankOf(f.span)
	for words, at := f.table, first+f.span; u.n < levels && f.g.Pools[u.n] > 0; words = u.parts[1].words {
		to := bitvec.Field(words, at, uint(f.g.pointerBits(u.n)))
		if to == 0 { // pointers are numbers + 1, so that 0 is free to mean none
			return u
		}
		at = u.extend(to - 1)
	}
	return u
}

// number returns the number of the bucket.
func (u *bucket) number() uint64 { return u.parts[0].index / 64 / u.f.words }

// extend gives the bucket one more level, an extension, and returns the index of the first bit of the extension.
func (u *bucket) extend(record uint64) uint64 {
	p, pool := &u.parts[u.n], u.f.pools[u.n]
	at := record * pool.stride
	*p = part{
		words: pool.words, record: record, index: at + pool.head, bits: pool.room,
		cells: at + pool.head + pool.room, room: pool.room,
	}
	p.ones = bitvec.OnesIn(p.words, p.index, p.index+p.bits)
	u.n++
	return at
}

// usedCells returns the number of cells in use.
func (u *bucket) usedCells() uint64 { return u.parts[0].ones + u.parts[1].ones + u.parts[2].ones }

// allCells returns the number of cells.
func (u *bucket) allCells() uint64 { return u.parts[0].room + u.parts[1].room + u.parts[2].room }

// indexBit reports whether bit at of the index is set. Bits beyond the end count as not set.
func (u *bucket) indexBit(at uint64) bool {
	for i := range u.n {
		p := &u.parts[i]
		if at < p.bits {
			return bitvec.Bit(p.words, p.index+at)&1 != 0
		}
		at -= p.bits
	}
	return false
}

// rankOf returns the number of set bits before bit at.
func (u *bucket) rankOf(at uint64) (n uint64) {
	if at <= u.f.span { // most buckets have no extension; the kernel counts within the index of the bucket itself
		return u.f.walk.Rank(u.parts[0].index/64, at)
	}

	for i := range u.n {
		p := &u.parts[i]
		if at <= p.bits {
			return n + bitvec.OnesIn(p.words, p.index, p.index+at)
		}
		at -= p.bits
		n += p.ones
	}
	return n
}

// flipBit inverts bit at of the index.
func (u *bucket) flipBit(at uint64) {
	i := 0
	for ; at >= u.parts[i].bits; i++ {
		at -= u.parts[i].bits
	}
	p := &u.parts[i]
	at += p.index
	words := p.words
	words[at/64] ^= 1 << (at % 64)
	p.ones += words[at/64]>>(at%64)&1*2 - 1 // +1 if the bit is set now, else -1, which wraps around
}

// cellAt returns the words and the first bit of cell c.
func (u *bucket) cellAt(c uint64) (words []uint64, at uint64) {
	i := 0
	for ; c >= u.parts[i].room; i++ {
		c -= u.parts[i].room
	}
	return u.parts[i].words, u.parts[i].cells + c*uint64(u.f.width)
}

// cellValue returns cell c.
func (u *bucket) cellValue(c uint64) uint64 {
	words, at := u.cellAt(c)
	return bitvec.Field(words, at, u.f.width)
}

// setCell overwrites cell c.
func (u *bucket) setCell(c, v uint64) {
	words, at := u.cellAt(c)
	bitvec.SetField(words, at, u.f.width, v)
}

// insert inserts v as cell c, and a zero as its bit of the higher index; later cells and their bits move up. used is
// the number of cells in use afterwards, at most allCells().
func (u *bucket) insert(c, v, used uint64) {
	w := uint64(u.f.width)
	at := u.f.chains + c
	var bit uint64
	for i := range u.n {
		p := &u.parts[i]
		if at < p.bits {
			// The last bit of this level moves to the first place of the next one, as off and then bit.
			last := p.index + p.bits - 1
			off := bitvec.Bit(p.words, last) & 1
			bitvec.Insert(p.words, p.index+at, last+1, 1, bit)
			p.ones += bit - off
			at, bit = 0, off
		} else {
			at -= p.bits
		}
		if c < p.room {
			// The last cell moves on in the same way. In a level that is not full this is an unused cell, which is 0.
			end := p.cells + min(used, p.room)*w
			off := bitvec.Field(p.words, end-w, u.f.width)
			bitvec.Insert(p.words, p.cells+c*w, end, u.f.width, v)
			c, v = 0, off
		} else {
			c -= p.room
		}
		if used <= p.room {
			return
		}
		used -= p.room
	}
}

// remove removes cell c, and its bit of the higher index, which must be 0. Later cells and their bits move down. used
// is the number of cells in use before.
func (u *bucket) remove(c, used uint64) {
	w := uint64(u.f.width)
	at := u.f.chains + c
	for i := range u.n {
		p := &u.parts[i]
		more := i+1 < u.n
		if at < p.bits {
			bitvec.Delete(p.words, p.index+at, p.index+p.bits, 1)
			if more { // the first bit of the next level fills the place that is free at the end of this one
				next := &u.parts[i+1]
				bit := bitvec.Bit(next.words, next.index) & 1
				last := p.index + p.bits - 1
				p.words[last/64] |= bit << (last % 64)
				p.ones += bit
				next.ones -= bit
			}
			at = 0
		} else {
			at -= p.bits
		}
		if c < p.room {
			end := p.cells + min(used, p.room)*w
			bitvec.Delete(p.words, p.cells+c*w, end, u.f.width)
			if more {
				next := &u.parts[i+1]
				bitvec.SetField(p.words, end-w, u.f.width, bitvec.Field(next.words, next.cells, u.f.width))
			}
			c = 0
		} else {
			c -= p.room
		}
		if used <= p.room {
			return
		}
		used -= p.room
	}
}
