package delta

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// Cells have 1, 2, 4 or 8 bits; the logarithm of that takes cellBits bits.
const (
	cellBits  = 2
	cellSizes = 1 << cellBits
)

// The lists of mode cells, in this order: cells that fall by one, of those that are not 0; cells that rise by one, of
// those that do not have the largest value; other changes, of all cells.
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

// top returns the largest value of a cell.
func (g grid) top() uint64 { return 1<<(1<<g.log) - 1 }

func (g grid) at(i uint64) uint64 {
	bit := i << g.log
	return uint64(g.b[bit/8]>>(bit%8)) & g.top()
}

func (g grid) set(i, v uint64) {
	bit := i << g.log
	g.b[bit/8] = g.b[bit/8]&^byte(g.top()<<(bit%8)) | byte(v<<(bit%8))
}

// of returns the word with number i as a set bit for each cell that counts in a list: its lowest one.
func (g grid) of(kind int, i uint64) uint64 {
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
	return w & (^uint64(0) / g.top())
}

// count returns the number of cells that count in a list.
func (g grid) count(kind int) (n uint64) {
	for i := range uint64(len(g.b) / 8) {
		n += uint64(bits.OnesCount64(g.of(kind, i)))
	}
	return n
}

// kind returns the list of a change.
func kind(old, new uint64) int {
	switch new {
	case old - 1:
		return falls
	case old + 1:
		return rises
	}
	return others
}

// putCells appends mode cells, unless it is not likely to be the smallest.
func (p *pair) putCells(log uint, w *bitWriter, most uint64) bool {
	old, new := grid{p.old, log}, grid{p.new, log}
	var changed [kinds]uint64
	for i := range p.cells(log) {
		changed[kind(old.at(i), new.at(i))]++
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
		l := newList(old.count(k), changed[k])
		word, rank := uint64(0), uint64(0) // cells that count before the word
		for i := range p.cells(log) {
			v, u := old.at(i), new.at(i)
			if kind(v, u) != k || w.bits() >= most {
				continue
			}
			for ; word < i<<log/64; word++ {
				rank += uint64(bits.OnesCount64(old.of(k, word)))
			}
			below := uint64(1)<<(i<<log%64) - 1
			l.put(w, rank+uint64(bits.OnesCount64(old.of(k, word)&below)))
			if k == others {
				w.field(u, 1<<log)
			}
		}
	}
	return w.bits() < most
}

// cells returns the cells that differ, in order.
func (p *pair) cells(log uint) iter.Seq[uint64] {
	return func(yield func(i uint64) bool) {
		last := ^uint64(0)
		for bit := range p.all() {
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
		word, rank, mask := uint64(0), uint64(0), uint64(0)
		if len(old) > 0 {
			mask = was.of(k, 0)
		}
		for to := range begin(r, was.count(k)).all(r) {
			for n := uint64(bits.OnesCount64(mask)); rank+n <= to; n = uint64(bits.OnesCount64(mask)) {
				rank += n
				word++
				mask = was.of(k, word)
			}
			for ; rank < to; rank++ {
				mask &= mask - 1
			}
			i := (64*word + uint64(bits.TrailingZeros64(mask))) >> log
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
