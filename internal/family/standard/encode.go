package standard

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

func (f *Filter) spec() filter.Spec { return family.NewSpec(Family, "m", f.m, "k", f.k) }

// Encode returns one section of ⌈m/64⌉ words. Bit i of the filter is bit i%64 of word i/64. Bits from m on are 0.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	m, _, err := probe.Built(s, 1)
	return []uint64{(m + 63) / 64}, err
}

// Decode makes a filter from its stored form, as Encode returns it. The filter shares the words. Decode returns an
// error if the sections do not have the sizes of SectionWords or if bits from m on are set.
func Decode(e family.Encoded) (*Filter, error) {
	m, k, err := probe.Built(e.Spec, 1)
	if err := e.CheckSections([]uint64{(m + 63) / 64}, err); err != nil {
		return nil, err
	}
	words := e.Sections[0]
	if !bitvec.ZeroFrom(words, m) {
		return nil, fmt.Errorf("bits from m=%d on are set", m)
	}
	return &Filter{words: words, m: m, k: k, keys: e.Keys}, nil
}
