// Package bitsandblooms is the filter of the Go library bits-and-blooms/bloom, version 3, bit for bit: m bits, any m, and
// k probes a key by double hashing with two pairs of hashes in turn.
//
//	h0, h1 = murmur3-x64-128 of the key, h2, h3 = murmur3-x64-128 of the key and a byte 1
//	probe i -> bit (h[i mod 2] + i·h[2 + ((i + i mod 2) mod 4) / 2]) mod m, the sum modulo 2^64
//
// The sum wraps before it is divided, so that every position takes three of four words of 64 bits, whose 256 bits a
// filter.Hash does not hold. A Filter therefore is a filter.RawKeyFilter: HasKey and AddKey hash the key themselves. Has, of a
// Hash with h0 in Lo and h3 in Hi, tests the positions that are made of these: probes 0, 2, 6, 10 and so on.
package bitsandblooms

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Family is the name in a Spec: bitsandblooms(k=7,m=9586).
const Family = "bitsandblooms"

// MaxK is the largest number of probes a key; the library has no limit, and no use for more.
const MaxK = 255

// Filter is a Bloom filter of bits-and-blooms. Reads are safe from any number of goroutines; AddKey and Merge need
// exclusive use.
type Filter struct {
	words  []uint64 // bit i is bit i%64 of word i/64; bits from length on are 0
	m      uint64
	length uint64 // of the bit set that the library keeps: m, unless the filter was made of words
	k      int
	keys   uint64
}

// at returns the position of a probe.
func (f *Filter) at(h *[4]uint64, i uint64) uint64 {
	return (h[i%2] + i*h[2+(i+i%2)%4/2]) % f.m
}

// HasKey reports whether the key may be in the set. It stops at the first probe that is not set.
func (f *Filter) HasKey(key []byte) bool {
	h := filter.Quarters(key)
	for i := range uint64(f.k) {
		if at := f.at(&h, i); f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// AddKey puts a key into the set. The error is always nil.
func (f *Filter) AddKey(key []byte) error {
	h := filter.Quarters(key)
	for i := range uint64(f.k) {
		at := f.at(&h, i)
		f.words[at/64] |= 1 << (at % 64)
	}
	f.keys++
	return nil
}

// Has tests the probes that are made of h0 and h3: it is true of all keys of which HasKey is, and of many more.
func (f *Filter) Has(h filter.Hash) bool {
	four := [4]uint64{0: h.Lo, 3: h.Hi}
	for i := uint64(0); i < uint64(f.k); i += 2 + i&2 { // 0, 2, 6, 10
		if at := f.at(&four, i); f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Merge makes f hold the keys of both. Keys counts those that stand in both twice.
func (f *Filter) Merge(other filter.Filter) error {
	o, ok := other.(*Filter)
	if !ok || o.m != f.m || o.k != f.k || o.length != f.length {
		return fmt.Errorf("%s and %s: %w", f.spec(), filter.SpecOf(other), filter.ErrMismatch)
	}
	for i, w := range o.words {
		f.words[i] |= w
	}
	f.keys += o.keys
	return nil
}

// Info counts the set bits of the first m, which reads the whole filter. Its rates are those of independent probes.
func (f *Filter) Info() filter.Info {
	fill := float64(bitvec.OnesBelow(f.words, f.m)) / float64(f.m)
	return filter.Info{
		Spec: f.spec(), Keys: f.keys, Bits: f.m, Fill: fill,
		FPRPrior: probe.FPR(f.keys, f.m, f.k), FPRPosterior: math.Pow(fill, float64(f.k)),
	}
}
