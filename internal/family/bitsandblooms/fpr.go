package bitsandblooms

import "github.com/bloomery/bloomery/internal/probe"

// double returns the double hashing of a filter of m bits.
func double(m uint64, k int) probe.Double {
	return probe.Double{Bits: m, K: k, Word: 64, Pairs: 2, Probe: walk}
}

// walk is the probe.Probe of the family: the positions of Filter.at.
func walk(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[i%2] + uint64(i)*step[stepOf(uint64(i))]) % m, i % 2, false
}
