// Package twochoice is the Bloom filter with choices (Lumetta and Mitzenmacher, "Using the power of two choices to improve
// Bloom filters", Internet Mathematics 4, 2007): every key has c groups of k hash functions, and one group whose bits are all
// set is enough. Who adds a key takes the group that sets the fewest new bits; a query accepts if any group covers the key:
//
//	rate = 1 - (1 - f^k)^c,  f the share of set bits
//
// New makes a filter that takes keys one by one (the paper's online solution). A Builder has all keys and goes over them
// again and again, each time taking one out and choosing anew (offline).
//
//	Hash   Hi -> shard ⌊Hi·shards / 2^64⌋
//	       Lo, Hi -> the positions of group j, independent:
//	         x0 = Lo for group 0, Remix(Lo, j) for the others;  by = Remix(Hi, j) with the lowest bit set
//	         x1 = fold(x0 × by), x2 = fold(x1 × by), ...        position i = ⌊x_i·bits / 2^64⌋
//	       or by double hashing, bits a multiple of 64, a1 = ⌊x0·bits / 2^64⌋, a2 = ⌊by·bits / 2^64⌋ made odd:
//	         position i = (a1 + i·a2) mod bits
//
// fold and Remix are those of internal/probe. Every group mixes both halves of the Hash on its own, so that what two keys
// share in one group says nothing about another. A shard is a filter of its own for some 16 Ki keys: its search fits the
// caches, and several are searched at once.
package twochoice

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: twochoice(bits=80000,choices=3,hashing=independent,k=9,shards=1).
const Family = "twochoice"

// Hashing says how the k positions of a group come about.
type Hashing string

// The two hashings of the paper. Double takes two hash values a group instead of k. It repeats whole groups: an absent key
// has all positions of a present one, or most of them, with a probability near 12·c·n/m², whatever the fill. That is
// nothing at 8 bits a key and a hundred times the rate of a search at n = 10,000, 32 bits a key and c = 3. Rates here include it; see FPRDouble.
// With other m than multiples of 64 it would have steps that come back to where they began within k positions, too.
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
	searched uint64 // set bits when the search ended; 0 if there was none
}

// geometry is the shape of a filter.
type geometry struct {
	shards  uint64
	bits    uint64 // of a shard
	choices int
	k       int
	hashing Hashing
}

// shard returns the shard of a key.
func (g geometry) shard(h filter.Hash) uint64 {
	s, _ := bits.Mul64(h.Hi, g.shards)
	return s
}

func (g geometry) words() uint64 { return (g.shards*g.bits + 63) / 64 }

func (g geometry) String() string {
	return fmt.Sprintf("%d shards of %d bits, %d groups of k=%d", g.shards, g.bits, g.choices, g.k)
}

// walk goes through the positions of one group of a key.
type walk struct {
	x, by uint64 // or a1 and a2
}

// walk starts a group of a key.
func (g geometry) walk(h filter.Hash, group int) walk {
	w := walk{h.Lo, probe.Remix(h.Hi, uint64(group)) | 1}
	if group > 0 {
		w.x = probe.Remix(h.Lo, uint64(group))
	}
	if g.hashing == Double {
		w.x, w.by = probe.Position(w.x, g.bits), probe.Position(w.by, g.bits)|1
	}
	return w
}

// next returns the position in the shard that the walk stands at and moves on.
func (g geometry) next(w *walk) (at uint64) {
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

// together is how many bits Has tests before it branches; see the standard family.
const together = 3

// Has reports whether the key may be in the set. It leaves a group after the first bits that are not all set.
func (f *Filter) Has(h filter.Hash) bool {
	start := f.shard(h) * f.bits
	for j := range f.choices {
		if f.covers(start, f.walk(h, j)) {
			return true
		}
	}
	return false
}

// covers reports whether all bits of a group are set.
func (f *Filter) covers(start uint64, w walk) bool {
	k := f.k
	for ; k > together; k -= together {
		all := bitvec.Bit(f.words, start+f.next(&w))
		all &= bitvec.Bit(f.words, start+f.next(&w))
		all &= bitvec.Bit(f.words, start+f.next(&w))
		if all&1 == 0 {
			return false
		}
	}
	all := uint64(1)
	for ; k > 0; k-- {
		all &= bitvec.Bit(f.words, start+f.next(&w))
	}
	return all != 0
}

// Probes returns how many bits a query that stops at the first zero of each group reads: for an absent key about
// c/(1-f), for a present one as many as there are up to the group that covers it.
func (f *Filter) Probes(h filter.Hash) (n int) {
	start := f.shard(h) * f.bits
	for j := range f.choices {
		w, set := f.walk(h, j), 0
		for set < f.k && bitvec.Bit(f.words, start+f.next(&w))&1 == 1 {
			set++
		}
		if set == f.k {
			return n + set
		}
		n += set + 1
	}
	return n
}

// Add puts a key into the set by the group that sets the fewest new bits, ties at random from the Hash (section 3.1). A
// position that a group has twice counts twice. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	start := f.shard(h) * f.bits
	best, fewest := 0, ^uint64(0)
	for j := range f.choices {
		w, fresh := f.walk(h, j), uint64(0)
		for range f.k {
			fresh += ^bitvec.Bit(f.words, start+f.next(&w)) & 1
		}
		// Rounds of Remix beyond the last group's are for ties alone.
		if cost := fresh<<32 | probe.Remix(h.Hi, uint64(MaxChoices+j))>>32; cost < fewest {
			best, fewest = j, cost
		}
	}
	f.set(start, f.walk(h, best))
	f.keys++
	if f.searched > 0 {
		f.late++
	}
	return nil
}

func (f *Filter) set(start uint64, w walk) {
	for range f.k {
		at := start + f.next(&w)
		f.words[at/64] |= 1 << (at % 64)
	}
}

// Info counts the set bits of every shard, which reads the whole filter.
func (f *Filter) Info() filter.Info {
	total := f.shards * f.bits
	ones, rate := f.census()
	return filter.Info{
		Spec: f.spec(), Keys: f.keys, Late: f.late, Bits: total,
		Fill:         float64(ones) / float64(total),
		FillSearched: float64(f.searched) / float64(total),
		FPRPrior:     f.prior(f.keys),
		FPRPosterior: rate,
	}
}

func (f *Filter) spec() filter.Spec {
	return filter.NewSpec(Family, "bits", f.bits, "choices", f.choices, "hashing", string(f.hashing), "k", f.k, "shards", f.shards)
}
