// Package twochoice is the Bloom filter with choices (Lumetta and Mitzenmacher, "Using the power of two choices to
// improve Bloom filters", Internet Mathematics 4, 2007). Each key has c groups of k hash functions. Add sets the bits
// of the group that sets the fewest new ones; a key may be present if all bits of any of its groups are set:
//
//	rate = 1 - (1 - f^k)^c,  f the share of set bits
//
// Keys are added one by one to a filter from New (the online solution of the paper). A Builder has all keys before it
// starts. It makes many passes over them; each pass takes every key out and chooses its group again (offline).
//
//	Hash   Hi -> shard ⌊Hi·shards / 2^64⌋
//	       Lo, Hi -> the positions of group j, with independent hashing:
//	         x0 = Lo for group 0, Remix(Lo, j) for the others;  by = Remix(Hi, j) with the lowest bit set
//	         x1 = fold(x0 × by), x2 = fold(x1 × by), ...        position i = ⌊x_i·bits / 2^64⌋
//	       with double hashing, bits a multiple of 64, a1 = ⌊x0·bits / 2^64⌋, a2 = ⌊by·bits / 2^64⌋ made odd:
//	         position i = (a1 + i·a2) mod bits
//
// fold and Remix are in internal/probe. Each group mixes both halves of the Hash in its own way, so that keys which
// share positions in one group do not share them in another. A shard is a separate filter for about 16 Ki keys: its
// search fits the caches, and several shards are searched at once.
package twochoice

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: twochoice(bits=80000,choices=3,hashing=independent,k=9,shards=1).
const Family = "twochoice"

// Hashing selects how the k positions of a group follow from the Hash.
type Hashing string

// The two hashings of the paper. Double uses two hash values per group instead of k. It repeats whole groups: an
// absent key has all or most positions of a present one with a probability of about 12·c·n/m², at any fill. That is
// negligible at 8 bits per key, and 100 times the rate after a search at n = 10,000, 32 bits per key and c = 3. The
// rates of this package include it; see FPRDouble. m must be a multiple of 64, because otherwise some steps return to
// their first position within k positions.
const (
	Independent Hashing = "independent"
	Double      Hashing = "double"
)

// Filter is a Bloom filter with choices. Reads are safe from any number of goroutines; Add needs exclusive use.
type Filter struct {
	geometry
	words    []uint64 // shard s is bits [s·bits, (s+1)·bits)
	keys     uint64
	late     uint64 // how many of the keys were added after the search
	searched uint64 // bits that were set at the end of the search; 0 without a search
}

// geometry describes the sizes of a filter.
type geometry struct {
	shards  uint64
	bits    uint64 // of a shard
	choices int
	k       int
	hashing Hashing
}

// shardOf returns the shard of a key.
func (g geometry) shardOf(h filter.Hash) uint64 { return probe.Position(h.Hi, g.shards) }

func (g geometry) wordCount() uint64 { return (g.shards*g.bits + 63) / 64 }

func (g geometry) String() string {
	return fmt.Sprintf("%d shards of %d bits, %d groups of k=%d", g.shards, g.bits, g.choices, g.k)
}

// walk yields the positions of one group of a key.
type walk struct {
	x, by uint64 // or a1 and a2
}

// walkGroup starts a group of a key.
func (g geometry) walkGroup(h filter.Hash, group int) walk {
	w := walk{h.Lo, probe.Remix(h.Hi, uint64(group)) | 1}
	if group > 0 {
		w.x = probe.Remix(h.Lo, uint64(group))
	}
	if g.hashing == Double {
		w.x, w.by = probe.Position(w.x, g.bits), probe.Position(w.by, g.bits)|1
	}
	return w
}

// nextPosition returns the next position of the walk, a bit of the shard.
func (g geometry) nextPosition(w *walk) (at uint64) {
	if g.hashing == Double {
		at = w.x
		if w.x += w.by; w.x >= g.bits {
			w.x -= g.bits
		}
		return at
	}
	at = probe.Position(w.x, g.bits)
	w.x = probe.Mix(w.x, w.by)
	return at
}

// together is the number of bits that Has tests before it branches; see family standard.
const together = 3

// Has reports whether the key may be in the set. After the first three bits of a group that are not all set, it goes on
// to the next group.
func (f *Filter) Has(h filter.Hash) bool {
	start := f.shardOf(h) * f.bits
	for j := range f.choices {
		if f.covers(start, f.walkGroup(h, j)) {
			return true
		}
	}
	return false
}

// covers reports whether all bits of a group are set.
func (f *Filter) covers(start uint64, w walk) bool {
	k := f.k
	for ; k > together; k -= together {
		all := bitvec.Bit(f.words, start+f.nextPosition(&w))
		all &= bitvec.Bit(f.words, start+f.nextPosition(&w))
		all &= bitvec.Bit(f.words, start+f.nextPosition(&w))
		if all&1 == 0 {
			return false
		}
	}

	all := uint64(1)
	for ; k > 0; k-- {
		all &= bitvec.Bit(f.words, start+f.nextPosition(&w))
	}
	return all != 0
}

// Probes returns the number of bits that a query reads if it stops at the first zero of each group: for an absent key
// about c/(1-f), for a present key the bits up to the end of the group that covers it.
func (f *Filter) Probes(h filter.Hash) (n int) {
	start := f.shardOf(h) * f.bits
	for j := range f.choices {
		w, set := f.walkGroup(h, j), 0
		for set < f.k && bitvec.Bit(f.words, start+f.nextPosition(&w))&1 == 1 {
			set++
		}
		if set == f.k {
			return n + set
		}
		n += set + 1
	}
	return n
}

// Add adds a key by the group that sets the fewest new bits (section 3.1). Ties are broken at random by the Hash. A
// position that a group has twice counts twice. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	start := f.shardOf(h) * f.bits
	best, fewest := 0, ^uint64(0)
	for j := range f.choices {
		w, fresh := f.walkGroup(h, j), uint64(0)
		for range f.k {
			fresh += ^bitvec.Bit(f.words, start+f.nextPosition(&w)) & 1
		}
		// The upper half of the cost counts bits; the lower half is random and decides ties. walkGroup uses the rounds
		// of Remix below maxChoices.
		if cost := fresh<<32 | probe.Remix(h.Hi, uint64(maxChoices+j))>>32; cost < fewest {
			best, fewest = j, cost
		}
	}

	f.setGroup(start, f.walkGroup(h, best))
	f.keys++
	if f.searched > 0 { // a filter from New has no late keys
		f.late++
	}
	return nil
}

func (f *Filter) setGroup(start uint64, w walk) {
	for range f.k {
		at := start + f.nextPosition(&w)
		f.words[at/64] |= 1 << (at % 64)
	}
}

// Info describes the filter. It reads the whole filter to count bits.
func (f *Filter) Info() filter.Info {
	total := f.shards * f.bits
	ones, rate := f.census()
	return filter.Info{
		Spec: f.builtSpec(), Keys: f.keys, Late: f.late, Bits: total,
		Fill:         float64(ones) / float64(total),
		FillSearched: float64(f.searched) / float64(total),
		FPRPrior:     f.priorRate(f.keys),
		FPRPosterior: rate,
	}
}

func (f *Filter) builtSpec() filter.Spec {
	return family.NewSpec(Family,
		"bits", f.bits, "choices", f.choices, "hashing", string(f.hashing), "k", f.k, "shards", f.shards)
}

// first is the number of positions of each group that are prefetched. At half fill 1/8 of the groups need more.
const first = 3

// HasMany sets dst[i] to Has(hs[i]); see probe.HasMany.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	probe.HasMany(len(f.words), dst, hs, f.prefetch, probe.HasEach(f))
}

// prefetch prefetches the first lines of all groups of at most probe.BatchSize keys, half of them at a time.
func (f *Filter) prefetch(hs []filter.Hash) {
	var room [probe.BatchSize / 2 * maxChoices * first]uint64
	for len(hs) > 0 {
		at := room[:0]
		for _, h := range hs[:min(probe.BatchSize/2, len(hs))] {
			start := f.shardOf(h) * f.bits
			for j := range f.choices {
				w := f.walkGroup(h, j)
				for range min(first, f.k) {
					at = append(at, start+f.nextPosition(&w))
				}
			}
		}
		bitvec.PrefetchBits(f.words, at)
		hs = hs[min(probe.BatchSize/2, len(hs)):]
	}
}
