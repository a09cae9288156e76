package guava

import (
	"cmp"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

func (f *Filter) spec() filter.Spec { return Spec(uint64(len(f.words)), f.k, f.strategy) }

// Spec returns the Spec of a filter with this geometry.
func Spec(words uint64, k int, s Strategy) filter.Spec {
	return family.NewSpec(Family, "k", k, "strategy", int(s), "words", words)
}

// K returns the number of probes per key.
func (f *Filter) K() int { return f.k }

// Strategy returns the strategy.
func (f *Filter) Strategy() Strategy { return f.strategy }

// Encode returns one section: the words. Bit i of the filter is bit i%64 of word i/64.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec is not that of a built filter.
func SectionWords(s filter.Spec) ([]uint64, error) {
	c, err := geometry(s)
	return []uint64{c.Words}, err
}

// Decode returns the filter that Encode stored. It keeps the words of e and does not copy them. It returns an error
// if the sections do not have the sizes of SectionWords.
func Decode(e family.Encoded) (*Filter, error) {
	c, err := geometry(e.Spec)
	if err := e.CheckSections([]uint64{c.Words}, err); err != nil {
		return nil, err
	}
	return &Filter{words: e.Sections[0], k: c.K, strategy: c.Strategy, keys: e.Keys}, nil
}

// geometry reads the canonical Spec of a built filter, guava(k=,strategy=,words=). It rejects any other.
func geometry(s filter.Spec) (Config, error) {
	c, err := ConfigFromSpec(s, 0)
	if err == nil && (c.Words == 0 || c.K == 0 || c.Strategy == 0 || !c.Size.IsZero() || family.Given(s, "capacity")) {
		err = family.Invalid("spec", s, "want guava(k=,strategy=,words=)")
	}
	if err == nil {
		err = cmp.Or(c.check(), checkWords(c.Words))
	}
	return c, err
}
