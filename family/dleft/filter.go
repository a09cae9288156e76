// Package dleft is the d-left fingerprint table of F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh and G. Varghese ("An
// improved construction for counting Bloom filters", ESA 2006), a filter whose keys can be removed, in less than half the
// memory of a counting Bloom filter. Four subtables of B buckets of 8 cells each; a key goes into one cell of the least loaded
// of its four buckets, one a subtable, the leftmost of equals. At 24 B keys a bucket holds 6 on average, and none needs a
// ninth cell: in the fluid limit one of 2·10^9 buckets of subtable 0 has eight keys, and nine have less than 1e-100
// (TestFluidLimit; TestCapacity fills real tables).
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
// A cell remembers a key by its remainder alone. Were the four buckets of a key independent of each other, two keys of the
// same remainder could meet in one subtable and differ in the others; a removal of one would find the other's cell there,
// take it, and leave its own: the other key is lost. So, as the paper has it, a key is first reduced to one
// value, the pair (b, r), and each subtable permutes these values: keys that look alike in one subtable look alike in all, their
// cells are copies of each other, and it does not matter which of them goes. The paper multiplies with odd numbers modulo a
// power of two. We turn b by an amount that only the remainder and the subtable determine,
//
//	P_i(b, r) = ((b + g_i(r)) mod B, r),   g_0 = 0,   g_i(r) = ⌊mix(r, i)·B / 2^64⌋,
//
// one round of a Feistel network, which is a permutation for every B, takes no division, and leaves one remainder to look
// for. Nothing is stored for it.
//
// # Cells
//
// A cell whose remainder is 0 is empty. No key has that remainder, so all others are equally likely: 2^bits - 1 of them, which
// the rate counts (fpr.go). In the counting form a cell has 2 bits more, the number of its copies less 1, and a fifth copy takes
// another cell. In the plain form each copy takes a cell, so that 32 of one key are the most there can be.
//
// The bits of a bucket are sliced: byte j of it has bit j of the eight remainders, cell c in bit c, and behind them come two
// bytes of counter bits. Eight bits of eight cells are then compared by one exclusive or of 64 bits, whatever their number.
package dleft

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: dleft(buckets=4167,capacity=100000,remainder=12).
const Family = "dleft"

const (
	subtables   = 4
	cells       = 8  // of a bucket
	load        = 24 // keys for each bucket of a subtable: 6 a bucket on average
	counterBits = 2
	copies      = 1 << counterBits // that a cell of the counting form holds

	// MinRemainder and MaxRemainder bound the bits of a remainder.
	MinRemainder = 4
	MaxRemainder = 32
)

// Filter is a d-left fingerprint table. Reads are safe from any number of goroutines; Add and Remove need exclusive use.
type Filter struct {
	geometry
	words []uint64 // bucket j of subtable i at byte (i·buckets + j)·width; zeros behind the last, a word of them at least
	keys  uint64   // additions less removals: the copies in all cells
}

// geometry is the shape of a filter.
type geometry struct {
	buckets   uint64 // of a subtable
	capacity  uint64 // keys that it was sized for
	remainder uint   // bits
	counter   uint   // bits, 0 or counterBits
}

// width returns the number of bits of a cell, which is the number of bytes of a bucket.
func (g geometry) width() uint64 { return uint64(g.remainder + g.counter) }

// remainders returns R, the number of different remainders.
func (g geometry) remainders() uint64 { return 1<<g.remainder - 1 }

// place is where a key may be: its four buckets, as bits of words, and its remainder.
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

// turned returns (b + g_i(r)) mod B, for a subtable i that is not the first.
func (g geometry) turned(b, i, r uint64) uint64 {
	j := b + g.turn(i, r)
	if j >= g.buckets {
		j -= g.buckets
	}
	return j
}

// turn returns g_i(r), for a subtable i that is not the first.
func (g geometry) turn(i, r uint64) uint64 { return probe.Position(probe.Remix(r, i), g.buckets) }

// back returns the b of a remainder in bucket j of subtable i.
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

// spread returns the 8 low bits of r as bytes, 0 or 255 each, the lowest first.
func spread(r uint64) uint64 {
	r = r & 255 * 0x0101010101010101 & 0x8040201008040201 // bit i in byte i
	r = (r + 0x7f7f7f7f7f7f7f7f) & 0x8080808080808080     // in its highest bit: no sum is above 255
	return r >> 7 * 255
}

// fold returns the or of the eight bytes of w.
func fold(w uint64) uint64 {
	w |= w >> 32
	w |= w >> 16
	return (w | w>>8) & 255
}

// Has reports whether the key may be in the set: whether a cell of its buckets holds its remainder.
func (f *Filter) Has(h filter.Hash) bool {
	p := f.place(h)
	return f.holds(&p)
}

// holds reports whether a cell of these buckets holds this remainder.
func (f *Filter) holds(p *place) bool {
	if rest := f.remainder - 8; rest <= 8 {
		// The usual lengths, 8 to 16 bits: the first eight slices and the last eight, some of them twice.
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

// match returns a bit for each cell of the bucket at bit at that holds the remainder; 0 stands for the empty cells.
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

// slice returns byte j of the bucket at bit at: bit j of the eight cells.
func (f *Filter) slice(at uint64, j uint) uint64 {
	at += 8 * uint64(j)
	return f.words[at/64] >> (at % 64) & 255
}

// flip inverts bit j of a cell of the bucket at bit at.
func (f *Filter) flip(at uint64, j uint, cell int) {
	at += 8*uint64(j) + uint64(cell)
	f.words[at/64] ^= 1 << (at % 64)
}

// full returns a bit for each cell of the bucket at bit at that can take no copy more.
func (f *Filter) full(at uint64) uint64 {
	if f.counter == 0 {
		return 255
	}
	return f.slice(at, f.remainder) & f.slice(at, f.remainder+1)
}

// copiesIn returns the copies in the cells of which set has a bit, of the bucket at bit at.
func (f *Filter) copiesIn(at, set uint64) uint64 {
	n := bits.OnesCount64(set)
	if f.counter != 0 {
		n += bits.OnesCount64(set&f.slice(at, f.remainder)) + 2*bits.OnesCount64(set&f.slice(at, f.remainder+1))
	}
	return uint64(n)
}

// Count returns how often the key was added, or more: the copies of all keys that look like it.
func (f *Filter) Count(h filter.Hash) (n uint64, saturated bool) {
	p := f.place(h)
	for _, at := range p.at {
		n += f.copiesIn(at, f.match(at, p.remainder))
	}
	return n, false
}

// Add puts a key into the set once more. It returns an error wrapping filter.ErrFull and changes nothing if all cells of the
// key's four buckets are taken.
func (f *Filter) Add(h filter.Hash) error {
	p := f.place(h)
	if f.counter != 0 {
		for _, at := range p.at {
			if some := f.match(at, p.remainder) &^ f.full(at); some != 0 {
				f.addCopy(at, bits.TrailingZeros64(some))
				f.keys++
				return nil
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
		return fmt.Errorf("dleft with %d keys, sized for %d: the four buckets of a key are full: %w", f.keys, f.capacity, filter.ErrFull)
	}
	f.set(best, bits.TrailingZeros64(free), p.remainder)
	f.keys++
	return nil
}

// set adds the bits of a remainder to those of a cell modulo 2: it fills an empty one and empties one that holds it.
func (f *Filter) set(at uint64, cell int, r uint64) {
	for j := range f.remainder {
		at := at + 8*uint64(j) + uint64(cell)
		f.words[at/64] ^= r >> j & 1 << (at % 64)
	}
}

// addCopy counts one copy more in a cell that is not full.
func (f *Filter) addCopy(at uint64, cell int) {
	if f.slice(at, f.remainder)>>cell&1 != 0 {
		f.flip(at, f.remainder+1, cell) // 1 becomes 2, and the other bit 0
	}
	f.flip(at, f.remainder, cell)
}

// Remove undoes one Add of h. It returns an error wrapping filter.ErrNotFound and changes nothing if no cell holds its
// remainder. Removing a key that was never added but looks like a present one succeeds and makes that one absent: remove only
// what was added.
func (f *Filter) Remove(h filter.Hash) error {
	p := f.place(h)
	var at, found uint64
	for _, a := range p.at {
		match := f.match(a, p.remainder)
		if match == 0 {
			continue
		}
		at, found = a, match
		if some := match &^ f.full(a); some != 0 { // one such cell at most: copies are taken from where Add put the last one
			found = some
			break
		}
	}
	if found == 0 {
		return fmt.Errorf("dleft: %w", filter.ErrNotFound)
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
	f.keys--
	return nil
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

// count returns how many cells are in use, and the copies in them.
func (f *Filter) count() (used, all uint64) {
	for i := range subtables * f.buckets {
		at := i * f.width() * 8
		set := ^f.match(at, 0) & 255
		used += uint64(bits.OnesCount64(set))
		all += f.copiesIn(at, set)
	}
	return used, all
}
