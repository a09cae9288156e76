package dleft

import (
	"math"
	"math/bits"
)

// FPR returns p_b, the predicted false-positive probability, in [0, 1], of a table with that many buckets per subtable
// and bits per remainder after n distinct keys were added. There are M = buckets·(2^remainder - 1) equally likely
// values. An absent key is a false positive if one of the n keys has its value: p = 1-(1-1/M)^n, which is below n/M. At
// 24 keys per bucket n/M is the 24·2^-remainder of Bonomi et al., except that one remainder stands for empty cells.
// buckets must not be 0.
func FPR(n, buckets uint64, remainder uint) float64 {
	m := float64(buckets) * float64(uint64(1)<<remainder-1)
	return -math.Expm1(float64(n) * math.Log1p(-1/m))
}

// values returns M.
func (g geometry) values() float64 { return float64(g.buckets) * float64(g.remainders()) }

// remainderFor returns the smallest number of bits whose rate at capacity is at most p, or MaxRemainder+1 if there is
// none.
func (g geometry) remainderFor(p float64) uint {
	r := uint(MinRemainder)
	for r <= MaxRemainder && FPR(g.capacity, g.buckets, r) > p {
		r++
	}
	return r
}

// sampled is the number of buckets that distinct reads in a larger table.
const sampled = 1 << 16

// distinct returns the share of the cells in use whose value no earlier cell holds. Thus p_a is the number of different
// values divided by M: keys that look alike have several cells but one value. In a large table it reads a sample of the
// buckets of each subtable, evenly spaced.
func (f *Filter) distinct() float64 {
	step := max(1, subtables*f.buckets/sampled)
	var used, first uint64
	for i := range uint64(subtables) {
		for j := uint64(0); j < f.buckets; j += step {
			at := (i*f.buckets + j) * f.width() * 8
			for set := ^f.match(at, 0) & 255; set != 0; set &= set - 1 {
				used++
				if f.first(i, j, bits.TrailingZeros64(set)) {
					first++
				}
			}
		}
	}
	if used == 0 {
		return 1 // none of the buckets that were read has a key
	}
	return float64(first) / float64(used)
}

// first reports whether no cell before this one, of bucket j of subtable i, holds the same value.
func (f *Filter) first(i, j uint64, cell int) bool {
	r := f.at((i*f.buckets+j)*f.width()*8, cell)
	p := f.places(f.back(i, j, r), r)
	for _, at := range p.at[:i] {
		if f.match(at, r) != 0 {
			return false
		}
	}
	return f.match(p.at[i], r)&(1<<cell-1) == 0
}

// at returns the remainder in a cell of the bucket at bit at.
func (f *Filter) at(at uint64, cell int) (r uint64) {
	for j := range f.remainder {
		r |= f.slice(at, j) >> cell & 1 << j
	}
	return r
}
