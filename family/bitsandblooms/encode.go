package bitsandblooms

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

func (f *Filter) spec() filter.Spec { return Spec(f.m, f.length, f.k) }

// Spec returns the Spec of a filter of that geometry.
func Spec(m, length uint64, k int) filter.Spec {
	s := filter.NewSpec(Family, "k", k, "m", m)
	if length != m {
		s = s.With("length", length)
	}
	return s
}

// Geometry returns the number of bits, the length of the bit set that holds them, and the number of probes a key.
func (f *Filter) Geometry() (m, length uint64, k int) { return f.m, f.length, f.k }

// Encode returns one section: the ⌈length/64⌉ words, bit i being bit i%64 of word i/64. Bits from length on are 0.
func (f *Filter) Encode() filter.Encoded {
	return filter.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec, or an error wrapping
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	f, err := geometry(s)
	return []uint64{(f.length + 63) / 64}, err
}

// Decode makes the filter from what Encode gave, whose sections have the sizes of SectionWords. It keeps the words.
func Decode(e filter.Encoded) (*Filter, error) {
	if err := e.CheckSections(SectionWords(e.Spec)); err != nil {
		return nil, err
	}
	f, err := geometry(e.Spec)
	if err != nil {
		return nil, err
	}
	f.words, f.keys = e.Sections[0], e.Keys
	if n := f.length; n%64 != 0 && f.words[n/64]>>(n%64) != 0 {
		return nil, fmt.Errorf("bits from %d on are set", n)
	}
	return &f, nil
}

// geometry reads the canonical Spec of a built filter, bitsandblooms(k=,m=) with a length= that is not m, and no other.
func geometry(s filter.Spec) (f Filter, err error) {
	c, err := ConfigFromSpec(s, 0)
	if err == nil && (c.M == 0 || c.K == 0 || c.Length == c.M || !c.Size.IsZero() || s.Has("capacity")) {
		err = &filter.ConfigError{Field: "spec", Value: s, Reason: "want bitsandblooms(k=,m=)"}
	}
	if err == nil {
		f.m, f.length, f.k, err = c.Geometry()
	}
	return f, err
}
