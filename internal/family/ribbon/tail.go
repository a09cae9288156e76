package ribbon

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// dense is an equation of the tail: coefficients of up to maxTail slots.
type dense struct {
	c      [maxTail / 64]uint64
	result uint64
}

// solveTail writes the tail for the keys. The tail has as many slots as keys, so that a random system has a solution
// with a probability of only about 0.3: solveTail tries one seed after the other.
func (f *Filter) solveTail(hs []filter.Hash) error {
	f.tail = make([]uint64, (f.tailBits()+63)/64)
	rows := make([]dense, len(hs))
	for seed := range uint64(maxSeed + 1) {
		if f.eliminate(rows, hs, seed) {
			f.tailSeed = seed
			f.substitute(rows)
			return nil
		}
	}
	return fmt.Errorf("ribbon: no tail for %d keys: %w", len(hs), errHashes)
}

// eliminate writes the rows of the tail in echelon form: the lowest coefficient of row i that is set is the coefficient
// of slot i, and an empty row has none. It returns false if the equations contradict each other.
func (f *Filter) eliminate(rows []dense, hs []filter.Hash, seed uint64) bool {
	clear(rows)
	mask := uint64(1)<<f.tailColumns() - 1
	words := int(f.slots+63) / 64
	for _, h := range hs {
		k := keyOf(h, f.valueBits)
		r := dense{result: k.fingerprint()<<f.valueBits | h.Lo&(1<<f.valueBits-1)}
		for i := range words {
			r.c[i] = k.tailWord(seed, uint64(i))
		}
		if rest := f.slots % 64; rest != 0 {
			r.c[words-1] &= 1<<rest - 1
		}
		if !r.insert(rows, words) && r.result&mask != 0 {
			return false
		}
	}
	return true
}

// insert eliminates with the other rows and stores r at its lowest remaining coefficient. It returns false if the
// equations contradict each other.
func (r *dense) insert(rows []dense, words int) bool {
	for i := 0; i < words; {
		if r.c[i] == 0 {
			i++
			continue
		}
		o := &rows[64*i+bits.TrailingZeros64(r.c[i])]
		if o.c[i] == 0 { // an empty row: a row in use has the bit of its own slot
			*o = *r
			return true
		}
		for j := i; j < words; j++ {
			r.c[j] ^= o.c[j]
		}
		r.result ^= o.result
	}
	return false
}

// substitute computes the slots from the last one to the first and writes the columns. A slot without a row is 0.
func (f *Filter) substitute(rows []dense) {
	columns := uint64(f.tailColumns())
	var solved [2 * MaxBits][maxTail / 64]uint64 // of a column: the slots
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		for c := range columns {
			s := &solved[c]
			ones := r.c[0]&s[0] ^ r.c[1]&s[1] ^ r.c[2]&s[2] ^ r.c[3]&s[3]
			bit := parity(ones) ^ r.result>>c&1
			s[i/64] |= bit << (i % 64)
			if bit != 0 {
				bitvec.SetField(f.tail, c*f.slots+uint64(i), 1, 1)
			}
		}
	}
}
