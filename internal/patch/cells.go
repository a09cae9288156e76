package patch

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// Cells have 1, 2, 4 or 8 bits. The binary logarithm of their size is stored in cellBits bits.
const (
	cellBits  = 2
	cellSizes = 1 << cellBits
)

// The lists of mode cells, and of a block of mode blocks, whose cells are bits, in this order: cells that fall by one,
// among the cells that are not 0; cells that rise by one, among the cells below the largest value; other changes, among
// all cells.
const (
	falls = iota
	rises
	others
	kinds
)

// grid is a section as cells of 2^log bits.
type grid struct {
	b   []byte
	log uint
}

// maxCell returns the largest value of a cell.
func (g grid) maxCell() uint64 { return 1<<(1<<g.log) - 1 }

func (g grid) at(i uint64) uint64 {
	bit := i << g.log
	return uint64(g.b[bit/8]>>(bit%8)) & g.maxCell()
}

func (g grid) set(i, v uint64) {
	bit := i << g.log
	g.b[bit/8] = g.b[bit/8]&^byte(g.maxCell()<<(bit%8)) | byte(v<<(bit%8))
}

// countMask returns word number i as a mask: the lowest bit of each cell that counts in a list is set.
func (g grid) countMask(kind int, i uint64) uint64 {
	w := binary.LittleEndian.Uint64(g.b[8*i:])
	switch kind {
	case rises:
		w = ^w
	case others:
		w = ^uint64(0)
	}
	for n := uint(1); n < 1<<g.log; n *= 2 {
		w |= w >> n
	}
	return w & (^uint64(0) / g.maxCell())
}

// countCells returns the number of cells that count in a list.
func (g grid) countCells(kind int) (n uint64) {
	for i := range uint64(len(g.b) / 8) {
		n += uint64(bits.OnesCount64(g.countMask(kind, i)))
	}
	return n
}

// ranks converts between the cells that count in a list and their ranks among these cells, in ascending order.
type ranks struct {
	grid
	kind int
	word uint64
	rank uint64 // cells that count before the word
}

// rankOf returns the rank of cell i, and whether it counts.
func (s *ranks) rankOf(i uint64) (rank uint64, ok bool) {
	for ; s.word < i<<s.log/64; s.word++ {
		s.rank += uint64(bits.OnesCount64(s.countMask(s.kind, s.word)))
	}
	mask, bit := s.countMask(s.kind, s.word), i<<s.log%64
	return s.rank + uint64(bits.OnesCount64(mask&(1<<bit-1))), mask>>bit&1 == 1
}

// cellAt returns the cell of a rank, which must be below the number of cells that count.
func (s *ranks) cellAt(rank uint64) uint64 {
	mask := s.countMask(s.kind, s.word)
	for n := uint64(bits.OnesCount64(mask)); s.rank+n <= rank; n = uint64(bits.OnesCount64(mask)) {
		s.rank += n
		s.word++
		mask = s.countMask(s.kind, s.word)
	}
	for range rank - s.rank {
		mask &= mask - 1
	}
	return (64*s.word + uint64(bits.TrailingZeros64(mask))) >> s.log
}

// kindOf returns the list of a change.
func kindOf(old, new uint64) int {
	switch new {
	case old - 1:
		return falls
	case old + 1:
		return rises
	}
	return others
}

// putCells appends mode cells, unless another mode is likely to be smaller.
func (p *pair) putCells(log uint, w *bitWriter, most uint64) bool {
	old, new := grid{p.old, log}, grid{p.new, log}
	var changed [kinds]uint64
	for i := range p.changedCells(log) {
		changed[kindOf(old.at(i), new.at(i))]++
	}
	if changed[others]*4 > changed[falls]+changed[rises] {
		return false
	}

	w.field(uint64(log), cellBits)
	for k := range kinds {
		w.number(changed[k])
		if changed[k] == 0 {
			continue
		}
		l := newList(old.countCells(k), changed[k])
		ranks := ranks{grid: old, kind: k}
		for i := range p.changedCells(log) {
			u := new.at(i)
			if kindOf(old.at(i), u) != k || w.bitLen() >= most {
				continue
			}
			rank, _ := ranks.rankOf(i)
			if l.putNumber(w, rank); k == others {
				w.field(u, 1<<log)
			}
		}
	}
	return w.bitLen() < most
}

// changedCells returns the cells that differ, in order.
func (p *pair) changedCells(log uint) iter.Seq[uint64] {
	return func(yield func(i uint64) bool) {
		last := ^uint64(0)
		for bit := range p.flipPositions() {
			if i := bit >> log; i != last && !yield(i) {
				return
			}
			last = bit >> log
		}
	}
}

// getCells changes cells of b, which is a copy of old.
func getCells(r *bitReader, b, old []byte) {
	log := uint(r.field(cellBits))
	was, now := grid{old, log}, grid{b, log}
	for k := range kinds {
		ranks := ranks{grid: was, kind: k}
		for rank := range readList(r, was.countCells(k)).allNumbers(r) {
			i := ranks.cellAt(rank)
			switch v := was.at(i); k {
			case falls:
				now.set(i, v-1)
			case rises:
				now.set(i, v+1)
			default:
				now.set(i, r.field(1<<log))
			}
		}
	}
}
