// Package kernel contains the query kernels of the families: Blocks (blocked), Slots (blockpartitioned), Chains
// (rankindexed) and Ribbon (ribbon) answer whether a key is present. BestLanes and MapBytes are the inner loops of
// searches (internal/anneal).
//
// Each kernel has a specification in plain Go, a faster form in Go, and on amd64 a form in assembly, with AVX2 where it
// helps; Ribbon has a form for AVX2 and a form for AVX-512. Tests compare all forms with the specification. The tag
// purego leaves out the assembly. gen writes vector_amd64.s; it is a separate module so that users do not download avo.
// Run go generate ./internal/kernel after a change; CI checks that the output is up to date.
//
// A query is one call of an assembly function whose argument is a pointer to the whole filter, and the Go methods
// around it are small enough to be inlined. In a filter larger than the caches, the number of keys that a core works on
// at once depends on the number of instructions per query, above all of instructions that write general registers. With
// 20 million keys at 10 bits per key on Zen 5, a query of the line layout took 58 ns in Go, 47 with assembly that gets
// the address of the block and a row of a table for k, 46 if the assembly looks these up, and 39 in the present form;
// 512-bit registers, which save eight instructions, did not make it faster.
//
// Kernels load without bounds checks. They keep the caller's words, which must have the stated layout. Queries are safe
// from any number of goroutines while no goroutine writes to the words.
package kernel

import (
	"math/bits"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// LineProbes is the number of probes, nine bits each, that 64 bits of a hash yield.
const LineProbes = 7

// The odd multipliers of the Parquet format, one per word of a split block. hasGo needs constants.
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

// SplitSalts are the odd multipliers of the Parquet format, one per word of a split block.
var SplitSalts = [8]uint32{salt0, salt1, salt2, salt3, salt4, salt5, salt6, salt7}

// Blocks answers queries of a blocked Bloom filter: whether all bits of a key are set. Package blocked describes the
// layouts; hasGo is the specification.
type Blocks struct {
	// The assembly depends on the order of these fields.
	words  []uint64
	blocks uint64
	how    uint64 // the code that answers
	k      uint64 // probes per key in the line layout, 0 in the split one

	// last and full select the last probes of the line layout, at most seven, and a full round of seven probes: for
	// each lane the bytes of the hash, then the shift. In the split layout last holds the multipliers, then ones.
	last [2][8]uint32
	ones [8]uint32
	full [2][8]uint32
}

// The values of how.
const (
	byGo    = iota // no vector code; of Slots.how too
	byLong         // line layout, more than seven probes
	byLine         // line layout
	bySplit        // split layout
)

// NewLine returns the kernel for blocks of 512 bits, 8 words each, with k probes per key, at least 1. It keeps words.
func NewLine(words []uint64, k int) Blocks {
	b := Blocks{words: words, blocks: uint64(len(words) / 8), k: uint64(k), ones: ones}
	b.last, b.full = lineLanes((k-1)%LineProbes+1), lineLanes(LineProbes)
	switch {
	case !Vector:
	case k <= LineProbes:
		b.how = byLine
	default:
		b.how = byLong
	}
	return b
}

// NewSplit returns the kernel for blocks of 256 bits, 4 words each, in the layout of Parquet. It keeps words.
func NewSplit(words []uint64) Blocks {
	b := Blocks{words: words, blocks: uint64(len(words) / 4), last: [2][8]uint32{SplitSalts, ones}, ones: ones}
	if Vector {
		b.how = bySplit
	}
	return b
}

// ones is a one in each lane.
var ones = [8]uint32{1, 1, 1, 1, 1, 1, 1, 1}

// lineLanes returns, for eight lanes, the numbers of the two bytes of a hash that contain the nine bits of a probe,
// lowest byte first, and the bit of these bytes at which the nine bits start. Probe i uses the nine bits from bit
// 61-9·i on, cyclically. Lanes from k on repeat the first lane. The byte number 0x80 selects 0.
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

// hasGo is the specification of Has. It tests the probes of a round together: a branch per probe would be mispredicted
// once for each absent key.
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

// lineBit returns a word whose lowest bit is bit x mod 64 of word x>>61 of the line.
func lineBit(w *[8]uint64, x uint64) uint64 { return w[x>>61] >> (x & 63) }
