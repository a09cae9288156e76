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

// solveTail writes the tail for the keys, at most maxTail.
func (f *Filter) solveTail(hs []filter.Hash) error {
	f.slots = uint64(len(hs))
	f.tail = make([]uint64, (f.tailBits()+63)/64)
	for seed := range uint64(maxSeed + 1) {
		if rows, ok := f.eliminate(hs, seed); ok {
			f.tailSeed = seed
			f.substitute(rows)
			return nil
		}
	}
	return fmt.Errorf("ribbon: no tail for %d keys: %w", len(hs), errHashes)
}

// eliminate returns the rows of the tail in echelon form: the lowest coefficient of row i that is set is that of slot
// i, and an empty row has none. It returns false if the equations contradict each other.
func (f *Filter) eliminate(hs []filter.Hash, seed uint64) (rows []dense, ok bool) {
	rows = make([]dense, f.slots)
	mask := uint64(1)<<f.tailColumns() - 1
	for _, h := range hs {
		k := keyOf(h, f.valueBits)
		r := dense{result: k.print()<<f.valueBits | h.Lo&(1<<f.valueBits-1)}
		for at := uint64(0); at < f.slots; at += 64 {
			r.c[at/64] = k.tailWord(seed, at/64)
		}
		if rest := f.slots % 64; rest != 0 {
			r.c[f.slots/64] &= 1<<rest - 1
		}
		for {
			pivot := r.pivot()
			if pivot < 0 {
				if r.result&mask != 0 {
					return nil, false
				}
				break
			}
			if rows[pivot].pivot() < 0 {
				rows[pivot] = r
				break
			}
			r.add(&rows[pivot])
		}
	}
	return rows, true
}

// pivot returns the lowest slot with a coefficient, or -1.
func (r *dense) pivot() int {
	for i, w := range r.c {
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return -1
}

func (r *dense) add(o *dense) {
	for i := range r.c {
		r.c[i] ^= o.c[i]
	}
	r.result ^= o.result
}

// substitute computes the slots from the last one to the first and writes the columns.
func (f *Filter) substitute(rows []dense) {
	values := make([]uint64, len(rows)) // of a slot: all columns
	for i := len(rows) - 1; i >= 0; i-- {
		v := rows[i].result
		for j := i + 1; j < len(rows); j++ {
			if rows[i].c[j/64]>>(j%64)&1 != 0 {
				v ^= values[j]
			}
		}
		if rows[i].pivot() < 0 {
			v = 0
		}
		values[i] = v
		for c := range uint64(f.tailColumns()) {
			bitvec.SetField(f.tail, c*f.slots+uint64(i), 1, v>>c&1)
		}
	}
}
