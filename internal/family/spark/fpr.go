package spark

import (
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// double returns the double hashing of a filter in which probes reach m bits.
func double(m uint64, k int, v Version) probe.Double {
	if v == V1 {
		return probe.Double{Bits: m, K: k, Word: 32, Pairs: 1, Falls: true, Probe: probe1}
	}
	return probe.Double{Bits: m, K: k, Word: 62, Pairs: 1, Probe: probe2}
}

// probe1 is probe.Probe of version 1. A position falls where the sum is negative.
func probe1(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	x := int32(start[0] + uint64(i)*step[0])
	return uint64(x^x>>31) % m, 0, x < 0
}

// probe2 is probe.Probe of version 2, whose sums stay far below 2^63. A negative sum is the mirror image of a positive
// one with the opposite step, which is as likely.
func probe2(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0]%m + uint64(i)*(step[0]%m)) % m, 0, false
}

// unevenBits is the number of bits from which version 1 counts that positions are not equally likely.
const unevenBits = 1 << 20

// uneven describes the positions of version 1 among m: the 2^31 values of a probe are divided among them, so that the
// first few positions have one value more than the others, of which each has the given number.
func uneven(m uint64) (few, values uint64) { return (1 << 31) % m, (1 << 31) / m }

// prior returns the predicted false-positive rate, in [0, 1], after n distinct keys.
func prior(m uint64, k int, v Version, n uint64) float64 {
	rate := double(m, k, v).FPR(n)
	if v == V2 || m < unevenBits {
		return rate
	}
	few, values := uneven(m)
	part := func(positions, values uint64) float64 { // of the probes of an absent key, those that hit such a position
		p := float64(values) / (1 << 31)
		return float64(float64(positions)*p) * -math.Expm1(-float64(n)*float64(k)*p)
	}
	return max(rate, math.Pow(part(few, values+1)+part(m-few, values), float64(k)))
}

// posterior returns the false-positive rate, in [0, 1], of a filter whose probes reach the m bits in words.
func posterior(words []uint64, m uint64, k int, v Version) float64 {
	ones := bitvec.OnesCount(words)
	rate := double(m, k, v).Posterior(words, ones)
	if v == V2 || m < unevenBits {
		return rate
	}
	few, values := uneven(m)
	hits := values*ones + bitvec.OnesBelow(words, few) // at most 2^31
	return max(rate, math.Pow(float64(hits)/(1<<31), float64(k)))
}
