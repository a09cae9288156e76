package redisbloom

import "github.com/bloomery/bloomery/internal/probe"

// double returns the double hashing of a link in a chain of that many links.
func (l *Link) double(links int) probe.Double {
	return probe.Double{Bits: l.Bits, K: l.K, Word: 64, Pairs: 1, Probe: walk, Parts: links}
}

// walk is the probe.Probe of the family.
func walk(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0] + uint64(i)*step[0]) % m, 0, false
}
