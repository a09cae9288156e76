package fuse

import (
	"encoding/binary"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// View is the geometry of a stored filter. It answers queries from the bytes of the filter's section, little endian as
// in files, without a copy or an allocation. The bytes may lie at any address. Filter is faster on words.
//
// The methods need a View for which Valid is true; others may panic. A View is safe for concurrent use.
type View struct {
	Seed     uint64
	Segment  uint64 // slots of a segment, a power of two
	Segments uint64 // segments in which a first slot may lie; two more follow
	Width    uint   // bits of a slot
}

// ViewOf returns the View of a filter with the Spec of a built filter. It returns the errors of SectionWords. A filter
// of 0 keys has no View.
func ViewOf(s filter.Spec) (View, error) {
	f, err := geometry(s)
	if err == nil && f.segments == 0 {
		err = family.Invalid("spec", s, "a filter of 0 keys has no view")
	}
	if err != nil {
		return View{}, err
	}
	return View{Seed: f.seed, Segment: f.segment, Segments: f.segments, Width: f.width}, nil
}

// Valid reports whether a filter may have this geometry.
func (v *View) Valid() bool {
	return v.Segment >= 1 && v.Segment <= maxSegment && v.Segment&(v.Segment-1) == 0 &&
		v.Segments >= 1 && v.Segments <= 1<<32/v.Segment && v.Width >= 1 && v.Width <= MaxWidth
}

// Bytes returns the number of bytes of the section that hold slots. Has reads up to 8 bytes more.
func (v *View) Bytes() uint64 { return ((v.Segments+2)*v.Segment*uint64(v.Width) + 7) / 8 }

// Has reports whether the key may be in the set. It panics if the section has fewer than 8 bytes after the bytes that
// Bytes counts.
func (v *View) Has(section []byte, h filter.Hash) bool {
	l := locator{seed: v.Seed, count: v.Segments * v.Segment, segment: v.Segment}
	h0, h1, h2, print := l.slots(h.Lo)
	width := uint64(v.Width)
	slots := load(section, h0*width) ^ load(section, h1*width) ^ load(section, h2*width)
	return (print^slots)&(1<<(width&63)-1) == 0
}

// load returns a word whose lowest 57 bits are bits [i, i+57).
func load(b []byte, i uint64) uint64 { return binary.LittleEndian.Uint64(b[i/8:]) >> (i % 8) }
