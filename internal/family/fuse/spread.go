package fuse

import (
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// spread implements family.Spread for filters of the same width, 8 or 16.
type spread struct {
	width  uint
	places []place
}

// place is where the slots of a filter are.
type place struct {
	words []uint64
	locator
}

// Spread implements family.Spreader. It returns nil for widths other than 8 and 16, and on machines where bitvec has no
// prefetch instruction.
func (f *Filter) Spread(filters int) family.Spread {
	if !bitvec.Prefetches || f.width != 8 && f.width != 16 {
		return nil
	}
	return &spread{width: f.width, places: make([]place, filters)}
}

// SetFilter makes f filter i if it is a filter of the same width.
func (s *spread) SetFilter(i int, f family.Filter) bool {
	o, ok := f.(*Filter)
	if !ok || o.width != s.width {
		s.places[i] = place{}
		return false
	}
	s.places[i] = place{words: o.words, locator: o.locator}
	return true
}

// asked is a batch of keys whose slots are prefetched.
type asked struct {
	words  [batch][]uint64
	slots  [batch][3]uint64
	ask    [3 * batch]uint64 // see bitvec.PrefetchBitsAt
	prints [batch]uint64
}

// HasManySpread prefetches the slots of a batch of keys before it tests the batch before it.
func (s *spread) HasManySpread(dst []bool, hs []filter.Hash, at []uint32) {
	family.CheckBatch(dst, hs)
	at = at[:len(hs)]
	var both [2]asked // this batch and the next one
	s.find(&both[0], hs[:min(batch, len(hs))], at)
	for i := 0; len(hs) > 0; i++ {
		n := min(batch, len(hs))
		out := dst[:n]
		dst, hs, at = dst[n:], hs[n:], at[n:]
		s.find(&both[(i+1)%2], hs[:min(batch, len(hs))], at)
		s.test(&both[i%2], out)
	}
}

// find finds and prefetches the slots of a batch of keys.
func (s *spread) find(a *asked, hs []filter.Hash, at []uint32) {
	width := uint64(s.width)
	for i, h := range hs {
		p := &s.places[at[i]]
		h0, h1, h2, print := p.slots(h.Lo)
		a.words[i], a.slots[i], a.prints[i] = p.words, [3]uint64{h0, h1, h2}, print
		base := bitvec.BitAddress(unsafe.Pointer(unsafe.SliceData(p.words)))
		a.ask[3*i], a.ask[3*i+1], a.ask[3*i+2] = base+h0*width, base+h1*width, base+h2*width
	}
	bitvec.PrefetchBitsAt(a.ask[:3*len(hs)])
}

// test is as Filter.Has.
func (s *spread) test(a *asked, out []bool) {
	if s.width == 8 {
		for i := range out {
			words, h := a.words[i], &a.slots[i]
			out[i] = uint8(a.prints[i])^bitvec.Byte(words, h[0])^bitvec.Byte(words, h[1])^bitvec.Byte(words, h[2]) == 0
		}
		return
	}
	for i := range out {
		words, h := a.words[i], &a.slots[i]
		out[i] = uint16(a.prints[i])^bitvec.Word16(words, h[0])^bitvec.Word16(words, h[1])^bitvec.Word16(words, h[2]) == 0
	}
}
