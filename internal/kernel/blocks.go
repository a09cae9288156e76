package kernel

import (
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// LineProbes is the number of probes of nine bits each that 64 bits of a hash give.
const LineProbes = 7

// The odd multipliers of the Parquet format, one for each word of a split block: constants, for the sake of hasGo.
const (
	salt0 = 0x47b6137b
	salt1 = 0x44974d91
	salt2 = 0x8824ad5b
	salt3 = 0xa2b7289d
	salt4 = 0x705495c7
	salt5 = 0x2df1424b
	salt6 = 0x9efc4947
	salt7 = 0x5c6bfb31
)

// SplitSalts are these multipliers.
var SplitSalts = [8]uint32{salt0, salt1, salt2, salt3, salt4, salt5, salt6, salt7}

// Blocks answers for an array of blocks of a blocked Bloom filter whether all bits of a key are set. What the layouts are
// is said in family/blocked; hasGo is the specification.
//
// A query is one call of a function in assembly that knows the whole filter from one argument, and Has is small enough to
// be inlined. In a filter larger than the caches the number of instructions of a query decides how many keys a core works
// on at once, above all of those that write general registers. With 20 million keys at 10 bits a key on Zen 5 a line took
// 58 ns in Go, 47 if Go passes the address of the block and a row of a table for k, 46 if the assembly looks these up, 39
// as it is; 512-bit registers, which spare eight instructions, made it no faster.
type Blocks struct {
	// The code in assembly knows the order of these fields.
	words  []uint64
	blocks uint64
	how    uint64 // which code answers
	k      uint64 // probes a key in the line layout, 0 in the split one

	// last and full find the last probes of the line layout, at most seven, and seven further ones: bytes of the hash for
	// every lane, then their shifts. In the split layout last holds the multipliers, then ones.
	last [2][8]uint32
	ones [8]uint32
	full [2][8]uint32
}

// The values of how.
const (
	byGo    = iota // no vector code here
	byLong         // line layout, more than seven probes
	byLine         // line layout
	bySplit        // split layout
)

// NewLine returns what answers for the blocks of 512 bits in words, with k probes a key. It keeps the words.
func NewLine(words []uint64, k int) Blocks {
	b := Blocks{words: words, blocks: uint64(len(words) / 8), k: uint64(k)}
	b.last, b.full = lineLanes((k-1)%LineProbes+1), lineLanes(LineProbes)
	switch {
	case !Vector:
	case k <= LineProbes:
		b.how = byLine
	default:
		b.how = byLong
	}
	b.setOnes()
	return b
}

// NewSplit returns what answers for the blocks of 256 bits in words. It keeps the words.
func NewSplit(words []uint64) Blocks {
	b := Blocks{words: words, blocks: uint64(len(words) / 4)}
	b.setOnes()
	b.last = [2][8]uint32{SplitSalts, b.ones}
	if Vector {
		b.how = bySplit
	}
	return b
}

func (b *Blocks) setOnes() {
	for l := range b.ones {
		b.ones[l] = 1
	}
}

// lineLanes says for eight lanes which two bytes of a hash hold the nine bits of a probe, lowest byte first, and where in
// them these begin: probe i has those from bit 61-9·i on, cyclically. Lanes beyond k probes repeat the first. 0x80 makes a
// byte 0.
func lineLanes(k int) (v [2][8]uint32) {
	for l := range 8 {
		i := 0
		if l < k {
			i = l
		}
		at := uint32(61 - 9*i)
		v[0][l] = at/8 | (at/8+1)%8<<8 | 0x8080_0000
		v[1][l] = at % 8
	}
	return v
}

// hasGo is the specification of Has. The probes of a round are tested together: a branch a probe would be mispredicted
// once for every absent key.
func (b *Blocks) hasGo(hi, lo uint64) bool {
	block, _ := bits.Mul64(hi, b.blocks)
	if b.k == 0 {
		w := bitvec.HalfLine(b.words, block)
		x := uint32(lo)
		c := ^(uint64(1)<<(x*salt0>>27))&^(1<<(x*salt1>>27|32)) | w[0]
		d := ^(uint64(1)<<(x*salt2>>27))&^(1<<(x*salt3>>27|32)) | w[1]
		e := ^(uint64(1)<<(x*salt4>>27))&^(1<<(x*salt5>>27|32)) | w[2]
		f := ^(uint64(1)<<(x*salt6>>27))&^(1<<(x*salt7>>27|32)) | w[3]
		return c&d&e&f == 1<<64-1
	}
	w := bitvec.Line(b.words, block)
	x, k, all := lo, b.k, uint64(1)
	for round := uint64(1); k > LineProbes; round++ {
		all &= lineBit(w, x) & lineBit(w, bits.RotateLeft64(x, 9)) & lineBit(w, bits.RotateLeft64(x, 18)) &
			lineBit(w, bits.RotateLeft64(x, 27)) & lineBit(w, bits.RotateLeft64(x, 36)) &
			lineBit(w, bits.RotateLeft64(x, 45)) & lineBit(w, bits.RotateLeft64(x, 54))
		k -= LineProbes
		x = probe.Remix(lo, round)
	}
	switch k {
	case 7:
		all &= lineBit(w, x)
		x = bits.RotateLeft64(x, 9)
		fallthrough
	case 6:
		all &= lineBit(w, x)
		x = bits.RotateLeft64(x, 9)
		fallthrough
	case 5:
		all &= lineBit(w, x)
		x = bits.RotateLeft64(x, 9)
		fallthrough
	case 4:
		all &= lineBit(w, x)
		x = bits.RotateLeft64(x, 9)
		fallthrough
	case 3:
		all &= lineBit(w, x)
		x = bits.RotateLeft64(x, 9)
		fallthrough
	case 2:
		all &= lineBit(w, x)
		x = bits.RotateLeft64(x, 9)
		fallthrough
	case 1:
		all &= lineBit(w, x)
	}
	return all != 0
}

// lineBit returns a word whose lowest bit is the bit of the line at the position in x: word x>>61, bit x mod 64.
func lineBit(w *[8]uint64, x uint64) uint64 { return w[x>>61] >> (x & 63) }
