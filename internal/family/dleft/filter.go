// Package dleft is the d-left fingerprint table of F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh and G. Varghese
// ("An improved construction for counting Bloom filters", ESA 2006): a filter whose keys can be removed, in less than
// half the memory of a counting Bloom filter. It has four subtables of B buckets of 8 cells. A key has one bucket in
// each subtable and goes into a cell of the one with the fewest keys, the leftmost of equals. With 24·B keys a bucket
// holds 6 on average and does not run out of its 8 cells: in the fluid limit one of 2·10^9 buckets of subtable 0 gets
// eight keys, and a share below 1e-100 would need a ninth cell (TestFluidLimit; TestCapacity fills real tables).
//
//	           subtable 0           subtable 1           subtable 2           subtable 3
//	        0 ┌────────┐           ┌────────┐           ┌────────┐           ┌────────┐
//	          │■■■■■■··│           │■■■■■···│  b+g₁(r)  │■■■■■■■·│           │■■■■■■··│
//	  b ────▶ │■■■■■■··│           │■■■■■■■·│ ────────▶ │■■■■■■··│           │■■■■■···│ ◀──── b+g₃(r)
//	          │■■■■■■■·│           │■■■■■■··│           │■■■■■···│ ◀─ b+g₂(r)│■■■■■■··│
//	      B-1 └────────┘           └────────┘           └────────┘           └────────┘
//
//	Hash Lo -> bucket b = ⌊Lo·B / 2^64⌋, in [0, B)
//	Hash Hi -> remainder r = 1 + ⌊Hi·R / 2^64⌋, in [1, R], R = 2^bits - 1
//
// # The permutations
//
// A cell stores only the remainder of a key. If the four buckets of a key were independent, two keys with the same
// remainder could share their bucket in one subtable and differ in the others. Removing one key could then clear the
// cell of the other and leave its own: the other key would be lost. Therefore, as in the paper, a key is first reduced
// to one value, the pair (b, r), and each subtable permutes these values. Keys that look alike in one subtable look
// alike in all; their cells are copies of each other, and it does not matter which one is cleared. The paper multiplies
// by odd numbers modulo a power of two. We add to b an amount that depends only on the remainder and the subtable,
//
//	P_i(b, r) = ((b + g_i(r)) mod B, r),   g_0 = 0,   g_i(r) = ⌊mix(r, i)·B / 2^64⌋,
//
// one round of a Feistel network. It is a permutation for every B, needs no division, and leaves one remainder to
// compare with. Nothing is stored for it.
//
// # Cells
//
// A cell with remainder 0 is empty. No key has that remainder; the 2^bits - 1 others are equally likely, which the rate
// takes into account (fpr.go). In the counting form a cell has 2 more bits, the number of its copies less 1; a fifth
// copy takes another cell. In the plain form each copy takes a cell, so that a key can be added at most 32 times.
//
// The bits of a bucket are sliced: its byte j holds bit j of the eight remainders, that of cell c in bit c. Two bytes
// of counter bits follow. Thus one exclusive or of 64 bits compares eight bits of all eight cells.
package dleft

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/kernel"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: dleft(buckets=4167,capacity=100000,remainder=12).
const Family = "dleft"

const (
	subtables   = 4
	cells       = 8  // of a bucket
	load        = 24 // keys per bucket of a subtable at capacity: 6 per bucket on average
	counterBits = 2
	copies      = 1 << counterBits // the most in a cell of the counting form

	// MinRemainder and MaxRemainder bound the bits of a remainder.
	MinRemainder = 4
	MaxRemainder = 32
)

// errNotFound is the error of Remove; made once so that Remove allocates nothing.
var errNotFound = fmt.Errorf("dleft: %w", filter.ErrNotFound)

// Filter is a d-left fingerprint table. Any number of goroutines may read it at once; Add and Remove need exclusive
// use. Concurrent is the form for concurrent writers.
type Filter struct {
	geometry
	words []uint64 // bucket j of subtable i is at byte (i·buckets + j)·width; a word of zeros or more follows the last
	keys  uint64   // additions less removals: the copies in all cells

	query  kernel.Cells // of the same words, if vector is true
	vector bool
}

// hold makes the kernel of the words.
func (f *Filter) hold() *Filter {
	f.query, f.vector = kernel.NewCells(f.words, f.buckets, f.width(), f.remainder)
	return f
}

// geometry is the sizes of a filter.
type geometry struct {
	buckets   uint64 // of a subtable
	capacity  uint64 // the number of keys that it was sized for
	remainder uint   // bits
	counter   uint   // bits, 0 or counterBits
}

// width returns the number of bits of a cell, which is also the number of bytes of a bucket.
func (g geometry) width() uint64 { return uint64(g.remainder + g.counter) }

// remainders returns R, the number of different remainders.
func (g geometry) remainders() uint64 { return 1<<g.remainder - 1 }

// place is where a key may be: its four buckets, as positions of their first bits in words, and its remainder.
type place struct {
	at        [subtables]uint64
	remainder uint64
}

// place returns the buckets and the remainder of a key.
func (g geometry) place(h filter.Hash) place {
	return g.places(probe.Position(h.Lo, g.buckets), 1+probe.Position(h.Hi, g.remainders()))
}

// places returns the four permutations of bucket b and remainder r.
func (g geometry) places(b, r uint64) (p place) {
	p.remainder = r
	width := g.width() * 8
	p.at[0] = b * width
	p.at[1] = (g.buckets + g.turned(b, 1, r)) * width
	p.at[2] = (2*g.buckets + g.turned(b, 2, r)) * width
	p.at[3] = (3*g.buckets + g.turned(b, 3, r)) * width
	return p
}

// turned returns (b + g_i(r)) mod B for subtable i, 1 to 3.
func (g geometry) turned(b, i, r uint64) uint64 {
	j := b + g.turn(i, r)
	if j >= g.buckets {
		j -= g.buckets
	}
	return j
}

// turn returns g_i(r) for subtable i, 1 to 3.
func (g geometry) turn(i, r uint64) uint64 { return probe.Position(probe.Remix(r, i), g.buckets) }

// back returns the b of a key with remainder r in bucket j of subtable i.
func (g geometry) back(i, j, r uint64) uint64 {
	if i > 0 {
		if t := g.turn(i, r); j >= t {
			j -= t
		} else {
			j += g.buckets - t
		}
	}
	return j
}

// spread returns the 8 low bits of r as bytes of 0 or 255, the lowest bit first.
func spread(r uint64) uint64 {
	r = r & 255 * 0x0101010101010101 & 0x8040201008040201 // bit i in byte i
	r = (r + 0x7f7f7f7f7f7f7f7f) & 0x8080808080808080     // in the highest bit of its byte: no sum is above 255
	return r >> 7 * 255
}

// fold returns the or of the eight bytes of w.
func fold(w uint64) uint64 {
	w |= w >> 32
	w |= w >> 16
	return (w | w>>8) & 255
}

// Has reports whether the key may be in the set, that is whether a cell of its buckets holds its remainder.
func (f *Filter) Has(h filter.Hash) bool {
	if f.vector {
		return f.query.Has(h.Hi, h.Lo)
	}
	p := f.place(h)
	return f.holds(&p)
}

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe {
	if f.vector {
		return f.query.Probe()
	}
	return kernel.Probe{}
}

// holds reports whether a cell of these buckets holds this remainder. It is the specification of kernel.Cells.
func (f *Filter) holds(p *place) bool {
	if rest := f.remainder - 8; rest <= 8 {
		// The usual lengths, 8 to 16 bits: compare the first eight slices and the last eight, which may overlap.
		low, high, second := spread(p.remainder), spread(p.remainder>>rest), uint64(8*rest)
		all := fold((bitvec.Load57(f.words, p.at[0]) ^ low) | (bitvec.Load57(f.words, p.at[0]+second) ^ high))
		all &= fold((bitvec.Load57(f.words, p.at[1]) ^ low) | (bitvec.Load57(f.words, p.at[1]+second) ^ high))
		all &= fold((bitvec.Load57(f.words, p.at[2]) ^ low) | (bitvec.Load57(f.words, p.at[2]+second) ^ high))
		all &= fold((bitvec.Load57(f.words, p.at[3]) ^ low) | (bitvec.Load57(f.words, p.at[3]+second) ^ high))
		return all != 255
	}
	for _, at := range p.at {
		if f.match(at, p.remainder) != 0 {
			return true
		}
	}
	return false
}

// match returns a bit for each cell of the bucket at bit at that holds the remainder r. With r = 0 these are the empty
// cells.
func (f *Filter) match(at, r uint64) uint64 {
	var differ uint64
	left := f.remainder
	for ; left > 8; left -= 8 {
		differ |= bitvec.Load57(f.words, at) ^ spread(r)
		r >>= 8
		at += 64
	}
	differ |= (bitvec.Load57(f.words, at) ^ spread(r)) & (1<<(8*left) - 1)
	return ^fold(differ) & 255
}

// slice returns byte j of the bucket at bit at: bit j of each of the eight cells.
func (f *Filter) slice(at uint64, j uint) uint64 {
	at += 8 * uint64(j)
	return f.words[at/64] >> (at % 64) & 255
}

// flip inverts bit j of a cell of the bucket at bit at.
func (f *Filter) flip(at uint64, j uint, cell int) {
	at += 8*uint64(j) + uint64(cell)
	f.words[at/64] ^= 1 << (at % 64)
}

// full returns a bit for each cell of the bucket at bit at that has no room for another copy.
func (f *Filter) full(at uint64) uint64 {
	if f.counter == 0 {
		return 255
	}
	return f.slice(at, f.remainder) & f.slice(at, f.remainder+1)
}

// copiesIn returns the number of copies in some cells of the bucket at bit at: those that have a bit in set.
func (f *Filter) copiesIn(at, set uint64) uint64 {
	n := bits.OnesCount64(set)
	if f.counter != 0 {
		n += bits.OnesCount64(set&f.slice(at, f.remainder)) + 2*bits.OnesCount64(set&f.slice(at, f.remainder+1))
	}
	return uint64(n)
}

// Count returns how often the key was added, or more: the copies of all keys that look like it. It is never saturated.
func (f *Filter) Count(h filter.Hash) (n uint64, saturated bool) {
	p := f.place(h)
	return f.copiesOf(&p), false
}

// copiesOf returns the number of copies of a key.
func (f *Filter) copiesOf(p *place) (n uint64) {
	for _, at := range p.at {
		n += f.copiesIn(at, f.match(at, p.remainder))
	}
	return n
}

// Add adds a key once more. It returns an error wrapping filter.ErrFull and changes nothing if all cells of the key's
// four buckets are in use.
func (f *Filter) Add(h filter.Hash) error {
	p := f.place(h)
	if !f.add(&p) {
		return f.errFull(f.keys)
	}
	f.keys++
	return nil
}

// errFull returns the error of Add for a full filter with that number of keys.
func (g geometry) errFull(keys uint64) error {
	return fmt.Errorf("dleft with %d keys, sized for %d: the four buckets of a key are full: %w",
		keys, g.capacity, filter.ErrFull)
}

// add adds a copy of a key. It reports false and changes nothing if there is no room. It does not count the key.
func (f *Filter) add(p *place) bool {
	if f.counter != 0 {
		for _, at := range p.at {
			if some := f.match(at, p.remainder) &^ f.full(at); some != 0 {
				f.addCopy(at, bits.TrailingZeros64(some))
				return true
			}
		}
	}
	var best, free uint64
	for _, at := range p.at {
		if empty := f.match(at, 0); bits.OnesCount64(empty) > bits.OnesCount64(free) {
			best, free = at, empty
		}
	}
	if free == 0 {
		return false
	}
	f.set(best, bits.TrailingZeros64(free), p.remainder)
	return true
}

// set inverts the bits of a cell where r has a 1: it fills an empty cell with r and clears a cell that holds r.
func (f *Filter) set(at uint64, cell int, r uint64) {
	for j := range f.remainder {
		at := at + 8*uint64(j) + uint64(cell)
		f.words[at/64] ^= r >> j & 1 << (at % 64)
	}
}

// addCopy counts another copy in a cell that is not full.
func (f *Filter) addCopy(at uint64, cell int) {
	if f.slice(at, f.remainder)>>cell&1 != 0 {
		f.flip(at, f.remainder+1, cell) // 1 becomes 2, and the other bit 0
	}
	f.flip(at, f.remainder, cell)
}

// Remove undoes one Add of h. It returns an error wrapping filter.ErrNotFound and changes nothing if no cell of the
// key's buckets holds its remainder. Removing a key that was never added but looks like a present one succeeds and
// makes that one absent: remove only what was added.
func (f *Filter) Remove(h filter.Hash) error {
	p := f.place(h)
	if !f.remove(&p) {
		return errNotFound
	}
	f.keys--
	return nil
}

// remove removes a copy of a key. It reports false and changes nothing if there is none. It does not count the key.
func (f *Filter) remove(p *place) bool {
	var at, found uint64
	for _, a := range p.at {
		match := f.match(a, p.remainder)
		if match == 0 {
			continue
		}
		at, found = a, match
		// There is at most one such cell: Remove takes copies from where Add put the last one.
		if some := match &^ f.full(a); some != 0 {
			found = some
			break
		}
	}
	if found == 0 {
		return false
	}
	cell := bits.TrailingZeros64(found)
	if f.copiesIn(at, 1<<cell) == 1 {
		f.set(at, cell, p.remainder)
	} else {
		if f.slice(at, f.remainder)>>cell&1 == 0 {
			f.flip(at, f.remainder+1, cell)
		}
		f.flip(at, f.remainder, cell)
	}
	return true
}

// Info counts the cells in use, which reads the whole filter.
func (f *Filter) Info() filter.Info {
	used, _ := f.count()
	return filter.Info{
		Spec:         f.spec(),
		Keys:         f.keys,
		Bits:         f.cells() * f.width(),
		Fill:         float64(used) / float64(f.cells()),
		Capacity:     f.capacity,
		FPRPrior:     FPR(f.keys, f.buckets, f.remainder),
		FPRPosterior: min(1, float64(used)*f.distinct()/f.values()),
	}
}

// cells returns the number of all cells.
func (g geometry) cells() uint64 { return subtables * cells * g.buckets }

// count returns the number of cells in use, and of the copies in them.
func (f *Filter) count() (used, all uint64) {
	for i := range subtables * f.buckets {
		at := i * f.width() * 8
		set := ^f.match(at, 0) & 255
		used += uint64(bits.OnesCount64(set))
		all += f.copiesIn(at, set)
	}
	return used, all
}
