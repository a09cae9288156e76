package rankindexed

import (
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// Limits of the buckets that Sweep supports, with their extensions: words of the index, of the cells, and of one bit
// per cell.
const (
	sweepIndex = 16
	sweepWords = 192
	sweepCells = 8
)

// sweeper is a bucket that is being swept: index and cells side by side, in place or as a copy.
type sweeper struct {
	s      *sizes
	index  []uint64 // chains+room bits, and others behind them in the last word
	cells  []uint64
	first  uint64 // bit of cells at which the first cell begins
	used   uint64
	room   uint64                 // cells
	before [sweepIndex + 1]uint32 // number of set bits of the index before each word
	gone   [sweepCells + 2]uint64 // by cell, 1 if it is removed; the last words are 0
}

// Sweep removes the cells of bucket b whose value v has bit v of dead set, and returns their number. The order of the
// other cells of each chain stays. It does not allocate.
//
// Removing cell by cell would shift all later bits each time. Instead, Sweep swaps each dead cell with the next live
// one of its chain, so that the dead cells end the chains; clears the bits of the index that stand for them; and closes
// all gaps in one pass.
func (f *Cells) Sweep(b, dead uint64) (gone uint64) {
	base := b * f.words
	if !f.hasNoExtension(base) {
		return f.sweepFar(b, dead)
	}
	own := f.table[base:][:f.words]
	w := sweeper{s: &f.sizes, index: own, cells: own, first: f.cells, room: f.own}
	return w.removeDead(dead)
}

// sweepFar is Sweep for a bucket with extensions.
func (f *Cells) sweepFar(b, dead uint64) (gone uint64) {
	u := f.bucket(b)
	var index [sweepIndex + 1]uint64
	var cells [sweepWords]uint64
	w := sweeper{s: &f.sizes, index: index[:], cells: cells[:], first: f.cells % 64, room: u.allCells()}
	w.loadBucket(&u)
	if gone = w.removeDead(dead); gone > 0 {
		w.storeBucket(&u)
	}
	return gone
}

// removeDead removes the cells whose value is in dead, and returns their number.
func (w *sweeper) removeDead(dead uint64) (gone uint64) {
	w.countBits()
	if gone = w.markDead(dead); gone > 0 {
		w.sinkMarked()
		w.unlinkMarked()
		w.closeGaps()
	}
	return gone
}

// loadBucket copies a bucket with extensions.
func (w *sweeper) loadBucket(u *bucket) {
	f := u.f
	own := f.table[u.number()*f.words:][:f.words]
	last := copy(w.index, own[:(f.span+63)/64]) - 1
	w.index[last] &= ^uint64(0) >> (-f.span % 64)
	copy(w.cells, own[f.cells/64:])
	bit, cell := f.span, w.first+f.own*uint64(f.width)
	for i := 1; i < u.n; i++ {
		p := &u.parts[i]
		bitvec.Copy(w.index, bit, p.words, p.index, p.bits)
		bitvec.Copy(w.cells, cell, p.words, p.cells, p.room*uint64(f.width))
		bit, cell = bit+p.bits, cell+p.room*uint64(f.width)
	}
}

// storeBucket writes a bucket back and frees the extensions that it no longer needs.
func (w *sweeper) storeBucket(u *bucket) {
	f := u.f
	own := f.table[u.number()*f.words:][:f.words]
	// Write the cells first: their first word also has old bits of the index, which the index then overwrites.
	end := f.cells + f.own*uint64(f.width)
	whole := copy(own[f.cells/64:end/64], w.cells)
	if end%64 != 0 {
		bitvec.SetField(own, end/64*64, uint(end%64), w.cells[whole])
	}

	copy(own[:f.span/64], w.index)
	if f.span%64 != 0 {
		bitvec.SetField(own, f.span/64*64, uint(f.span%64), w.index[f.span/64])
	}

	bit, cell := f.span, w.first+f.own*uint64(f.width)
	for i := 1; i < u.n; i++ {
		p := &u.parts[i]
		bitvec.Copy(p.words, p.index, w.index, bit, p.bits)
		bitvec.Copy(p.words, p.cells, w.cells, cell, p.room*uint64(f.width))
		bit, cell = bit+p.bits, cell+p.room*uint64(f.width)
	}

	for room := u.allCells(); u.n > 1 && w.used <= room-u.parts[u.n-1].room; {
		room -= u.parts[u.n-1].room
		u.shorten()
	}
}

// countBits sets before, the counts of set bits up to each word, and used, their total.
func (w *sweeper) countBits() {
	end := w.s.chains + w.room
	n := uint32(0)
	for i := range (end + 63) / 64 {
		w.before[i] = n
		n += uint32(bits.OnesCount64(w.indexWord(i, end)))
	}
	w.before[(end+63)/64] = n
	w.used = uint64(n)
}

// indexWord returns word i of the index, without the bits from end on.
func (w *sweeper) indexWord(i, end uint64) uint64 {
	x := w.index[i]
	if end < 64*i+64 {
		x &= ^uint64(0) >> (-end % 64)
	}
	return x
}

// markDead sets gone for the cells whose value is in dead, and returns their number.
//
// It compares k cells at a time, as many as lie in 63 bits. Where the value of a cell differs from the pattern, the
// difference plus 2^payload-1 carries into bit payload of the cell. A multiplication gathers the k bits, width apart,
// in adjacent ones: bit i·width moves up by (width-1)·(k-1-i), and the other products fall outside of the window,
// since k <= width.
func (w *sweeper) markDead(dead uint64) (n uint64) {
	width, payload := uint64(w.s.width), uint64(w.s.payload)
	k := min(63/width, width)
	var low, gather uint64
	for i := range k {
		low |= 1 << (i * width)
		gather |= 1 << ((width - 1) * i)
	}

	values := low * (1<<payload - 1)
	up := (width - 1) * (k - 1)
	mask := uint64(1)<<k - 1
	for c := uint64(0); c < w.used; c += k {
		x := bitvec.Field(w.cells, w.first+c*width, uint(min(k*width, 64*uint64(len(w.cells))-w.first-c*width)))
		found := uint64(0)
		for d := dead; d != 0; d &= d - 1 {
			differ := (x^low*uint64(bits.TrailingZeros64(d)))&values + values
			found |= ^(differ >> payload) & low
		}
		found = found * gather >> up & mask
		w.gone[c/64] |= found << (c % 64)
		w.gone[c/64+1] |= found >> 1 >> (63 - c%64) // in two steps, because a shift by 64-c%64 may be by 64
	}

	// The last step may have compared bits behind the cells in use.
	clear(w.gone[w.used/64+1:])
	w.gone[w.used/64] &= 1<<(w.used%64) - 1
	for _, g := range w.gone {
		n += uint64(bits.OnesCount64(g))
	}
	return n
}

// isGone reports whether cell c is marked.
func (w *sweeper) isGone(c uint64) bool { return w.gone[c/64]>>(c%64)&1 != 0 }

// hasBit reports whether bit at of the index is set.
func (w *sweeper) hasBit(at uint64) bool { return w.index[at/64]>>(at%64)&1 != 0 }

// rankOf returns the number of bits of the index before bit at that were set when countBits was called.
func (w *sweeper) rankOf(at uint64) uint64 {
	return uint64(w.before[at/64]) + uint64(bits.OnesCount64(w.index[at/64]&(1<<(at%64)-1)))
}

// sinkMarked moves the live cells of each chain up, in their order, so that the marked cells are the last of the chain.
func (w *sweeper) sinkMarked() {
	width := uint64(w.s.width)
	for i := range (w.used + 63) / 64 {
		more := w.nextCellMask(i)
		for m := w.gone[i] & more; m != 0; {
			bit := uint64(bits.TrailingZeros64(m))
			c := 64*i + bit
			for at := w.s.chains + c; w.hasBit(at); {
				next := w.rankOf(at)
				if !w.isGone(next) {
					v := bitvec.Field(w.cells, w.first+next*width, w.s.width)
					bitvec.SetField(w.cells, w.first+c*width, w.s.width, v)
					w.gone[c/64] &^= 1 << (c % 64)
					w.gone[next/64] |= 1 << (next % 64) // next is after c, so this loop reaches it
					break
				}
				at = w.s.chains + next
			}
			m = w.gone[i] & more &^ (1<<bit<<1 - 1) // read again: the loop may have marked later cells of this word
		}
	}
}

// nextCellMask returns a mask of the 64 cells from 64·i on that are followed by another cell of their chain. Bits after
// the last cell may be set.
func (w *sweeper) nextCellMask(i uint64) uint64 {
	at := w.s.chains + 64*i
	x := w.index[at/64] >> (at % 64)
	if next := at/64 + 1; next < uint64(len(w.index)) {
		x |= w.index[next] << 1 << (63 - at%64)
	}
	return x
}

// unlinkMarked clears the index bits of all marked cells. The index bit of cell c is the set bit number c of the index.
func (w *sweeper) unlinkMarked() {
	for i := range (w.s.chains + w.room + 63) / 64 {
		c := uint64(w.before[i])
		m := w.gone[c/64]>>(c%64) | w.gone[c/64+1]<<1<<(63-c%64)
		m &= 1<<(uint64(w.before[i+1])-c) - 1
		if m == 0 {
			continue
		}
		x := w.index[i]
		sums, off := byteSums(x), uint64(0)
		for ; m != 0; m &= m - 1 {
			off |= 1 << selectBit(x, sums, uint64(bits.TrailingZeros64(m)))
		}
		w.index[i] = x &^ off
	}
}

const (
	eachByte = 0x0101010101010101 // a factor that copies a byte into each byte
	eachTop  = 0x8080808080808080 // the top bit of each byte
)

// byteSums returns in byte i the number of set bits of bytes 0 to i of x.
func byteSums(x uint64) uint64 {
	s := x - x>>1&0x5555555555555555
	s = s&0x3333333333333333 + s>>2&0x3333333333333333
	return (s + s>>4) & 0x0f0f0f0f0f0f0f0f * eachByte
}

// selectBit returns the position of set bit number k of x, counted from 0. x has more than k set bits, and sums is
// byteSums(x).
func selectBit(x, sums, k uint64) uint64 {
	// The bytes before the byte of the bit have a sum of at most k. Sums are at most 64, so no borrow crosses bytes.
	at := uint64(bits.OnesCount64(((k*eachByte|eachTop)-sums)&eachTop)) * 8
	k -= sums << 8 >> at & 0xff
	return at + uint64(inByte[k%8][x>>at&0xff])
}

// inByte[k][b] is the position of set bit number k of byte b.
var inByte = func() (table [8][256]uint8) {
	for b := range 256 {
		k := 0
		for at := range uint8(8) {
			if b>>at&1 != 0 {
				table[k][b] = at
				k++
			}
		}
	}
	return table
}()

// closeGaps closes the gaps of the marked cells, in the cells and in the index behind the chains.
func (w *sweeper) closeGaps() {
	w.packBits(w.index, w.s.chains, 1)
	w.used = w.packBits(w.cells, w.first, uint64(w.s.width))
}

// packBits closes the gaps of the marked cells in an array with width bits for each cell, which begins at bit first,
// and clears the bits that become free at the end. It returns the number of remaining cells.
//
// It collects the next word in a register and writes it when it is full. So a bit is not overwritten before it is read,
// and no read waits for a write.
func (w *sweeper) packBits(words []uint64, first, width uint64) (kept uint64) {
	from, to, word := uint64(0), first, uint64(0) // cell; bit, and those before it in its word
	for i, m := range w.gone {
		for ; m != 0 || i == len(w.gone)-1; m &= m - 1 {
			c := w.used
			if m != 0 {
				c = 64*uint64(i) + uint64(bits.TrailingZeros64(m))
			}
			if kept == 0 && from == 0 { // nothing moves up to the first gap
				kept, to = c, first+c*width
				word = words[to/64] & (1<<(to%64) - 1)
			} else {
				kept += c - from
				at := first + from*width
				for n := (c - from) * width; n > 0; {
					m := min(n, 63)
					v := bitvec.Field(words, at, uint(m))
					s := to % 64
					word |= v << s
					if s+m >= 64 {
						words[to/64] = word
						word = v >> 1 >> (63 - s)
					}
					at, to, n = at+m, to+m, n-m
				}
			}
			if from = c + 1; m == 0 {
				break
			}
		}
	}

	if to%64 != 0 {
		bitvec.SetField(words, to/64*64, uint(to%64), word)
	}

	for n := first + w.used*width - to; n > 0; n -= min(n, 63) {
		bitvec.SetField(words, to, uint(min(n, 63)), 0)
		to += min(n, 63)
	}
	return kept
}
