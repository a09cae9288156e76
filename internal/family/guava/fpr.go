package guava

import "github.com/bloomery/bloomery/internal/probe"

// double returns the double hashing of a filter in which probes reach m bits.
func double(m uint64, k int, s Strategy) probe.Double {
	if s == Mitz32 {
		return probe.Double{Bits: m, K: k, Word: 32, Pairs: 1, Falls: true, Probe: probe32}
	}
	return probe.Double{Bits: m, K: k, Word: 63, Pairs: 1, Probe: probe64}
}

// probe64 and probe32 are probe.Probe of the strategies. A position with Mitz32 falls where the sum is negative.
func probe64(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0] + uint64(i)*step[0]) &^ (1 << 63) % m, 0, false
}

func probe32(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	x := start[0] + uint64(i)*step[0]
	return fold(x) % m, 0, int32(x) < 0
}
