package kernel

import (
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// Chains follows the chains of a table of buckets, each an index of bits and cells behind it. What the layout is is said in
// family/rankindexed; hasGo and followGo are the specification. As with Blocks, a query is one call of a function in assembly
// that knows the whole table from one argument: Go asks before every count of bits whether the machine can count them.
type Chains struct {
	// The code in assembly knows the order of these fields.
	words   []uint64
	buckets uint64
	chains  uint64 // of a bucket
	stride  uint64 // bytes of a bucket
	fromHi  uint64 // 63 less the bits of the remainder that come from Hi
	low     uint64 // bits of the remainder that come from Lo
	fromLo  uint64 // 64 less those
	own     uint64 // cells of a bucket
	first   uint64 // its first bit of cells
	width   uint64 // bits of a cell
	payload uint64 // those below its remainder
	span    uint64 // bits of the index
	how     uint64 // which code answers
	line    uint64 // 1 if a bucket is eight words and there is code that shifts these at once

	index [8]uint64 // such a bucket: which bits are index
	cells [8]uint64 // and which are cells
}

// The values of Chains.how beside byGo: the index lies in four or in eight words.
const (
	byFour      = 4
	byEight     = 8
	byFourFirst = 9 // byEight, and all chains begin in the first four
)

// ChainLayout says where the parts of a bucket lie, in bits.
type ChainLayout struct {
	Buckets, Chains, Cells uint64
	Stride                 uint64 // words of a bucket
	First                  uint64 // the first bit of the cells; the index begins at bit 0 and has Chains+Cells bits
	Hi, Lo                 uint64 // bits of a remainder that come from Hi, 0 to 62, and from Lo, 1 to 63
	Payload                uint64 // bits of a cell below its remainder; a cell has at most 63 bits
}

// NewChains returns what follows the chains in words. It keeps the words.
func NewChains(words []uint64, l ChainLayout) Chains {
	c := Chains{
		words: words, buckets: l.Buckets, chains: l.Chains, stride: 8 * l.Stride, fromHi: 63 - l.Hi, low: l.Lo, fromLo: 64 - l.Lo,
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

// Locate returns the bucket, the chain and the remainder of a key.
func (c *Chains) Locate(hi, lo uint64) (bucket, chain, remainder uint64) {
	bucket, top := bits.Mul64(hi, c.buckets)
	chain, rest := bits.Mul64(lo, c.chains)
	return bucket, chain, top>>1>>(c.fromHi%64)<<(c.low%64) | rest>>(c.fromLo%64)
}

// What Has and Follow find at the end.
const (
	ChainEnd    = iota // the chain ended
	ChainCell          // a cell: Has, one with the key's remainder; Follow, the first with that or a larger one
	ChainBeyond        // the chain goes on beyond the bucket's own cells
)

// hasGo is what Has does.
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
			return ChainEnd
		}
		at = c.chains + n
	}
	return ChainEnd
}

// followGo is what Follow does.
func (c *Chains) followGo(hi, lo uint64) (base, remainder, at, n, cell, end uint64) {
	b, at, remainder := c.Locate(hi, lo)
	base = b * (c.stride / 8)
	for {
		n = c.Rank(base, at)
		if bitvec.Bit(c.words, 64*base+at)&1 == 0 {
			return base, remainder, at, n, 0, ChainEnd
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

// Rank returns the number of set bits before bit at, at most the whole index, of the bucket whose first word is base.
func (c *Chains) Rank(base, at uint64) uint64 {
	switch c.how {
	case byFour:
		return rank4(c.words, base, at)
	case byEight, byFourFirst:
		return rank8(c.words, base, at)
	}
	return bitvec.Ones(c.words, 64*base, at)
}

// usedGo is what Used does.
func (c *Chains) usedGo(base uint64) uint64 { return bitvec.Ones(c.words, 64*base, c.span) }

// Cell returns cell n of the bucket whose first word is base, one of its own.
func (c *Chains) Cell(base, n uint64) uint64 {
	return bitvec.Field(c.words, 64*base+c.first+n*c.width, uint(c.width))
}

// Open makes v, of no more bits than a cell has, cell n of the bucket whose first word is base, and sets bit at of the index,
// which comes before those of cells n and on and is not set. The cells from n on and their bits of the index move up; what
// was the last cell is lost. The new cell's bit is not set.
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

// Close is the opposite of Open: it takes out cell n, and its bit of the index, and clears bit at, which is set. Zeros take the
// last place.
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
