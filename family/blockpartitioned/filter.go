// Package blockpartitioned is partitioned hashing inside cache lines: a blocked Bloom filter whose blocks each choose their
// hash functions to fit their keys. A query reads one line, which holds what was chosen as well.
//
//	Hash  Hi -> block ⌊Hi·blocks / 2^64⌋, and from what the product leaves over, in the same way, one of the block's groups
//	      Lo -> base positions, eight from its low half x: u_l = ⌊⌊x·salt_l mod 2^32 / 2^16⌋·bits / 2^16⌋, eight from its high
//	            half, and further ones from Lo mixed anew
//
//	block of 512 or 1024 bits
//	  head     groups · k shifts of width bits, those of a group side by side, from the lowest bit on
//	  unused   fewer than 32 bits
//	  payload  words of 32 bits up to the end of the block, bits in all
//
//	slot l of a key of group j is bit (u_l + shift[j][l]) mod 32 of payload word u_l / 32
//
// So all shifts of a slot lead to bits of one word, and no choice is lost at the ends of a block. The search is that of the
// partitioned family (internal/anneal), block by block. Keys may be added later, with the shifts that their group has.
//
// US patent 7,930,547 B2 covers partitioned hashing; see docs/papers.md.
package blockpartitioned

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: blockpartitioned(block=512,blocks=15625,groups=4,k=8,width=5).
const Family = "blockpartitioned"

// Filter is a blocked partitioned Bloom filter. Reads are safe from any number of goroutines; Add needs exclusive use.
type Filter struct {
	geometry
	words []uint64 // block b is bits [b·block, (b+1)·block)
	keys  uint64
	late  uint64 // how many of the keys were added after the search
	// searched is the number of set bits that the search left.
	searched uint64

	bits  uint64        // of a block's payload
	first uint64        // where it begins in the block
	side  uint64        // bits of the shifts of a group
	mask  uint64        // the bits of a shift
	slots *bitvec.Slots // nil where there is no vector code
}

func newFilter(g geometry, words []uint64, keys uint64) *Filter {
	f := &Filter{
		geometry: g, words: words, keys: keys,
		bits: g.payload(), first: g.block - g.payload(), side: uint64(g.k * g.width), mask: 1<<g.width - 1,
	}
	if bitvec.Vector && g.block == lineBits {
		f.slots = bitvec.NewSlots(salts, f.first/32, f.bits, g.width)
	}
	return f
}

// The odd multipliers of a round; those of the Parquet format, which are well tried.
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

var salts = [perRound]uint32{salt0, salt1, salt2, salt3, salt4, salt5, salt6, salt7}

// perRound is the number of base positions from 32 bits.
const perRound = 8

// Has reports whether the key may be in the set. It branches once after four slots, for one branch a slot would be
// mispredicted once for every absent key; vector code tests eight at once.
func (f *Filter) Has(h filter.Hash) bool {
	block, rest := bits.Mul64(h.Hi, f.blocks)
	group, _ := bits.Mul64(rest, f.groups)
	start := block * f.block
	side := start + group*f.side
	start += f.first
	if f.slots != nil {
		set := f.slots.Set(f.words, block, h.Lo, bitvec.Load57(f.words, side))
		if f.k < perRound {
			set |= 255 << f.k & 255
		}
		if set != 255 || f.k <= perRound {
			return set == 255
		}
		return f.more(h.Lo, side, block)
	}
	words, m, width, mask, k := f.words, f.bits, uint64(f.width)&63, f.mask, f.k
	s, x := bitvec.Load57(words, side), uint32(h.Lo)
	if k < 4 {
		return f.has(h.Lo, side, start, 0)
	}
	all := slot(words, start, m, x*salt0, s&mask)
	s >>= width
	all &= slot(words, start, m, x*salt1, s&mask)
	s >>= width
	all &= slot(words, start, m, x*salt2, s&mask)
	s >>= width
	all &= slot(words, start, m, x*salt3, s&mask)
	if all&1 == 0 {
		return false
	}
	if k == 4 {
		return true
	}
	s >>= width
	all = slot(words, start, m, x*salt4, s&mask)
	if k > 5 {
		s >>= width
		all &= slot(words, start, m, x*salt5, s&mask)
		if k > 6 {
			s >>= width
			all &= slot(words, start, m, x*salt6, s&mask)
			if k > 7 {
				s >>= width
				all &= slot(words, start, m, x*salt7, s&mask)
			}
		}
	}
	if k <= perRound || all&1 == 0 {
		return all&1 != 0
	}
	return f.has(h.Lo, side, start, perRound)
}

// more tests the slots after the first eight with vector code.
func (f *Filter) more(lo, side, block uint64) bool {
	for round := 1; ; round++ {
		side += perRound * uint64(f.width)
		left := f.k - round*perRound
		set := f.slots.Set(f.words, block, uint64(half(lo, round)), bitvec.Load57(f.words, side))
		if left < perRound {
			set |= 255 << left & 255
		}
		if set != 255 || left <= perRound {
			return set == 255
		}
	}
}

// slot returns a word whose lowest bit is that of a slot: x is its product with a salt.
func slot(words []uint64, start, m uint64, x uint32, shift uint64) uint32 {
	u := uint64(x>>16) * m >> 16
	return bitvec.Word32(words, (start+u)>>5) >> ((u + shift) & 31)
}

// has tests the slots from l on, one after the other.
func (f *Filter) has(lo, side, start uint64, l int) bool {
	for ; l < f.k; l++ {
		s := bitvec.Load57(f.words, side+uint64(l*f.width)) & f.mask
		if slot(f.words, start, f.bits, half(lo, l/perRound)*salts[l%perRound], s)&1 == 0 {
			return false
		}
	}
	return true
}

// half returns the 32 bits that the base positions of a round come from: the two halves of Lo, then those of Lo mixed
// anew.
func half(lo uint64, round int) uint32 {
	if round >= 2 {
		lo = probe.Remix(lo, uint64(round/2))
	}
	return uint32(lo >> (round % 2 * 32))
}

// position returns the base position of slot l within the payload of a block.
//
//go:norace
func (g geometry) position(lo uint64, l int) uint32 {
	x := half(lo, l/perRound) * salts[l%perRound]
	return uint32(uint64(x>>16) * g.payload() >> 16)
}

// shift returns the shift of slot l of a group of a block.
func (f *Filter) shift(block, group uint64, l int) uint64 {
	at := block*f.block + (group*uint64(f.k)+uint64(l))*uint64(f.width)
	return bitvec.Load57(f.words, at) & (1<<f.width - 1)
}

// Add puts a key into the set with the shifts that its group has. No search is made, so that keys added later fill the
// filter as they would a blocked one. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	block, group := f.place(h)
	start := block*f.block + f.first
	for l := range f.k {
		u := f.position(h.Lo, l)
		b := start + uint64(u&^31) + (uint64(u)+f.shift(block, group, l))&31
		f.words[b/64] |= 1 << (b % 64)
	}
	f.keys++
	f.late++
	return nil
}

// Info counts the set bits of every block, which reads the whole filter.
func (f *Filter) Info() filter.Info {
	ones, rate := f.census()
	bits := float64(f.blocks * f.bits)
	return filter.Info{
		Spec: f.spec(), Keys: f.keys, Late: f.late, Bits: f.blocks * f.block,
		Fill:         float64(ones) / bits,
		FillSearched: float64(f.searched) / bits,
		FPRPrior:     f.prior(f.keys),
		FPRPosterior: rate,
	}
}

func (f *Filter) spec() filter.Spec {
	return filter.NewSpec(Family, "block", f.block, "blocks", f.blocks, "groups", f.groups, "k", f.k, "width", f.width)
}
