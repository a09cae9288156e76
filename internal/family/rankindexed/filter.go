// Package rankindexed implements rank-indexed hashing (N. Hua, H. Zhao, B. Lin, J. Xu, "Rank-Indexed Hashing: A Compact
// Construction of Bloom Filters and Variants", ICNP 2008): a hash table of remainders with chains but without pointers.
// Keys can be added and removed at any time. A filter can also count its keys or keep a small value with each.
//
// A key has a bucket, a chain in that bucket, and a remainder. A bucket has an index of bits, and cells for remainders:
//
//	index   0 1 1 0 1 0 0 1 | 0 1 0 0 0 0 0       base index: has chain l a cell? | higher index: has cell c a next one?
//	            └─┐   └┐  └────┐ └────┐
//	cells     c0  c1   c2      c3     c4          number of the cell = number of set bits before its bit (the rank)
//
// Bit l < L is set if chain l has a first cell. Bit L+c is set if the chain of cell c has a next cell. Each set bit
// stands for one cell, whose number is the count of set bits before it. A query follows a chain by counting bits. An
// insertion shifts one bit into the index and one cell into the cells. The cells of a chain are sorted by remainder, so
// that the same keys give the same bucket in any order.
//
// In the paper a bucket has at most 64 chains, so that the base index fits one machine word. Here the whole index fits
// one cache line: 512 bits for chains and cells together, about 200 keys. The load of a larger bucket varies less
// around its mean, so that fewer cells stay unused: 9.5 bits per key at 1%, against 10.6 in the paper. A query reads
// the line of the index and usually one line of cells. A bucket that overflows takes an extension from a pool, and when
// the extension is also full, one from a second pool. plan.go sizes both pools so that they suffice for the capacity,
// except with a probability of 1e-10.
//
// Bits of the Hash (Hi, Lo):
//
//	Hi × B     bucket = upper half        lower half: its first Growth bits head the remainder
//	Lo × L     chain  = upper half        lower half: its first r bits are the rest of the remainder
//
// A filter that can grow starts with longer remainders than it needs. When it doubles, the first bit of each remainder
// selects one of two buckets and is dropped. Adding all keys to an empty filter of the new size would give the same
// filter.
package rankindexed

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec.
const Family = "rankindexed"

// Filter is a rank-indexed table. Queries are safe from any number of goroutines while no goroutine changes the filter;
// changes need exclusive use. Concurrent returns a form without these limits.
type Filter struct {
	arrays
	tally
}

// arrays are the parts of a filter. Operations on different buckets may run at the same time, because buckets and
// extensions are whole words and pools are locked.
type arrays struct {
	sizes
	walk  kernel.Chains // the buckets' own cells, in table
	table []uint64      // the buckets
	pools [levels]*pool // their extensions; 0 is not used
}

// tally contains the counts that changes update.
type tally struct {
	keys uint64 // additions less removals
	used uint64 // cells in use
}

// sizes is a Geometry and the positions that follow from it.
type sizes struct {
	g       Geometry
	buckets uint64
	chains  uint64
	own     uint64 // cells of a bucket
	words   uint64 // 64-bit words of a bucket
	span    uint64 // bits of the index; the pointer follows it
	cells   uint64 // first bit of the cells
	last    uint64 // word of the bucket with the last bit of the pointer; the first bit is in word span/64
	low     uint64 // mask of the pointer in word span/64
	high    uint64 // mask of the pointer in word last, if that is another one
	width   uint   // bits of a cell
	payload uint   // bits of a cell below its remainder
}

func newSizes(g Geometry) sizes {
	s := sizes{
		g: g, buckets: g.Buckets, chains: uint64(g.Chains), own: uint64(g.Cells[0]), words: g.levelWords(0),
		span: uint64(g.Chains + g.Cells[0]), width: uint(g.cellBits()), payload: uint(g.payloadBits()),
	}

	s.cells = s.span + uint64(g.pointerBits(1))
	for bit := s.span; bit < s.cells; bit++ { // at most 63 bits, so in at most two words
		if s.last = bit / 64; s.last == s.span/64 {
			s.low |= 1 << (bit % 64)
		} else {
			s.high |= 1 << (bit % 64)
		}
	}
	return s
}

// layout returns the positions of the parts of a bucket.
func (s *sizes) layout() kernel.ChainLayout {
	return kernel.ChainLayout{
		Buckets: s.buckets, Chains: s.chains, Cells: s.own, Stride: s.words, First: s.cells,
		Hi: uint64(s.g.Growth), Lo: uint64(s.g.Remainder), Payload: uint64(s.payload),
	}
}

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe { return f.walk.Probe() }

// Has reports whether the key with hash h may be in the set. It does not allocate.
func (f *arrays) Has(h filter.Hash) bool {
	end := f.walk.Has(h.Hi, h.Lo)
	return end == kernel.ChainCell || end == kernel.ChainBeyond && f.hasFar(h)
}

// hasFar is Has in a bucket with extensions.
func (f *arrays) hasFar(h filter.Hash) bool {
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	_, ok := u.findCell(chain, remainder)
	return ok
}

// HasMany sets dst[i] to Has(hs[i]) for every i; see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.table), dst, hs, f.prefetch, f.hasEach)
}

// prefetch requests the indexes of the buckets of at most probe.BatchSize keys from memory.
func (a *arrays) prefetch(hs []filter.Hash) {
	var at [probe.BatchSize]uint64
	for i, h := range hs {
		b, chain, _ := a.walk.Locate(h.Hi, h.Lo)
		at[i] = b*a.words + chain/64
	}
	bitvec.Prefetch(a.table, at[:len(hs)])
}

// hasEach sets dst[i] to Has(hs[i]) for every i.
func (f *Filter) hasEach(dst []bool, hs []filter.Hash) {
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	for i, h := range hs {
		dst[i] = f.Has(h)
	}
}

// Get returns the value of the key with hash h, and whether the key may be in the set. The value is 0 if the key is
// absent or the filter has no values.
func (f *arrays) Get(h filter.Hash) (value uint64, ok bool) {
	_, remainder, _, _, cell, end := f.walk.Follow(h.Hi, h.Lo)
	if end == kernel.ChainBeyond {
		b, chain, _ := f.walk.Locate(h.Hi, h.Lo)
		u := f.bucket(b)
		var c uint64
		if c, ok = u.findCell(chain, remainder); ok {
			cell = u.cellValue(c)
		}
	} else {
		ok = end == kernel.ChainCell && cell>>f.payload == remainder
	}

	if !ok || f.g.Counting {
		return 0, ok
	}
	return cell & (1<<f.payload - 1), true
}

// Count returns how often the key with hash h was added, less how often it was removed. Keys with the same bucket,
// chain and remainder count together. saturated is always false: a full counter continues in another cell.
func (f *arrays) Count(h filter.Hash) (n uint64, saturated bool) {
	base, remainder, _, c, cell, end := f.walk.Follow(h.Hi, h.Lo)
	for end == kernel.ChainCell && cell>>f.payload == remainder {
		n += f.counts(cell)
		at := f.chains + c
		if bitvec.Bit(f.table, 64*base+at)&1 == 0 {
			return n, false
		}
		if c = f.walk.Rank(base, at); c >= f.own { // the chain continues in an extension: count again from its start
			return f.countFar(h), false
		}
		cell = f.walk.Cell(base, c)
	}

	if end == kernel.ChainBeyond {
		return f.countFar(h), false
	}
	return n, false
}

// counts returns the number of additions that a cell stands for.
func (f *arrays) counts(cell uint64) uint64 {
	if f.g.Counting {
		return cell&(1<<counterBits-1) + 1 // a cell in use counts at least one, so 0 stands for 1
	}
	return 1
}

// countFar is Count in a bucket with extensions.
func (f *arrays) countFar(h filter.Hash) (n uint64) {
	b, chain, remainder := f.walk.Locate(h.Hi, h.Lo)
	u := f.bucket(b)
	for at := chain; u.indexBit(at); {
		c := u.rankOf(at)
		cell := u.cellValue(c)
		if cell>>f.payload > remainder { // chains are sorted by remainder
			return n
		}
		if cell>>f.payload == remainder {
			n += f.counts(cell)
		}
		at = f.chains + c
	}
	return n
}

// Geometry returns the sizes of the filter's parts.
func (f *Filter) Geometry() Geometry { return f.g }

// Info describes the filter. Fill is the share of all cells that are in use, the cells of free extensions included in
// the total. The posterior rate follows from the number of cells in use, the prior one from the number of keys.
func (f *Filter) Info() filter.Info { return f.infoWith(f.tally) }

// infoWith returns the Info of a filter with these counts.
func (f *arrays) infoWith(n tally) filter.Info {
	i := filter.Info{
		Spec: f.g.Spec(), Keys: n.keys, Capacity: f.g.Capacity, Bits: f.g.Bits(),
		Fill: float64(n.used) / float64(f.g.allCells()), FPRPrior: f.g.FPR(n.keys), FPRPosterior: f.g.posterior(n.used),
	}
	for _, p := range f.pools[1:] {
		i.Pools = append(i.Pools, filter.Pool{Size: p.size, Used: p.recordsInUse()})
	}
	return i
}

// posterior returns the rate that follows from the number of cells in use. In the counting form no two cells of a chain
// have the same remainder, unless the counter of one is full; in the other forms remainders repeat as often as random
// ones.
func (g Geometry) posterior(used uint64) float64 {
	if g.Counting {
		return min(1, float64(used)/g.fingerprints())
	}
	return g.FPR(used)
}

// fingerprints returns the number of possible triples (bucket, chain, remainder).
func (g Geometry) fingerprints() float64 {
	return float64(g.Buckets) * float64(g.Chains) * math.Ldexp(1, g.Remainder+g.Growth)
}

// FPR returns the predicted false-positive rate, in [0, 1], while this number of cells is in use: the probability
// 1-exp(-λ/2^r), with λ = cells/(B·L), that an absent key has the bucket, chain and remainder of a cell (section
// II of the paper).
func (g Geometry) FPR(cells uint64) float64 {
	return -math.Expm1(-float64(cells) / g.fingerprints())
}

var _ interface {
	family.Adder
	family.Remover
	family.Counter
	family.Valuer
	family.Sharer
} = (*Filter)(nil)
