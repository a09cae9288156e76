// Package rankindexed is rank-indexed hashing (N. Hua, H. Zhao, B. Lin, J. Xu, "Rank-Indexed Hashing: A Compact
// Construction of Bloom Filters and Variants", ICNP 2008): a table of remainders with chains and without pointers, which
// takes keys and gives them back, counts them, or keeps a value with each.
//
// A key has a bucket, a chain in it and a remainder. A bucket has an index of bits and cells for remainders:
//
//	index   0 1 1 0 1 0 0 1 | 0 1 0 0 0 0 0          base index: is chain l empty?  |  higher index: does cell c have a next one?
//	            └─┐   └┐  └────┐ └────┐
//	cells     c0  c1   c2      c3     c4             cell number of a set bit: the set bits before it (its rank)
//
// Bit l < L says that chain l has a first cell, bit L+c that the chain goes on behind cell c; the number of set bits before
// a set bit is the number of the cell that it stands for. So a chain is followed by counting bits, and an insertion shifts
// one bit into the index and one cell into the cells. A chain's cells are in order of their remainders, so that the same
// keys make the same bucket in whatever order they come.
//
// Where the paper has buckets of at most 64 chains, which one word indexes, a bucket here has an index of one cache line: 512
// bits for chains and own cells together, some 200 keys. Larger buckets spread less around their mean load, and leave less
// room unused: 9.5 bits a key at 1%, where the paper has 10.6. A query reads the line of the index and mostly one line of
// cells. Buckets that overflow take an extension of a pool, and one of a second pool beyond that; plan.go sizes all
// of them so that they suffice for the capacity, but with a probability of 1e-10.
//
// Bits of the Hash (Hi, Lo):
//
//	Hi × B     bucket = upper half        lower half: its first Growth bits head the remainder
//	Lo × L     chain  = upper half        lower half: its first r bits are the rest of the remainder
//
// A filter that grows has more bits of remainder than it needs at first. When it doubles, the first bit of each
// remainder says in which of two buckets it comes, and is dropped: the same as if all keys had been added again.
package rankindexed

import (
	"math"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Family is the name in a Spec.
const Family = "rankindexed"

// Filter is a rank-indexed table. Reads are safe from any number of goroutines; everything else needs exclusive use. See
// Concurrent for many writers.
type Filter struct {
	shape
	walk  kernel.Chains  // buckets' own cells, in table
	keys  uint64         // additions less removals
	used  uint64         // cells in use
	all   *atomic.Uint64 // in a part of a Concurrent that can grow, the cells in use of the whole
	table []uint64       // the buckets
	pools [levels]*pool  // their extensions; 0 is not used
}

// shape is a Geometry with what operations need of it, worked out. Letters are those of the package comment.
type shape struct {
	g       Geometry
	buckets uint64
	chains  uint64
	own     uint64 // cells of a bucket
	words   uint64 // 64-bit words of a bucket
	span    uint64 // bits of the index; the pointer behind it
	cells   uint64 // first bit of the cells
	last    uint64 // word of a bucket that the last bit of the pointer lies in; its first lies in word span/64
	low     uint64 // bits of the pointer in the first of these words
	high    uint64 // and in the other
	width   uint   // bits of a cell
	payload uint   // those below its remainder
}

func newShape(g Geometry) shape {
	s := shape{
		g: g, buckets: g.Buckets, chains: uint64(g.Chains), own: uint64(g.Cells[0]), words: g.words(0), span: uint64(g.Chains + g.Cells[0]),
		width: uint(g.width()), payload: uint(g.payload()),
	}
	s.cells = s.span + uint64(g.pointer(1))
	for bit := s.span; bit < s.cells; bit++ {
		if s.last = bit / 64; s.last == s.span/64 {
			s.low |= 1 << (bit % 64)
		} else {
			s.high |= 1 << (bit % 64)
		}
	}
	return s
}

// layout says where the parts of a bucket lie.
func (s *shape) layout() kernel.ChainLayout {
	return kernel.ChainLayout{
		Buckets: s.buckets, Chains: s.chains, Cells: s.own, Stride: s.words, First: s.cells,
		Hi: uint64(s.g.Growth), Lo: uint64(s.g.Remainder), Payload: uint64(s.payload),
	}
}

// Has reports whether the key may be in the set.
func (f *Filter) Has(h filter.Hash) bool {
	end := f.walk.Has(h.Hi, h.Lo)
	return end == kernel.ChainCell || end == kernel.ChainBeyond && f.hasFar(h)
}

// hasFar is Has in a bucket with extensions.
func (f *Filter) hasFar(h filter.Hash) bool {
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	_, ok := u.find(chain, remainder)
	return ok
}

// Get returns the value of the key, and whether the key may be in the set. Without values it is 0.
func (f *Filter) Get(h filter.Hash) (value uint64, ok bool) {
	_, remainder, _, _, cell, end := f.walk.Follow(h.Hi, h.Lo)
	if end == kernel.ChainBeyond {
		b, chain, _ := f.walk.Locate(h.Hi, h.Lo)
		u := f.bucket(b)
		var c uint64
		if c, ok = u.find(chain, remainder); ok {
			cell = u.cell(c)
		}
	} else {
		ok = end == kernel.ChainCell && cell>>f.payload == remainder
	}
	if !ok || f.g.Counting {
		return 0, ok
	}
	return cell & (1<<f.payload - 1), true
}

// Count returns how often the key was added, and keys that look like it, less how often they were removed.
func (f *Filter) Count(h filter.Hash) (n uint64, saturated bool) {
	base, remainder, _, c, cell, end := f.walk.Follow(h.Hi, h.Lo)
	for end == kernel.ChainCell && cell>>f.payload == remainder {
		n += f.counts(cell)
		at := f.chains + c
		if bitvec.Bit(f.table, 64*base+at)&1 == 0 {
			return n, false
		}
		if c = f.walk.Rank(base, at); c >= f.own {
			return f.countFar(h), false
		}
		cell = f.walk.Cell(base, c)
	}
	if end == kernel.ChainBeyond {
		return f.countFar(h), false
	}
	return n, false
}

// counts returns how many additions a cell stands for.
func (f *Filter) counts(cell uint64) uint64 {
	if f.g.Counting {
		return cell&(1<<counterBits-1) + 1
	}
	return 1
}

// countFar is Count in a bucket with extensions.
func (f *Filter) countFar(h filter.Hash) (n uint64) {
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	for at := chain; u.bit(at); {
		c := u.rank(at)
		cell := u.cell(c)
		if cell>>f.payload > remainder {
			return n
		}
		if cell>>f.payload == remainder {
			n += f.counts(cell)
		}
		at = f.chains + c
	}
	return n
}

// Len returns the number of cells in use: in the counting form a key that was added up to four times takes one.
func (f *Filter) Len() uint64 { return f.used }

// Geometry returns the sizes of the filter's parts.
func (f *Filter) Geometry() Geometry { return f.g }

// Info describes the filter. Fill is the share of all cells, those of free extensions included, that are in use. The
// posterior rate follows from that number, the prior one takes a cell for each key.
func (f *Filter) Info() filter.Info {
	all := float64(f.buckets) * float64(f.own)
	i := filter.Info{
		Spec: f.spec(), Keys: f.keys, Capacity: f.g.Capacity, Bits: f.g.Bits(),
		FPRPrior: f.g.FPR(f.keys), FPRPosterior: f.posterior(),
	}
	for level := 1; level < levels; level++ {
		all += float64(f.g.Pools[level]) * float64(f.g.Cells[level])
		i.Pools = append(i.Pools, filter.Pool{Size: f.g.Pools[level], Used: f.pools[level].used})
	}
	i.Fill = float64(f.used) / all
	return i
}

// posterior returns the rate that follows from the cells in use. Where keys are counted no two cells are alike, or their
// counters are full; elsewhere as many are as chance has it.
func (f *Filter) posterior() float64 {
	if f.g.Counting {
		return min(1, float64(f.used)/f.g.fingerprints())
	}
	return f.g.FPR(f.used)
}

// fingerprints returns how many different chains and remainders there are.
func (g Geometry) fingerprints() float64 {
	return float64(g.Buckets) * float64(g.Chains) * math.Ldexp(1, g.Remainder+g.Growth)
}

// FPR returns the probability, in [0, 1], that an absent key has the chain and the remainder of one of that many cells:
// 1-exp(-λ/2^r) with λ = cells/(B·L), section II of the paper.
func (g Geometry) FPR(cells uint64) float64 {
	return -math.Expm1(-float64(cells) / g.fingerprints())
}

var _ interface {
	filter.Adder
	filter.Remover
	filter.Counter
	filter.Valuer
} = (*Filter)(nil)
