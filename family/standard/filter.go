// Package standard is the Bloom filter of 1970 (B. H. Bloom, CACM 13): m bits, k probes a key, any m.
//
//	Hash (Lo, Hi)
//	  probe 0:  x0 = Lo                       -> bit ⌊x0·m / 2^64⌋
//	  probe 1:  x1 = fold(x0 × (Hi with 1))   -> bit ⌊x1·m / 2^64⌋
//	  probe 2:  x2 = fold(x1 × (Hi with 1))   -> ...
//
// fold is the exclusive or of the two halves of the 128-bit product; the lowest bit of Hi is set, all others are its
// own. Lo is where the probes start and Hi how they go on. Plain double hashing, h1 + i·h2, would not do: once reduced
// to m positions it has about m² different sequences, so an absent key shares all its bits with one present key with
// probability near n/m². For n = 1000 at 24 bits a key that alone is a sixth of the promised 1e-5. TestObservedRate
// measures small n at many bits a key, where this would show, and internal/probe's own test pairs of probes.
package standard

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: standard(k=7,m=95851).
const Family = "standard"

// MaxK is the largest number of probes a key: optimal up to 92 bits a key.
const MaxK = probe.MaxK

// Filter is a standard Bloom filter. Reads are safe from any number of goroutines; Add, Merge and Intersect need
// exclusive use. See Atomic for concurrent writers.
type Filter struct {
	words []uint64 // bit i is bit i%64 of word i/64; bits from m on are 0
	m     uint64
	k     int
	keys  uint64
}

// together is how many probes Has tests before it branches. A branch after each would be mispredicted for every other
// absent key; three leave one in eight to go on at half fill.
const together = 3

// Has reports whether the key may be in the set. It stops after the first probes that are not all set.
func (f *Filter) Has(h filter.Hash) bool {
	words, m, k := f.words, f.m, f.k
	x, by := h.Lo, probe.Mixer(h)
	for ; k > together; k -= together {
		all := bitvec.Bit(words, probe.Position(x, m))
		x = probe.Mix(x, by)
		all &= bitvec.Bit(words, probe.Position(x, m))
		x = probe.Mix(x, by)
		all &= bitvec.Bit(words, probe.Position(x, m))
		x = probe.Mix(x, by)
		if all&1 == 0 {
			return false
		}
	}
	all := bitvec.Bit(words, probe.Position(x, m))
	for ; k > 1; k-- {
		x = probe.Mix(x, by)
		all &= bitvec.Bit(words, probe.Position(x, m))
	}
	return all&1 != 0
}

// Add puts a key into the set. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	x, by := h.Lo, probe.Mixer(h)
	for range f.k {
		at := probe.Position(x, f.m)
		f.words[at/64] |= 1 << (at % 64)
		x = probe.Mix(x, by)
	}
	f.keys++
	return nil
}

// Merge makes f hold the keys of both: the union, bit by bit. Keys counts those that stand in both twice.
func (f *Filter) Merge(other filter.Filter) error {
	o, err := f.same(other)
	if err != nil {
		return err
	}
	for i, w := range o.words {
		f.words[i] |= w
	}
	f.keys += o.keys
	return nil
}

// Intersect makes f hold at least the keys that stand in both: the intersection, bit by bit. Its rate of false
// positives is at most that of either, but above that of a filter built from the common keys alone. Keys becomes
// the smaller of both, an upper bound; CardinalityIntersect estimates the number.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := f.same(other)
	if err != nil {
		return err
	}
	for i, w := range o.words {
		f.words[i] &= w
	}
	f.keys = min(f.keys, o.keys)
	return nil
}

func (f *Filter) same(other filter.Filter) (*Filter, error) {
	o, ok := other.(*Filter)
	if !ok || o.m != f.m || o.k != f.k {
		return nil, fmt.Errorf("%s and %s: %w", f.spec(), filter.SpecOf(other), filter.ErrMismatch)
	}
	return o, nil
}

// Info counts the set bits, which reads the whole filter.
func (f *Filter) Info() filter.Info {
	fill := float64(bitvec.OnesCount(f.words)) / float64(f.m)
	return filter.Info{
		Spec:         f.spec(),
		Keys:         f.keys,
		Bits:         f.m,
		Fill:         fill,
		FPRPrior:     FPR(f.keys, f.m, f.k),
		FPRPosterior: posterior(fill, f.k),
	}
}
