// Package dleft implements the d-left fingerprint table of F. Bonomi, M. Mitzenmacher, R. Panigrahy, S. Singh and G.
// Varghese ("An improved construction for counting Bloom filters", ESA 2006), with which the paper on rank-indexed
// hashing compares its filter. It has four subtables of B buckets of 8 cells. A key has one bucket in each subtable and
// is stored in a cell of the bucket with the fewest keys; on a tie, of the leftmost of these buckets. With 24·B keys a
// bucket holds 6 on average.
//
//	Hash Lo -> bucket b = ⌊Lo·B / 2^64⌋, in [0, B)
//	Hash Hi -> remainder r = 1 + ⌊Hi·R / 2^64⌋, in [1, R], R = 2^bits - 1; 0 is an empty cell
//
// As in the paper, a key is first reduced to the pair (b, r), and each subtable permutes these pairs. Keys that collide
// in one subtable then collide in all, so that a removal never clears the cell of another key. The paper multiplies by
// odd numbers modulo a power of two. This table adds to b an amount that depends only on the remainder and the
// subtable, which is a permutation for every B.
//
// In the counting form, each cell also has a counter of 2 bits: the number of copies of its key, minus 1. A fifth copy
// is stored in another cell.
package dleft

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

const (
	subtables     = 4
	cells         = 8  // cells per bucket
	keysPerBucket = 24 // keys at capacity per bucket of each subtable: 6 per bucket on average
	counterBits   = 2
	copies        = 1 << counterBits // the most copies in a cell of the counting form
	maxRemainder  = 32
)

// Filter is a d-left fingerprint table. Any number of goroutines may read it at once; Add needs exclusive use.
type Filter struct {
	buckets   uint64   // buckets per subtable
	remainder uint     // bits per remainder
	counter   uint     // bits per counter, 0 or counterBits
	words     []uint64 // cells of remainder+counter bits, bucket by bucket, subtable 0 first
	keys      uint64   // additions
}

// New returns an empty filter for the given number of keys, at least 1. Its remainders are the shortest with a
// false-positive rate of at most fpr. New returns an error if the rate needs remainders of more than 32 bits.
func New(keys uint64, fpr float64, counting bool) (*Filter, error) {
	f := &Filter{buckets: (keys-1)/keysPerBucket + 1, remainder: 1}
	for f.rate(keys) > fpr {
		if f.remainder++; f.remainder > maxRemainder {
			return nil, fmt.Errorf("d-left table: remainders of %d bits do not keep a rate of %g", maxRemainder, fpr)
		}
	}
	if counting {
		f.counter = counterBits
	}
	f.words = make([]uint64, (subtables*f.buckets*cells*uint64(f.remainder+f.counter)+63)/64)
	return f, nil
}

// rate returns the predicted false-positive rate of a filter that holds the given number of keys: 1-(1-1/M)^keys for M
// = B·R equally likely pairs. At capacity this is below 24/R. The paper gives 24·2^-bits, because its remainders can be
// 0.
func (f *Filter) rate(keys uint64) float64 {
	return -math.Expm1(float64(keys) * math.Log1p(-1/(float64(f.buckets)*float64(f.remainders()))))
}

// remainders returns R.
func (f *Filter) remainders() uint64 { return 1<<f.remainder - 1 }

// place is the first cells of the four buckets of a key, and its remainder.
type place struct {
	first     [subtables]uint64
	remainder uint64
}

func (f *Filter) placeOf(h filter.Hash) (p place) {
	b := probe.Position(h.Lo, f.buckets)
	p.remainder = 1 + probe.Position(h.Hi, f.remainders())
	for i := range uint64(subtables) {
		bucket := b
		if i > 0 {
			bucket = (b + probe.Position(probe.Remix(p.remainder, i), f.buckets)) % f.buckets
		}
		p.first[i] = (i*f.buckets + bucket) * cells
	}
	return p
}

// cell returns the remainder in a cell and, if it is not 0, the number of its copies.
func (f *Filter) cell(i uint64) (remainder, n uint64) {
	v := bitvec.Field(f.words, i*uint64(f.remainder+f.counter), f.remainder+f.counter)
	return v & f.remainders(), v>>f.remainder + 1
}

// setCell stores a remainder with n copies. n = 0, which only tests use, empties the cell.
func (f *Filter) setCell(i, remainder, n uint64) {
	v := uint64(0)
	if n > 0 {
		v = remainder | (n-1)<<f.remainder
	}
	bitvec.SetField(f.words, i*uint64(f.remainder+f.counter), f.remainder+f.counter, v)
}

// Has reports whether the key may be in the set.
func (f *Filter) Has(h filter.Hash) bool {
	p := f.placeOf(h)
	for _, first := range p.first {
		for i := first; i < first+cells; i++ {
			if r, _ := f.cell(i); r == p.remainder {
				return true
			}
		}
	}
	return false
}

// Add adds a key once more. It returns an error wrapping filter.ErrFull and changes nothing if the four buckets of the
// key are full.
func (f *Filter) Add(h filter.Hash) error {
	p := f.placeOf(h)
	best, most := uint64(0), 0 // the first free cell of the bucket with the most of them
	for _, first := range p.first {
		free, n := uint64(0), 0
		for i := first; i < first+cells; i++ {
			switch r, held := f.cell(i); {
			case r == 0:
				free = i
				n++
			case r == p.remainder && f.counter > 0 && held < copies:
				f.setCell(i, r, held+1)
				f.keys++
				return nil
			}
		}
		if n > most {
			best, most = free, n
		}
	}
	if most == 0 {
		return fmt.Errorf("d-left table with %d keys: the four buckets of a key are full: %w", f.keys, filter.ErrFull)
	}

	f.setCell(best, p.remainder, 1)
	f.keys++
	return nil
}

// Info counts the cells in use. Its posterior rate counts colliding keys once.
func (f *Filter) Info() filter.Info {
	all := subtables * f.buckets * cells
	pairs := map[[2]uint64]bool{}
	used := uint64(0)
	for i := range all {
		r, _ := f.cell(i)
		if r == 0 {
			continue
		}
		used++
		pairs[[2]uint64{f.pairBucket(i, r), r}] = true
	}
	return filter.Info{
		Spec:         family.NewSpec("dleft", "buckets", f.buckets, "remainder", f.remainder),
		Keys:         f.keys,
		Bits:         all * uint64(f.remainder+f.counter),
		Fill:         float64(used) / float64(all),
		FPRPrior:     f.rate(f.keys),
		FPRPosterior: float64(len(pairs)) / (float64(f.buckets) * float64(f.remainders())),
	}
}

// pairBucket returns the b of the keys with the given remainder in a cell. It inverts the permutation of the subtable.
func (f *Filter) pairBucket(cell, remainder uint64) uint64 {
	subtable, bucket := cell/cells/f.buckets, cell/cells%f.buckets
	if subtable == 0 {
		return bucket
	}
	turn := probe.Position(probe.Remix(remainder, subtable), f.buckets)
	return (bucket + f.buckets - turn) % f.buckets
}

// Encode returns the words of all cells. No file format contains a d-left table: Encode only serves to compare sizes.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Keys: f.keys, Sections: [][]uint64{f.words}}
}
