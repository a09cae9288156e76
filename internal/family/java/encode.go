package java

import (
	"cmp"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

func (f *Filter) spec() filter.Spec { return f.kind.Spec(uint64(len(f.words)), f.k, f.sums) }

// Encode returns one section: the words. Bit i of the filter is bit i%64 of word i/64.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func (kind *Kind) SectionWords(s filter.Spec) ([]uint64, error) {
	c, err := kind.geometry(s)
	return []uint64{c.Words}, err
}

// Decode returns the filter that Encode stored. It keeps the words of e and does not copy them. It returns an error
// if the sections do not have the sizes of SectionWords.
func (kind *Kind) Decode(e family.Encoded) (*Filter, error) {
	c, err := kind.geometry(e.Spec)
	if err := e.CheckSections([]uint64{c.Words}, err); err != nil {
		return nil, err
	}
	return &Filter{words: e.Sections[0], k: c.K, sums: c.Sums, kind: kind, keys: e.Keys}, nil
}

// geometry reads the canonical Spec of a built filter. It rejects any other.
func (kind *Kind) geometry(s filter.Spec) (Config, error) {
	c, err := kind.ConfigFromSpec(s, 0)
	if err == nil && (c.Words == 0 || c.K == 0 || c.Sums == 0 || !c.Size.IsZero() || family.Given(s, "capacity")) {
		err = family.Invalid("spec", s, "want %s(k=,%s=,words=)", kind.Family, kind.Parameter)
	}
	if err == nil {
		err = cmp.Or(c.check(), c.checkWords(c.Words))
	}
	return c, err
}
