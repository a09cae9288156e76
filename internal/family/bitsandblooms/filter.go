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
	"github.com/bloomery/bloomery/filter"
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
type Filter struct{ probe.Bits }

// position returns the position of probe i of a key with hashes h.
func (f *Filter) position(h *[4]uint64, i uint64) uint64 {
	return (h[i%2] + i*h[2+stepOf(i)]) % f.M
}

// stepOf returns which of the two steps probe i uses.
func stepOf(i uint64) uint64 { return (i + i%2) % 4 / 2 }

// HasKey reports whether the key may be in the set. It stops at the first probe whose bit is not set.
func (f *Filter) HasKey(key []byte) bool {
	h := sums.Murmur3Quarters(key)
	for i := range uint64(f.K) {
		if at := f.position(&h, i); f.Words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// AddKey adds a key. The error is always nil.
func (f *Filter) AddKey(key []byte) error {
	h := sums.Murmur3Quarters(key)
	for i := range uint64(f.K) {
		at := f.position(&h, i)
		f.Words[at/64] |= 1 << (at % 64)
	}
	f.Keys++
	return nil
}

// Has reports whether a key with hash h may be in the set. It tests only the probes that h determines, so it is true
// for every key for which HasKey is true, and for many others.
func (f *Filter) Has(h filter.Hash) bool {
	four := [4]uint64{0: h.Lo, 3: h.Hi}
	for i := uint64(0); i < uint64(f.K); i += 2 + i&2 { // 0, 2, 6, 10: even, and with the step h3 if not 0
		if at := f.position(&four, i); f.Words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// Info counts the set bits, which reads the whole filter. Fill is the share of the first m bits. The rates are the
// rates of probe.Double.
func (f *Filter) Info() filter.Info {
	ones, d := f.Ones(), doubleHashing(f.M, f.K)
	return filter.Info{
		Spec: f.Spec, Keys: f.Keys, Bits: f.M, Fill: float64(ones) / float64(f.M),
		FPRPrior: d.FPR(f.Keys), FPRPosterior: d.Posterior(f.Words, ones),
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

// bitsOf returns the sizes of a filter, without its words.
func bitsOf(m, length uint64, k int) probe.Bits {
	return probe.Bits{M: m, K: k, Spec: Spec(m, length, k)}
}

// Spec returns the Spec of a filter with this geometry.
func Spec(m, length uint64, k int) filter.Spec {
	s := family.NewSpec(Family, "k", k, "m", m)
	if length != m {
		s = s.With("length", length)
	}
	return s
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	_, length, err := builtBits(s)
	return []uint64{(length + 63) / 64}, err
}

// Decode returns the filter that Encode stored; see probe.Bits.Decode.
func Decode(e family.Encoded) (*Filter, error) {
	b, length, err := builtBits(e.Spec)
	b, err = b.Decode(e, length, err)
	return &Filter{b}, err
}

// builtBits reads the canonical Spec of a built filter: bitsandblooms(k=,m=), with length= only if the length is not m.
// It returns an error for any other Spec.
func builtBits(s filter.Spec) (b probe.Bits, length uint64, err error) {
	c, err := ConfigFromSpec(s, 0)
	if err == nil && c.Length != 0 && c.Length == c.M {
		err = family.Invalid("spec", s, "want no length=, since that is m")
	}
	if err == nil {
		err = c.CheckBuilt(s, "")
	}
	if err == nil {
		length, err = c.lengthFor(c.M)
	}
	return bitsOf(c.M, length, c.K), length, err
}
