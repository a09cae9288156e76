package blocked

import (
	"cmp"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

func (f *Filter) spec() filter.Spec {
	return family.NewSpec(Family, "blocks", f.blocks, "k", f.k, "layout", string(f.layout()))
}

// Encode returns one section: the blocks in order, 8 words each in the line layout, 4 in the split one. In the split
// layout the 32-bit word i of a block is the low (i even) or high (i odd) half of its 64-bit word i/2.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if the Spec does not fix a geometry.
func SectionWords(s filter.Spec) ([]uint64, error) {
	f, err := geometry(s)
	return []uint64{f.blocks * uint64(f.blockWords())}, err
}

// Decode makes a filter from its stored form, as Encode returns it. The filter shares the words. Decode returns an
// error if the sections do not have the sizes of SectionWords.
func Decode(e family.Encoded) (*Filter, error) {
	f, err := geometry(e.Spec)
	if err := e.CheckSections([]uint64{f.blocks * uint64(f.blockWords())}, err); err != nil {
		return nil, err
	}
	f.setWords(e.Sections[0])
	f.keys = e.Keys
	return &f, nil
}

// geometry reads the Spec of a built filter, blocked(blocks=,k=,layout=). Other Specs are errors.
func geometry(s filter.Spec) (f Filter, err error) {
	c, err := ConfigFromSpec(s, 0)
	if err == nil && (c.Blocks == 0 || c.K == 0 || !c.Size.IsZero() || !family.Given(s, "layout") ||
		family.Given(s, "capacity")) {
		err = family.Invalid("spec", s, "want blocked(blocks=,k=,layout=)")
	}
	if err == nil {
		f.split, f.blocks, f.k = c.Layout == Split, c.Blocks, c.K
		err = cmp.Or(c.check(), checkBlocks(c.Blocks))
	}
	return f, err
}
