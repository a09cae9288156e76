// Package bitsandblooms implements the Bloom filter of the Go library github.com/bits-and-blooms/bloom/v3, bit for bit:
// m bits, for any m, and k probes per key by double hashing with two pairs of hashes in turn.
//
//	h0, h1 = murmur3-x64-128 of the key
//	h2, h3 = murmur3-x64-128 of the key followed by a byte 1
//	probe i = 0..k-1 -> bit ((h[i mod 2] + i·h[2 + ((i + i mod 2) mod 4) / 2]) mod 2^64) mod m
//
// The probes together need all four words: 256 bits, twice as many as a filter.Hash has. A Filter therefore is a
// family.RawKeyFilter: the argument of HasKey and AddKey is the key, which they hash themselves. The argument of Has is
// a Hash with h0 in Lo and h3 in Hi; Has tests only the positions that follow from these two words: probes 0, 2, 6, 10
// and so on.
package bitsandblooms

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/sums"
)

// Family is the name of the family in a Spec: bitsandblooms(k=7,m=9586).
const Family = "bitsandblooms"

// MaxK is the largest number of probes per key. The library has no limit, but more probes do not help.
const MaxK = 255

// Filter is a Bloom filter of bits-and-blooms. Any number of goroutines may query it at once. AddKey, Merge and
// Intersect need exclusive use.
type Filter struct {
	words  []uint64 // bit i is bit i%64 of word i/64; bits from length on are 0
	m      uint64
	length uint64 // bits of the library's bit set: m, or more if the filter was made from words
	k      int
	keys   uint64
}

// position returns the position of probe i of a key with hashes h.
func (f *Filter) position(h *[4]uint64, i uint64) uint64 {
	return (h[i%2] + i*h[2+stepOf(i)]) % f.m
}

// stepOf returns which of the two steps probe i uses.
func stepOf(i uint64) uint64 { return (i + i%2) % 4 / 2 }

// HasKey reports whether the key may be in the set. It stops at the first probe whose bit is not set.
func (f *Filter) HasKey(key []byte) bool {
	h := sums.Murmur3Quarters(key)
	for i := range uint64(f.k) {
		if at := f.position(&h, i); f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// AddKey adds a key. The error is always nil.
func (f *Filter) AddKey(key []byte) error {
	h := sums.Murmur3Quarters(key)
	for i := range uint64(f.k) {
		at := f.position(&h, i)
		f.words[at/64] |= 1 << (at % 64)
	}
	f.keys++
	return nil
}

// Has reports whether a key with hash h may be in the set. It tests only the probes that h determines, so it is true
// for every key for which HasKey is true, and for many others.
func (f *Filter) Has(h filter.Hash) bool {
	four := [4]uint64{0: h.Lo, 3: h.Hi}
	for i := uint64(0); i < uint64(f.k); i += 2 + i&2 { // 0, 2, 6, 10: even, and with the step h3 if not 0
		if at := f.position(&four, i); f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Merge adds the keys of other to f; see bitvec.Merge. The filters must have the same m, k and length.
func (f *Filter) Merge(other family.Filter, passed func([]uint64)) error {
	return bitvec.Merge(f, &f.keys, other, passed)
}

// Intersect reduces f to the keys that are in both filters and some false positives; see bitvec.Intersect.
func (f *Filter) Intersect(other family.Filter, passed func([]uint64)) error {
	return bitvec.Intersect(f, &f.keys, other, passed)
}

// setBits returns the number of the first m bits that are set.
func (f *Filter) setBits() uint64 { return bitvec.OnesBelow(f.words, f.m) }

// EstimateKeys estimates the number of distinct keys from the bits that are set; see probe.EstimateKeys. It reads the
// whole filter and returns +Inf if all of the first m bits are set.
func (f *Filter) EstimateKeys() float64 {
	return probe.EstimateKeys(float64(f.setBits())/float64(f.m), f.m, f.k)
}

// Cells describes the first m bits, as if the probes of a key were independent.
func (f *Filter) Cells() family.Cells { return probe.Cells(f.m, f.k) }

// Free returns the number of bits below m that are 0 in both filters. It returns the errors of Merge.
func (f *Filter) Free(other family.Filter) (uint64, error) { return bitvec.Free(f, other, f.m) }

// Info counts the set bits, which reads the whole filter. Fill is the share of the first m bits. The rates are the
// rates of probe.Double.
func (f *Filter) Info() filter.Info {
	ones, d := f.setBits(), doubleHashing(f.m, f.k)
	return filter.Info{
		Spec: f.builtSpec(), Keys: f.keys, Bits: f.m, Fill: float64(ones) / float64(f.m),
		FPRPrior: d.FPR(f.keys), FPRPosterior: d.Posterior(f.words, ones),
	}
}

// doubleHashing returns the double hashing of a filter of m bits.
func doubleHashing(m uint64, k int) probe.Double {
	return probe.Double{Bits: m, K: k, Word: 64, Pairs: 2, Probe: probePosition}
}

// probePosition is the probe.Probe of the family: the positions of Filter.position.
func probePosition(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[i%2] + uint64(i)*step[stepOf(uint64(i))]) % m, i % 2, false
}

func (f *Filter) builtSpec() filter.Spec { return Spec(f.m, f.length, f.k) }

// Spec returns the Spec of a filter with this geometry.
func Spec(m, length uint64, k int) filter.Spec {
	s := family.NewSpec(Family, "k", k, "m", m)
	if length != m {
		s = s.With("length", length)
	}
	return s
}

// Geometry returns the number of bits, the length in bits of the bit set that stores them, and the number of probes
// per key.
func (f *Filter) Geometry() (m, length uint64, k int) { return f.m, f.length, f.k }

// Encode returns one section of ⌈length/64⌉ words. Bit i of the filter is bit i%64 of word i/64. Bits from length on
// are 0.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	f, err := builtGeometry(s)
	return []uint64{(f.length + 63) / 64}, err
}

// Decode returns the filter that Encode stored. It keeps the words of e and does not copy them. It returns an error
// if the sections do not have the sizes of SectionWords, or if a bit from length on is set.
func Decode(e family.Encoded) (*Filter, error) {
	f, err := builtGeometry(e.Spec)
	if err := e.CheckSections([]uint64{(f.length + 63) / 64}, err); err != nil {
		return nil, err
	}
	f.words, f.keys = e.Sections[0], e.Keys
	if !bitvec.ZeroFrom(f.words, f.length) {
		return nil, fmt.Errorf("a bit at position %d or above is set; the bit set ends there", f.length)
	}
	return &f, nil
}

// builtGeometry reads the canonical Spec of a built filter: bitsandblooms(k=,m=), with length= only if the length is
// not m. It returns an error for any other Spec.
func builtGeometry(s filter.Spec) (f Filter, err error) {
	c, err := ConfigFromSpec(s, 0)
	if err == nil && (c.M == 0 || c.K == 0 || c.Length == c.M || !c.Size.IsZero() || family.Given(s, "capacity")) {
		err = family.Invalid("spec", s, "want bitsandblooms(k=,m=)")
	}
	if err == nil {
		f.m, f.k, err = probe.Config{M: c.M, K: c.K, MaxK: MaxK, Width: 1}.Fixed()
	}
	if err == nil {
		f.length, err = c.lengthFor(f.m)
	}
	return f, err
}
