// Package partitioned implements a Bloom filter whose hash functions are fitted to the keys (Hao, Kodialam and
// Lakshman, "Building high accuracy Bloom filters using partitioned hashing", SIGMETRICS 2007). Keys are divided into
// groups. A search chooses the hash functions of each group so that all keys together set few bits. The choices are
// stored and count towards the size of the filter.
//
// In the paper each group uses k of H functions. Here each slot l of a group has a shift:
//
//	Hash (Hi, Lo)
//	  Hi  -> group j = ⌊Hi·(shards·groups) / 2^64⌋, all groups of a shard in a row
//	  Lo  -> base position u_0 = ⌊Lo·base / 2^64⌋ in the shard's bitmap,
//	         u_1, u_2, ... from Lo times the odd number (Hi with 1), folded, again and again
//	  slot l of the key is bit u_l + shift[j][l]
//
//	one shard   bitmap: base + H - 1 bits       shifts: groups · k numbers below H = 2^width
//
// The search looks at all H shifts of a slot at once (internal/anneal) and is thousands of times faster than the greedy
// algorithm of the paper. Keys may be added later, with the shifts of their group; the rate then moves towards the rate
// of a filter without a search.
//
// US patent 7,930,547 B2 covers partitioned hashing; see docs/papers/README.md.
package partitioned

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: partitioned(bits=5659,groups=67,k=7,shards=1,width=5).
const Family = "partitioned"

// Filter is a partitioned Bloom filter. Reads are safe from any number of goroutines; Add needs exclusive use.
type Filter struct {
	geometry
	bitmap   []uint64 // bit b of shard s is bit s·bits + b; at least 64 zero bits follow the last
	shifts   []uint64 // packed, number j·k + l for slot l of group j of all shards; at least 64 zero bits follow
	keys     uint64
	late     uint64 // how many of the keys were added after the search
	searched uint64 // bits that were set at the end of the search

	side  uint64 // bits of the shifts of a group: k·width
	reach uint64 // the number of base positions
}

func newFilter(g geometry, bitmap, shifts []uint64, keys uint64) *Filter {
	f := &Filter{geometry: g, bitmap: bitmap, shifts: shifts, keys: keys, reach: g.basePositions()}
	f.side = uint64(g.k * g.width)
	return f
}

// together is the number of slots that Has tests before it branches; see family standard.
const together = 3

// Has reports whether the key may be in the set. No load waits for another, because all addresses follow from the hash:
// the bits from u_l on are read before the shift is known.
func (f *Filter) Has(h filter.Hash) bool {
	shard, rest := bits.Mul64(h.Hi, f.geometry.shards)
	group, _ := bits.Mul64(rest, f.groups)
	side := (shard*f.groups + group) * f.side
	start, base, bitmap, shifts := shard*f.bits, f.reach, f.bitmap, f.shifts
	x, by := h.Lo, probe.Mixer(h)
	if f.width != maxWidth {
		return f.hasAny(h, side, start)
	}

	k := f.k
	for ; k >= together; k -= together {
		s := bitvec.Load57(shifts, side) // three shifts of five bits
		side += together * maxWidth
		all := bitvec.Load32(bitmap, start+probe.Position(x, base), s&31)
		x = probe.Mix(x, by)
		all &= bitvec.Load32(bitmap, start+probe.Position(x, base), s>>5&31)
		x = probe.Mix(x, by)
		all &= bitvec.Load32(bitmap, start+probe.Position(x, base), s>>10&31)
		x = probe.Mix(x, by)
		if all&1 == 0 {
			return false
		}
	}

	all := uint64(1)
	for s := bitvec.Load57(shifts, side); k > 0; k-- {
		all &= bitvec.Load32(bitmap, start+probe.Position(x, base), s&31)
		s >>= maxWidth
		x = probe.Mix(x, by)
	}
	return all != 0
}

// hasAny is Has for any width. Filters with later= may have fewer bits per shift.
func (f *Filter) hasAny(h filter.Hash, side, start uint64) bool {
	x, by := h.Lo, probe.Mixer(h)
	base, bitmap, shifts := f.reach, f.bitmap, f.shifts
	width := uint64(f.width)
	mask := uint64(1)<<(width&63) - 1
	k := f.k
	for ; k >= together; k -= together {
		s := bitvec.Load57(shifts, side)
		side += together * width
		all := bitvec.Load32(bitmap, start+probe.Position(x, base), s&mask)
		x = probe.Mix(x, by)
		s >>= width & 63
		all &= bitvec.Load32(bitmap, start+probe.Position(x, base), s&mask)
		x = probe.Mix(x, by)
		s >>= width & 63
		all &= bitvec.Load32(bitmap, start+probe.Position(x, base), s&mask)
		x = probe.Mix(x, by)
		if all&1 == 0 {
			return false
		}
	}

	all := uint64(1)
	for s := bitvec.Load57(shifts, side); k > 0; k-- {
		all &= bitvec.Load32(bitmap, start+probe.Position(x, base), s&mask)
		s >>= width & 63
		x = probe.Mix(x, by)
	}
	return all != 0
}

// shiftOf returns the shift of slot l of a group; groups are counted over all shards.
func (f *Filter) shiftOf(group uint64, l int) uint64 {
	return bitvec.Load57(f.shifts, (group*uint64(f.k)+uint64(l))*uint64(f.width)) & (1<<f.width - 1)
}

// Add adds a key with the shifts of its group, without a search: keys added later set as many bits as in a standard
// filter. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	group := f.groupOf(h)
	start := group / f.groups * f.bits
	x, by := h.Lo, probe.Mixer(h)
	for l := range f.k {
		b := start + probe.Position(x, f.basePositions()) + f.shiftOf(group, l)
		f.bitmap[b/64] |= 1 << (b % 64)
		x = probe.Mix(x, by)
	}
	f.keys++
	f.late++
	return nil
}

// Info describes the filter. It reads the whole filter to count bits.
func (f *Filter) Info() filter.Info {
	bits := float64(f.geometry.shards * f.bits)
	return filter.Info{
		Spec: f.builtSpec(), Keys: f.keys, Late: f.late, Bits: f.totalBits(),
		Fill:         float64(f.setBits()) / bits,
		FillSearched: float64(f.searched) / bits,
		FPRPrior:     f.priorRate(f.keys),
		FPRPosterior: f.posteriorRate(),
	}
}

func (f *Filter) setBits() uint64 { return bitvec.OnesCount(f.bitmap) }

func (f *Filter) builtSpec() filter.Spec {
	return family.NewSpec(Family,
		"bits", f.bits, "groups", f.groups, "k", f.k, "shards", f.geometry.shards, "width", f.width)
}

func (g geometry) String() string {
	return fmt.Sprintf("%d shards of %d groups and %d bits, k=%d, %d shifts", g.shards, g.groups, g.bits, g.k, 1<<g.width)
}

// geometry describes the sizes of a filter.
type geometry struct {
	shards uint64
	groups uint64 // groups per shard
	bits   uint64 // bits of a shard's bitmap
	k      int
	width  int // bits of a shift, 0 to 5
}

// basePositions returns the number of base positions in a shard: the largest base position plus the largest shift is
// the last bit of the shard.
func (g geometry) basePositions() uint64 { return g.bits - (1<<g.width - 1) }

// totalBits returns the number of bits that a query needs.
func (g geometry) totalBits() uint64 { return g.shards * (g.bits + g.groups*uint64(g.k*g.width)) }

// perGroup returns the average number of keys in a group, rounded.
func (g geometry) perGroup(n uint64) int {
	groups := g.shards * g.groups
	return int(max(1, (n+groups/2)/groups))
}

// shardOf returns the shard of a key.
func (g geometry) shardOf(h filter.Hash) uint64 { return probe.Position(h.Hi, g.shards) }

// groupOf returns the group of a key, counted over all shards.
func (g geometry) groupOf(h filter.Hash) uint64 { return probe.Position(h.Hi, g.shards*g.groups) }

// priorRate returns p_b, the rate before the search, as the paper defines it: the rate of n keys with random shifts in
// a standard filter with the bits of the bitmaps. Late keys move the rate towards p_b. Config.Forecast predicts the
// rate after a search.
func (g geometry) priorRate(n uint64) float64 {
	empty := float64(g.k) * float64(n) * math.Log1p(-1/float64(g.shards*g.bits+1))
	return math.Pow(-math.Expm1(empty), float64(g.k))
}

// posteriorRate returns p_a. An absent key has a random group and random base positions. The probability that its slot
// l finds a set bit is the share of set bits among the bits that the shift of the slot reaches, and p_a is the mean
// over the groups of the product of these shares. This is about f^k with the fill f, but not exactly: not every shift
// reaches the 31 bits at either end of a shard.
func (f *Filter) posteriorRate() float64 { return f.rateAfter(0) }

// rateAfter returns the expected posterior rate after further keys are added with the present shifts. These keys set
// some of the empty bits that a slot reaches.
func (f *Filter) rateAfter(keys float64) float64 {
	// This is the share of empty bits that stay empty. In a small filter every shift reaches only the middle, where
	// most of the later bits are.
	empty := math.Exp(keys * float64(f.k) * math.Log1p(-1/float64(f.geometry.shards*f.basePositions()+1)))
	var sum float64
	reach := make([]float64, 1<<f.width)
	for s := range f.geometry.shards {
		f.shares(s, reach)
		for j := range f.groups {
			rate := 1.0
			for l := range f.k {
				rate *= 1 - (1-reach[f.shiftOf(s*f.groups+j, l)])*empty
			}
			sum += rate
		}
	}
	return sum / float64(f.geometry.shards*f.groups)
}

// shares sets reach[c] to the share of set bits among the bits that shift c reaches from all base positions of a shard.
func (f *Filter) shares(shard uint64, reach []float64) {
	first, base := shard*f.bits, f.basePositions()
	ones := bitvec.OnesIn(f.bitmap, first, first+base)
	for c := range uint64(len(reach)) { // the range moves up by one bit with each shift
		reach[c] = float64(ones) / float64(base)
		ones -= f.bitAt(first + c)
		ones += f.bitAt(first + c + base)
	}
}

func (f *Filter) bitAt(i uint64) uint64 { return f.bitmap[i/64] >> (i % 64) & 1 }
