// Package standard is the Bloom filter of 1970 (B. H. Bloom, CACM 13): m bits, k probes a key, any m.
//
//	Hash (Lo, Hi)
//	  probe 0:  fold((Lo + 1·A) × (Hi + 1·B))  -> x0 -> bit ⌊x0·m / 2^64⌋
//	  probe 1:  fold((Lo + 2·A) × (Hi + 2·B))  -> x1 -> bit ⌊x1·m / 2^64⌋
//	  ...
//
// fold is the exclusive or of the two halves of the 128-bit product; A and B are odd constants. All 128 bits of the
// Hash take part in every probe, and each probe mixes them anew. Plain double hashing, h1 + i·h2, would not do: once
// reduced to m positions it has about m² different sequences, so an absent key shares all its bits with one present
// key with probability near n/m². For n = 1000 at 24 bits a key that alone is a sixth of the promised 1e-5.
// TestObservedRate measures small n at many bits a key, where this would show.
package standard

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Family is the name in a Spec: standard(k=7,m=95851).
const Family = "standard"

// MaxK is the largest number of probes a key: optimal up to 92 bits a key.
const MaxK = 64

// Filter is a standard Bloom filter. Reads are safe from any number of goroutines; Add, Merge and Intersect need
// exclusive use. See Atomic for concurrent writers.
type Filter struct {
	words []uint64 // bit i is bit i%64 of word i/64; bits from m on are 0
	m     uint64
	k     int
	keys  uint64
}

// Increments of the two factors: the fractions of the golden ratio and of the square root of 2, times 2^64, made odd.
const (
	stepLo = 0x9E3779B97F4A7C15
	stepHi = 0x6A09E667F3BCC909
)

// probes yields the bit positions of one key.
type probes struct{ lo, hi uint64 }

func (p *probes) next(m uint64) uint64 {
	p.lo += stepLo
	p.hi += stepHi
	h, l := bits.Mul64(p.lo, p.hi)
	at, _ := bits.Mul64(h^l, m)
	return at
}

// Has reports whether the key may be in the set. It stops at the first bit that is not set.
func (f *Filter) Has(h filter.Hash) bool {
	p := probes{h.Lo, h.Hi}
	for range f.k {
		at := p.next(f.m)
		if f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Add puts a key into the set. The error is always nil.
func (f *Filter) Add(h filter.Hash) error {
	p := probes{h.Lo, h.Hi}
	for range f.k {
		at := p.next(f.m)
		f.words[at/64] |= 1 << (at % 64)
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
		return nil, fmt.Errorf("%s and %s: %w", f.spec(), other.Info().Spec, filter.ErrMismatch)
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
