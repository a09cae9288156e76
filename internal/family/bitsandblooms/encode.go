package bitsandblooms

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

func (f *Filter) spec() filter.Spec { return Spec(f.m, f.length, f.k) }

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
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	f, err := geometry(s)
	return []uint64{(f.length + 63) / 64}, err
}

// Decode returns the filter that Encode stored. It keeps the words of e and does not copy them. It returns an error
// if the sections do not have the sizes of SectionWords, or if a bit from length on is set.
func Decode(e family.Encoded) (*Filter, error) {
	f, err := geometry(e.Spec)
	if err := e.CheckSections([]uint64{(f.length + 63) / 64}, err); err != nil {
		return nil, err
	}
	f.words, f.keys = e.Sections[0], e.Keys
	if !bitvec.ZeroFrom(f.words, f.length) {
		return nil, fmt.Errorf("a bit at position %d or above is set; the bit set ends there", f.length)
	}
	return &f, nil
}

// geometry reads the canonical Spec of a built filter: bitsandblooms(k=,m=), with length= only if that is not m. It
// rejects any other.
func geometry(s filter.Spec) (f Filter, err error) {
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
