package java

import (
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// double returns the double hashing of a filter in which probes reach m bits.
func double(m uint64, k int, s Sums) probe.Double {
	switch s {
	case Sum63:
		return probe.Double{Bits: m, K: k, Word: 63, Pairs: 1, Probe: probe63}
	case Sum64:
		return probe.Double{Bits: m, K: k, Word: 62, Pairs: 1, Probe: probe64}
	}
	return probe.Double{Bits: m, K: k, Word: 32, Pairs: 1, Falls: true, Probe: probe32}
}

// probe32 is probe.Probe of Sum32. The position decreases where the sum is negative.
func probe32(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	x := int32(start[0] + uint64(i)*step[0])
	return uint64(x^x>>31) % m, 0, x < 0
}

// probe63 is probe.Probe of Sum63.
func probe63(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0] + uint64(i)*step[0]) &^ (1 << 63) % m, 0, false
}

// probe64 is probe.Probe of Sum64, whose sums stay far below 2^63. A negative sum is the mirror image of a positive one
// with the opposite step, which is as likely.
func probe64(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0]%m + uint64(i)*(step[0]%m)) % m, 0, false
}

// unevenBits is the number of bits from which the rates account for the uneven positions of Sum32.
const unevenBits = 1 << 20

// uneven reports whether the rates of a filter in which probes reach m bits account for uneven positions.
func uneven(m uint64, s Sums) bool { return s == Sum32 && m >= unevenBits }

// shares describes the positions of Sum32 among m: each position has values of the 2^31 values of a probe, and the
// first few positions have one more.
func shares(m uint64) (few, values uint64) { return (1 << 31) % m, (1 << 31) / m }

// prior returns the predicted false-positive rate, in [0, 1], after n distinct keys.
func prior(m uint64, k int, s Sums, n uint64) float64 {
	rate := double(m, k, s).FPR(n)
	if !uneven(m, s) {
		return rate
	}
	few, values := shares(m)
	part := func(positions, values uint64) float64 { // of the probes of an absent key, those that hit such a position
		p := float64(values) / (1 << 31)
		return float64(float64(positions)*p) * -math.Expm1(-float64(n)*float64(k)*p)
	}
	return max(rate, math.Pow(part(few, values+1)+part(m-few, values), float64(k)))
}

// posterior returns the false-positive rate, in [0, 1], of a filter whose probes reach the bits in words, of which ones
// are set.
func posterior(words []uint64, ones uint64, k int, s Sums) float64 {
	m := 64 * uint64(len(words))
	rate := double(m, k, s).Posterior(words, ones)
	if !uneven(m, s) {
		return rate
	}
	few, values := shares(m)
	hits := values*ones + bitvec.OnesBelow(words, few) // at most 2^31
	return max(rate, math.Pow(float64(hits)/(1<<31), float64(k)))
}
