package patch

import (
	"iter"
	"math/bits"
	"slices"
)

// scanFlips finds the positions of the bits that differ, in ascending order.
func (p *pair) scanFlips(yield func(bit uint64) bool) {
	for at := 0; at < len(p.old); at += 8 {
		for w := p.differ(at); w != 0; w &= w - 1 {
			if !yield(8*uint64(at) + uint64(bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// flipPositions returns the positions of scan, from the list if there is one.
func (p *pair) flipPositions() iter.Seq[uint64] {
	if len(p.at) == 0 {
		return p.scanFlips
	}
	return slices.Values(p.at)
}

// putGaps appends mode gaps: the list of the bits that differ.
func (p *pair) putGaps(w *bitWriter, most uint64) bool {
	w.number(p.flips)
	l := newList(8*uint64(len(p.new)), p.flips)
	for bit := range p.flipPositions() {
		if l.putNumber(w, bit); w.bitLen() >= most {
			break
		}
	}
	return l.left == 0
}

// getGaps inverts the bits of a list.
func getGaps(r *bitReader, b []byte) {
	for bit := range readList(r, 8*uint64(len(b))).allNumbers(r) {
		invert(b, bit)
	}
}

func invert(b []byte, bit uint64) { b[bit/8] ^= 1 << (bit % 8) }

// Blocks have 2^leastBlock to 2^mostBlock bits. The exponent minus leastBlock is stored in blockBits bits.
const (
	leastBlock = 6
	mostBlock  = 12
	blockBits  = 3
)

// putBlocks appends mode blocks with blocks of 2^log bits, for a pair with a list: log - leastBlock, whether bits that
// are set are listed apart, the center of the numbers of bits in 6 bits and their Rice parameter in 3, and the list of
// the blocks that differ. Each of these blocks is followed by the number of its bits that differ and the list of these
// bits. If set bits are listed apart, it is the number of differing bits that are set in the base, the list of their
// ranks among the set bits of the block, and the list of the ranks of the others among the clear bits.
func (p *pair) putBlocks(log uint, apart bool, w *bitWriter, most uint64) bool {
	c := p.counts(log)
	w.field(uint64(log-leastBlock), blockBits)
	w.flag(apart)
	w.field(c.center, 6)
	w.field(uint64(c.rice), 3)
	w.number(c.blocks)
	l := newList(blocksOf(p.old, log), c.blocks)
	for rest := p.at; len(rest) > 0 && w.bitLen() < most; {
		block, n := rest[0]>>log, 1
		for n < len(rest) && rest[n]>>log == block {
			n++
		}
		l.putNumber(w, block)
		putRice(w, foldCount(uint64(n), c.center), c.rice)
		putBlock(w, grid{b: blockAt(p.old, block, log)}, rest[:n], block<<log, apart)
		rest = rest[n:]
	}
	return w.bitLen() < most
}

// putBlock appends the differing bits of the block that begins at bit first.
func putBlock(w *bitWriter, old grid, bits []uint64, first uint64, apart bool) {
	n, fallen := uint64(len(bits)), uint64(0)
	ones := old.countCells(falls)
	if apart {
		for _, bit := range bits {
			fallen += old.at(bit - first)
		}
		w.unary(fallen, min(n, ones))
	}

	for kind, l := range listsOf(old, n, ones, fallen, apart) {
		ranks := ranks{grid: old, kind: kind}
		for _, bit := range bits {
			if l.left == 0 {
				break
			}
			if rank, ok := ranks.rankOf(bit - first); ok {
				l.putNumber(w, rank)
			}
		}
	}
}

// listsOf returns the lists of the n differing bits of a block, of which fallen fall, if ones of its bits are set.
func listsOf(old grid, n, ones, fallen uint64, apart bool) (l [kinds]list) {
	room := 8 * uint64(len(old.b))
	if apart {
		l[falls], l[rises] = newList(ones, fallen), newList(room-ones, n-fallen)
	} else {
		l[others] = newList(room, n)
	}
	return l
}

// getBlocks inverts bits of b, which is a copy of old, in blocks.
func getBlocks(r *bitReader, b, old []byte) {
	log := leastBlock + uint(r.field(blockBits))
	apart := r.flag()
	center, k := r.field(6), uint(r.field(3))
	for block := range readList(r, blocksOf(b, log)).allNumbers(r) {
		was, now := grid{b: blockAt(old, block, log)}, blockAt(b, block, log)
		room, ones, fallen := 8*uint64(len(now)), was.countCells(falls), uint64(0)
		n := unfold(unrice(r, k), center)
		if apart && n <= room {
			fallen = r.unary(min(n, ones))
		}
		// Checked before the lists are made: a list of more numbers than its bound would underflow.
		if n > room || apart && n-fallen > room-ones || r.err != nil {
			r.fail(errNumber)
			return
		}
		for kind, l := range listsOf(was, n, ones, fallen, apart) {
			ranks := ranks{grid: was, kind: kind}
			for rank := range l.allNumbers(r) {
				invert(now, ranks.cellAt(rank))
			}
		}
	}
}

// blocksOf returns the number of blocks of 2^log bits of a section; the last one can be shorter.
func blocksOf(b []byte, log uint) uint64 { return (8*uint64(len(b)) + 1<<log - 1) >> log }

func blockAt(b []byte, block uint64, log uint) []byte {
	first := block << log / 8
	return b[first:min(first+1<<log/8, uint64(len(b)))]
}

// foldCount maps the numbers from 1 on to numbers from 0 on in the order center, center-1, center+1, center-2, ...,
// without the values below 1.
func foldCount(n, center uint64) uint64 {
	switch {
	case n >= 2*center:
		return n - 1
	case n > center:
		return 2 * (n - center)
	}
	return 2*(center-n) - min(1, center-n)
}

// unfold is the inverse of fold.
func unfold(z, center uint64) uint64 {
	switch {
	case z >= 2*center-min(1, center):
		return z + 1
	case z%2 == 0:
		return center + z/2
	}
	return center - (z+1)/2
}

// numbers describes the numbers of differing bits per block.
type numbers struct {
	blocks uint64 // the number of blocks with a differing bit
	center uint64 // the center of fold
	rice   uint   // the parameter of the Rice code
}

// counts returns the number of blocks that differ, and the best code of the numbers of bits.
func (p *pair) counts(log uint) (c numbers) {
	seen := make([]uint64, 1<<log+1)
	for i := 0; i < len(p.at); {
		n := 1
		for i+n < len(p.at) && p.at[i+n]>>log == p.at[i]>>log {
			n++
		}
		seen[n]++
		i += n
	}

	for _, s := range seen {
		c.blocks += s
	}

	for len(seen) > 1 && seen[len(seen)-1] == 0 {
		seen = seen[:len(seen)-1]
	}

	least := ^uint64(0)
	for center := range uint64(1 << 6) {
		for k := range uint(1 << 3) {
			cost := uint64(0)
			for n, s := range seen[1:] {
				if s == 0 {
					continue
				}
				cost += s * (foldCount(uint64(n)+1, center)>>k + 1 + uint64(k))
			}
			if cost < least {
				least, c.center, c.rice = cost, center, k
			}
		}
	}
	return c
}
