package kernel

import (
	"math/bits"
	"unsafe"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// Chains follows the chains of a table of buckets, each an index of bits followed by cells. Package rankindexed
// describes the layout; hasGo and followGo are the specification. In Go, every count of bits checks whether the machine
// has the instruction, and keeps registers free for the code without it; the assembly checks once.
type Chains struct {
	// The assembly depends on the order of these fields.
	words   []uint64
	buckets uint64
	chains  uint64 // chains per bucket
	stride  uint64 // bytes per bucket
	fromHi  uint64 // 63 minus the bits of the remainder that come from Hi
	low     uint64 // bits of the remainder that come from Lo
	fromLo  uint64 // 64 minus low
	own     uint64 // cells per bucket
	first   uint64 // bit of a bucket at which its cells start
	width   uint64 // bits per cell
	payload uint64 // bits of a cell below its remainder
	span    uint64 // bits of the index
	how     uint64 // the code that answers
	line    uint64 // 1 if a bucket has eight words and openLine and closeLine exist

	index [8]uint64 // if line is 1: a mask of the bits of the index
	cells [8]uint64 // if line is 1: a mask of the bits of the cells
}

// The values of Chains.how besides byGo: the index has less than 256 or less than 512 bits.
const (
	byFour      = 4
	byEight     = 8
	byFourFirst = 9 // byEight, and all chains begin in the first four
)

// ChainLayout is the layout of a bucket, in bits where not stated otherwise.
type ChainLayout struct {
	Buckets, Chains, Cells uint64
	Stride                 uint64 // words of a bucket
	First                  uint64 // the first bit of the cells; the index begins at bit 0 and has Chains+Cells bits
	Hi, Lo                 uint64 // bits of a remainder that come from Hi, 0 to 62, and from Lo, 1 to 63
	Payload                uint64 // bits of a cell below its remainder; a cell has at most 63 bits
}

// NewChains returns the kernel for the buckets in words, which must be Buckets·Stride words. It keeps words.
func NewChains(words []uint64, l ChainLayout) Chains {
	c := Chains{
		words: words, buckets: l.Buckets, chains: l.Chains, stride: 8 * l.Stride,
		fromHi: 63 - l.Hi, low: l.Lo, fromLo: 64 - l.Lo,
		own: l.Cells, first: l.First, width: l.Hi + l.Lo + l.Payload, payload: l.Payload, span: l.Chains + l.Cells,
	}

	switch {
	case !countsBits:
	case c.span < 256 && l.Stride >= 4:
		c.how = byFour
	case c.span < 512 && l.Stride >= 8:
		c.how = byEight
		if l.Chains <= 256 {
			c.how = byFourFirst
		}
	}

	if shiftsLines && l.Stride == 8 {
		c.line = 1
		for i := range uint64(512) {
			switch {
			case i < c.span:
				c.index[i/64] |= 1 << (i % 64)
			case i >= c.first && i < c.first+c.own*c.width:
				c.cells[i/64] |= 1 << (i % 64)
			}
		}
	}
	return c
}

// Locate returns the number of the bucket of a key, its chain in the bucket, and its remainder.
func (c *Chains) Locate(hi, lo uint64) (bucket, chain, remainder uint64) {
	bucket, top := bits.Mul64(hi, c.buckets)
	chain, rest := bits.Mul64(lo, c.chains)
	return bucket, chain, top>>1>>(c.fromHi%64)<<(c.low%64) | rest>>(c.fromLo%64)
}

// Results of Has and Follow: the reason that they stopped.
const (
	chainEnd    = iota // the chain ended
	ChainCell          // at a cell: Has, with the key's remainder; Follow, the first one whose remainder is not smaller
	ChainBeyond        // the chain continues beyond the bucket's own cells
)

// Tears reports whether Has may run while another goroutine changes the bucket. Its answer is then undefined, but it
// ends and reads nothing beyond the bucket. The code in Go may not run, because that would be a data race.
func (c *Chains) Tears() bool { return c.how != byGo }

// hasGo is the specification of Has. The index position of a valid chain always increases; if it does not, hasGo treats
// the chain as one that continues beyond the bucket.
func (c *Chains) hasGo(hi, lo uint64) uint64 {
	b, at, remainder := c.Locate(hi, lo)
	base := b * (c.stride / 8)
	for bitvec.Bit(c.words, 64*base+at)&1 != 0 {
		n := c.Rank(base, at)
		if n >= c.own {
			return ChainBeyond
		}
		if r := c.Cell(base, n) >> (c.payload % 64); r >= remainder {
			if r == remainder {
				return ChainCell
			}
			return chainEnd
		}
		if c.chains+n <= at { // only in a torn or damaged bucket: the loop must end
			return ChainBeyond
		}
		at = c.chains + n
	}
	return chainEnd
}

// followGo is the specification of Follow.
func (c *Chains) followGo(hi, lo uint64) (base, remainder, at, n, cell, end uint64) {
	b, at, remainder := c.Locate(hi, lo)
	base = b * (c.stride / 8)
	for {
		n = c.Rank(base, at)
		if bitvec.Bit(c.words, 64*base+at)&1 == 0 {
			return base, remainder, at, n, 0, chainEnd
		}
		if n >= c.own {
			return base, remainder, at, n, 0, ChainBeyond
		}
		if cell = c.Cell(base, n); cell>>(c.payload%64) >= remainder {
			return base, remainder, at, n, cell, ChainCell
		}
		at = c.chains + n
	}
}

// Rank returns the number of set bits of the index before bit at, in the bucket whose first word is base. at is at most
// Chains+Cells.
func (c *Chains) Rank(base, at uint64) uint64 {
	switch c.how {
	case byFour:
		return rank4(c.words, base, at)
	case byEight, byFourFirst:
		return rank8(c.words, base, at)
	}
	return bitvec.OnesBelow(c.words[base:], at)
}

// usedGo is the specification of Used.
func (c *Chains) usedGo(base uint64) uint64 { return bitvec.OnesBelow(c.words[base:], c.span) }

// Cell returns cell n, below Cells, of the bucket whose first word is base.
func (c *Chains) Cell(base, n uint64) uint64 {
	return bitvec.Field(c.words, 64*base+c.first+n*c.width, uint(c.width))
}

// Open inserts v, below 2^width of a cell, as cell n of the bucket whose first word is base. Cells from n on and
// their bits of the index move up by one; the last cell is lost. The bit of the new cell is clear. Open also sets bit
// at of the index, which must be clear and before the bit of cell n.
func (c *Chains) Open(base, at, n, v uint64) {
	bit, cell := c.chains+n, c.first+n*c.width
	if c.line != 0 {
		c.openLine(base, bit, cell, at, v)
		return
	}
	c.words[base+at/64] |= 1 << (at % 64)
	bitvec.Insert(c.words, 64*base+bit, 64*base+c.span, 1, 0)
	bitvec.Insert(c.words, 64*base+cell, 64*base+c.first+c.own*c.width, uint(c.width), v)
}

// Close is the inverse of Open: it removes cell n and its bit of the index and clears bit at, which must be set. The
// last cell becomes 0.
func (c *Chains) Close(base, at, n uint64) {
	bit, cell := c.chains+n, c.first+n*c.width
	if c.line != 0 {
		c.closeLine(base, bit, cell, at)
		return
	}
	c.words[base+at/64] &^= 1 << (at % 64)
	bitvec.Delete(c.words, 64*base+bit, 64*base+c.span, 1)
	bitvec.Delete(c.words, 64*base+cell, 64*base+c.first+c.own*c.width, uint(c.width))
}

// windows is eight words of ones followed by eight words of zeros: the eight words from index 8-k on are a mask of the
// first k of eight words.
var windows = [16]uint64{
	^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0),
}

// rank4 returns the number of set bits among the first at bits, at < 256, of words i to i+3, without a bounds check:
// i+4 is at most len(words). It always counts all four words: the end of a shorter loop would be mispredicted, which
// costs more.
func rank4(words []uint64, i, at uint64) uint64 {
	k := at / 64 % 4
	w := (*[4]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*8))
	m := (*[4]uint64)(unsafe.Add(unsafe.Pointer(&windows), (8-k)*8))
	return uint64(bits.OnesCount64(w[0]&m[0]) + bits.OnesCount64(w[1]&m[1]) + bits.OnesCount64(w[2]&m[2]) +
		bits.OnesCount64(w[k]&(1<<(at%64)-1)))
}

// rank8 is rank4 for eight words and at < 512.
func rank8(words []uint64, i, at uint64) uint64 {
	k := at / 64 % 8
	w := (*[8]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*8))
	m := (*[8]uint64)(unsafe.Add(unsafe.Pointer(&windows), (8-k)*8))
	return uint64(bits.OnesCount64(w[0]&m[0]) + bits.OnesCount64(w[1]&m[1]) + bits.OnesCount64(w[2]&m[2]) +
		bits.OnesCount64(w[3]&m[3]) + bits.OnesCount64(w[4]&m[4]) + bits.OnesCount64(w[5]&m[5]) +
		bits.OnesCount64(w[6]&m[6]) + bits.OnesCount64(w[k]&(1<<(at%64)-1)))
}
