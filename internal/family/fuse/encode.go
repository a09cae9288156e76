package fuse

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

func (f *Filter) spec() filter.Spec {
	return family.NewSpec(Family, "seed", f.seed, "segment", f.segment, "segments", f.segments, "width", f.width)
}

// Encode returns one section, which shares the memory of the filter: (segments+2)·segment slots of width bits, packed
// from the lowest bit of the first word on, then at least 64 zero bits.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.spec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	f, err := geometry(s)
	return []uint64{bitvec.PackedWords(f.slotCount(), f.width)}, err
}

// Decode makes a filter from the result of Encode and keeps its words. It returns an error if the section does not have
// the size of SectionWords, bits behind the last slot are set, or keys have no segments.
func Decode(e family.Encoded) (family.Filter, error) {
	f, err := geometry(e.Spec)
	if err := e.CheckSections([]uint64{bitvec.PackedWords(f.slotCount(), f.width)}, err); err != nil {
		return nil, err
	}

	f.words, f.keys = e.Sections[0], e.Keys
	if !bitvec.ZeroFrom(f.words, f.slotCount()*uint64(f.width)) {
		return nil, fmt.Errorf("bits behind the last slot are set")
	}

	switch {
	case f.segments > 0:
		return &f, nil
	case f.keys > 0:
		return nil, fmt.Errorf("%d keys and no segments", f.keys)
	}
	return &empty{e, f.width}, nil
}

// geometry reads the Spec of a built filter, fuse(seed=,segment=,segments=,width=), and no other.
func geometry(s filter.Spec) (f Filter, err error) {
	r := family.Reader(s)
	f = Filter{locator: locator{seed: r.Uint("seed"), segment: r.Uint("segment")}, segments: r.Uint("segments")}
	f.width = uint(min(r.Uint("width"), MaxWidth+1))
	if err := r.Err(); err != nil {
		return Filter{}, err
	}

	v := View{Segment: f.segment, Segments: f.segments, Width: f.width}
	if f.segments == 0 && f.segment == 1 { // of 0 keys
		v.Segments = 1
	}
	if !family.Given(s, "seed") || !v.Valid() {
		return Filter{}, family.Invalid("spec", s,
			"want fuse(seed=,segment=,segments=,width=) with segment a power of two up to 262144")
	}

	f.count, f.low = f.segments*f.segment, 1<<f.width-1
	return f, nil
}
