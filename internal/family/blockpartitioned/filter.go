// Package blockpartitioned is partitioned hashing in cache lines: a blocked Bloom filter in which a search has fitted
// the hash functions of each block to its keys. A query reads one line, which also contains the hash functions.
//
//	Hash  Hi -> block ⌊Hi·blocks / 2^64⌋; from the low half of the product, in the same way, a group of the block
//	      Lo -> base positions, eight from its low half x: u_l = ⌊⌊x·salt_l mod 2^32 / 2^16⌋·bits / 2^16⌋,
//	            eight from its high half, and more from Lo mixed again
//
//	block of 512 or 1024 bits
//	  head     groups · k shifts of width bits, from the lowest bit on, the shifts of a group in a row
//	  unused   fewer than 32 bits
//	  payload  words of 32 bits up to the end of the block; bits is the number of its bits
//
//	slot l of a key of group j is bit (u_l + shift[j][l]) mod 32 of payload word u_l / 32
//
// All shifts of a slot lead to bits of one word, so slots reach the last bits of a block as often as all others. The
// search is the search of family partitioned (internal/anneal), block by block. Keys may be added later, with the
// shifts of their group.
//
// US patent 7,930,547 B2 covers partitioned hashing; see docs/papers/README.md.
package blockpartitioned

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: blockpartitioned(block=512,blocks=15625,groups=4,k=8,width=5).
const Family = "blockpartitioned"

// Filter is a blocked partitioned Bloom filter. Reads are safe from any number of goroutines; Add needs exclusive use.
type Filter struct {
	geometry
	words    []uint64 // block b is bits [b·block, (b+1)·block)
	keys     uint64
	late     uint64 // how many of the keys were added after the search
	searched uint64 // bits that were set at the end of the search

	bits  uint64        // bits of a block's payload
	first uint64        // offset in the block
	query *kernel.Slots // query of the same words
}

func newFilter(g geometry, words []uint64, keys uint64) *Filter {
	return &Filter{
		geometry: g, words: words, keys: keys, bits: g.payloadBits(), first: g.block - g.payloadBits(),
		query: kernel.NewSlots(words, g.block, g.groups, g.payloadBits(), g.k, g.width),
	}
}

// Has reports whether the key may be in the set.
func (f *Filter) Has(h filter.Hash) bool { return f.query.Has(h.Hi, h.Lo) }

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe { return f.query.Probe() }

// shiftOf returns the shift of slot l of a group of a block.
func (f *Filter) shiftOf(block, group uint64, l int) uint64 {
	at := block*f.block + (group*uint64(f.k)+uint64(l))*uint64(f.width)
	return bitvec.Load57(f.words, at) & (1<<f.width - 1)
}

// copyHeads copies the shifts of all blocks from a filter of the same geometry.
func (f *Filter) copyHeads(from *Filter) {
	head := f.groups * uint64(f.k*f.width)
	for at := uint64(0); at < f.blocks*f.block; at += f.block {
		bitvec.Copy(f.words, at, from.words, at, head)
	}
}

// Add adds a key with the shifts of its group, without a search: keys added later set as many bits as in a blocked
// filter. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	block, group := f.blockAndGroup(h)
	start := block*f.block + f.first
	for l := range f.k {
		u := f.query.Position(h.Lo, l)
		b := start + uint64(u&^31) + (uint64(u)+f.shiftOf(block, group, l))&31 // the shift wraps around in its word
		f.words[b/64] |= 1 << (b % 64)
	}
	f.keys++
	f.late++
	return nil
}

// Info describes the filter. It reads the whole filter to count bits.
func (f *Filter) Info() filter.Info {
	ones, rate := f.census()
	bits := float64(f.blocks * f.bits)
	return filter.Info{
		Spec: f.builtSpec(), Keys: f.keys, Late: f.late, Bits: f.blocks * f.block,
		Fill:         float64(ones) / bits,
		FillSearched: float64(f.searched) / bits,
		FPRPrior:     f.priorRate(f.keys),
		FPRPosterior: rate,
	}
}

func (f *Filter) builtSpec() filter.Spec {
	return family.NewSpec(Family, "block", f.block, "blocks", f.blocks, "groups", f.groups, "k", f.k, "width", f.width)
}

// geometry describes the sizes of a filter.
type geometry struct {
	blockGeometry
	blocks uint64
}

// blockGeometry describes the sizes of one block.
type blockGeometry struct {
	block  uint64 // bits in all: 512 or 1024
	groups uint64
	k      int
	width  int // bits of a shift
}

// Limits of a Spec.
const (
	maxK     = 64
	minWidth = 1
	maxWidth = anneal.MaxWidth
)

// payloadBits returns the number of bits that keys set: the bits of all whole words of 32 bits behind the head.
func (s blockGeometry) payloadBits() uint64 {
	head := s.groups * uint64(s.k*s.width)
	if head > s.block {
		return 0
	}
	return (s.block - head) / 32 * 32
}

// isValid reports whether a filter may have this block geometry.
func (s blockGeometry) isValid() bool {
	// With a payload of 64 bits, the 64 bits from any shift on are in the block.
	return (s.block == lineBits || s.block == 2*lineBits) &&
		s.groups >= 1 && s.groups <= s.block && s.k >= 1 && s.k <= maxK &&
		s.width >= minWidth && s.width <= maxWidth && s.payloadBits() >= 64
}

// blockAndGroup returns the block of a key and its group there.
func (g geometry) blockAndGroup(h filter.Hash) (block, group uint64) {
	block, rest := bits.Mul64(h.Hi, g.blocks)
	group, _ = bits.Mul64(rest, g.groups)
	return block, group
}

func (g geometry) String() string {
	return fmt.Sprintf("%d blocks of %d bits, %d groups of k=%d, %d shifts", g.blocks, g.block, g.groups, g.k, 1<<g.width)
}

// HasMany sets dst[i] to Has(hs[i]); see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.words), dst, hs, f.prefetch, f.hasEach)
}

// prefetch prefetches the blocks of at most probe.BatchSize keys.
func (f *Filter) prefetch(hs []filter.Hash) {
	lines := int(f.block / lineBits)
	var at [2 * probe.BatchSize]uint64
	for i, h := range hs {
		block, _ := bits.Mul64(h.Hi, f.blocks)
		for l := range lines {
			at[i*lines+l] = block*f.block + uint64(l)*lineBits
		}
	}
	bitvec.PrefetchBits(f.words, at[:len(hs)*lines])
}

// lineBits is the number of bits of a cache line.
const lineBits = 64 * bitvec.LineWords

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}

// View answers queries of a stored filter from the bytes of its first section, little endian as in files, at any
// address, without a copy or an allocation. A View is safe for concurrent use. The zero View is not usable.
type View struct {
	*layout
	blocks uint64
}

// layout is the part of the geometry of a block that queries need.
type layout struct {
	blockGeometry
	query *kernel.Slots // query without words
}

// ViewOf returns the View of a filter with the Spec of a built filter. It returns the errors of SectionWords.
func ViewOf(s filter.Spec) (View, error) {
	g, err := geometryFromSpec(s)
	if err != nil {
		return View{}, err
	}
	return View{newLayout(g.blockGeometry), g.blocks}, nil
}

// NewView returns the View of a filter without blocks; Resize sets the number of blocks. Each block has block bits, 512
// or 1024, and starts with groups of k shifts of width bits. NewView returns false if no filter has this geometry.
func NewView(block, groups uint64, k, width int) (View, bool) {
	s := blockGeometry{block: block, groups: groups, k: k, width: width}
	if !s.isValid() {
		return View{}, false
	}
	return View{newLayout(s), 0}, true
}

func newLayout(s blockGeometry) *layout {
	return &layout{s, kernel.NewSlots(nil, s.block, s.groups, s.payloadBits(), s.k, s.width)}
}

// Resize returns the View of a filter with the same block geometry whose blocks fill section.
func (v View) Resize(section []byte) View {
	v.blocks = uint64(len(section)) >> 6 >> (v.block >> 10) // a division would take as long as a query
	return v
}

// Bytes returns the number of bytes of the section.
func (v View) Bytes() uint64 { return v.blocks * (v.block / 8) }

// Block returns the position of a key's block in the section: the offset of its first byte and its length. The filter
// must have blocks.
func (v View) Block(h filter.Hash) (offset uint64, length int) {
	block, _ := bits.Mul64(h.Hi, v.blocks)
	return block * (v.block / 8), int(v.block / 8)
}

// Has reports whether the key may be in the set. It panics if section has fewer than Bytes bytes, or has none.
func (v View) Has(section []byte, h filter.Hash) bool {
	offset, length := v.Block(h)
	return v.HasBlock(section[offset:][:length], h)
}

// HasBlock reports whether the key may be in the set. block contains the bytes at Block(h). It panics if block is
// shorter.
func (v View) HasBlock(block []byte, h filter.Hash) bool {
	_, rest := bits.Mul64(h.Hi, v.blocks)
	return v.query.HasIn(block, rest, h.Lo)
}
