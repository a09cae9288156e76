package ptc

import (
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/probe"
)

// paper is the filter of the paper: each key has c groups of k positions of its own. The family twochoice shifts one
// group instead.
type paper struct {
	choice
	double bool // double hashing instead of independent functions
	m      uint64
	counts []uint16 // how many chosen positions lie on each bit; keys that are added one by one set 1
	ones   int
	keys   int
}

// empty returns an empty filter of the paper for n keys. With double hashing its size is a multiple of 64 bits, so that
// an odd step visits at least 64 positions before it repeats.
func (x choice) paper(n int, double bool) *paper {
	m := uint64(math.Ceil(x.bits * float64(n)))
	if double {
		m = (m + 63) / 64 * 64
	}
	return &paper{choice: x, double: double, m: m, counts: make([]uint16, m)}
}

// group sets at to the positions of group j of a key. With double hashing, position i is a1 + i·a2 mod m, a2 odd.
func (f *paper) group(at []uint32, h filter.Hash, j int) {
	x, by := h.Lo, probe.Remix(h.Hi, uint64(j))|1
	if j > 0 {
		x = probe.Remix(h.Lo, uint64(j))
	}
	first, step := probe.Position(x, f.m), probe.Position(by, f.m)|1
	for i := range at {
		if f.double {
			at[i] = uint32((first + uint64(i)*step) % f.m)
			continue
		}
		at[i] = uint32(probe.Position(x, f.m))
		x = probe.Mix(x, by)
	}
}

// fresh returns the number of positions whose bits are not set.
func (f *paper) fresh(at []uint32) (n uint64) {
	for _, u := range at {
		if f.counts[u] == 0 {
			n++
		}
	}
	return n
}

// put adds by to the count of each position.
func (f *paper) put(at []uint32, by int) {
	for _, u := range at {
		was := f.counts[u]
		f.counts[u] = uint16(int(was) + by)
		if was == 0 {
			f.ones++
		} else if f.counts[u] == 0 {
			f.ones--
		}
	}
}

// best returns the group that sets the fewest new bits. Ties are broken at random.
func (f *paper) best(groups []uint32, rnd *anneal.Random) (best []uint32) {
	lowest := uint64(math.MaxUint64)
	for ; len(groups) > 0; groups = groups[f.k:] {
		if cost := f.fresh(groups[:f.k])<<32 | rnd.Next()>>32; cost < lowest {
			best, lowest = groups[:f.k], cost
		}
	}
	return best
}

// groups sets at to the positions of all groups.
func (f *paper) groups(at []uint32, h filter.Hash) {
	for j := range f.c {
		f.group(at[j*f.k:][:f.k], h, j)
	}
}

// Add adds a key by its best group (section 3.1).
func (f *paper) Add(h filter.Hash) error {
	rnd, at := anneal.Random(h.Hi), make([]uint32, f.c*f.k)
	f.groups(at, h)
	f.put(f.best(at, &rnd), 1)
	f.keys++
	return nil
}

// Probes returns the number of bits that a query reads, up to the first zero of each group, and whether the key may be
// present.
func (f *paper) probes(h filter.Hash) (n int, has bool) {
	at := make([]uint32, f.k)
	for j := range f.c {
		f.group(at, h, j)
		set := 0
		for set < f.k && f.counts[at[set]] > 0 {
			set++
		}
		if n += set; set == f.k {
			return n, true
		}
		n++
	}
	return n, false
}

func (f *paper) Has(h filter.Hash) bool {
	_, has := f.probes(h)
	return has
}

// Info returns the share of set bits and the rate.
func (f *paper) Info() filter.Info {
	fill := float64(f.ones) / float64(f.m)
	return filter.Info{Keys: uint64(f.keys), Bits: f.m, Fill: fill, FPRPosterior: f.rate(fill)}
}

// search is the offline solution (section 3.2): rounds over all keys, in which each key is taken out and put back by
// its best group.
func (f *paper) search(hs []filter.Hash) {
	all := f.c * f.k
	positions, chosen := make([]uint32, len(hs)*all), make([][]uint32, len(hs))
	for i, h := range hs {
		f.groups(positions[i*all:][:all], h)
	}

	var rnd anneal.Random
	for range f.rounds {
		for i := range hs {
			f.put(chosen[i], -1)
			chosen[i] = f.best(positions[i*all:][:all], &rnd)
			f.put(chosen[i], 1)
		}
	}
	f.keys = len(hs)
}

// doubleRate returns the rate of a fill under double hashing with odd steps in a filter of m bits, m even, and n keys:
//
//	1 - (1-f^k)^c · exp(-c·n·4/m²·(1 + 2·Σ_{s=1}^{k-1} f^s))
//
// A footnote of the paper refers to another paper for the exponential. A group of an absent key may have the positions
// of the group that covers a present key, forwards or backwards, shifted by s places; then only the s positions beyond
// its end have to be set by chance. Groups that share every second or third position add less; the formula ignores
// them. TestDouble measures the rate.
func (x choice) doubleRate(fill, n, m float64) float64 {
	overlaps := 1.0
	for s := 1; s < x.k; s++ {
		overlaps += 2 * math.Pow(fill, float64(s))
	}
	c := float64(x.c)
	return -math.Expm1(c*math.Log1p(-math.Pow(fill, float64(x.k))) - c*n*4/m/m*overlaps)
}
