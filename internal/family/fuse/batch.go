package fuse

import (
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// batch is the number of keys that are queried together; see family standard.
const batch = 16

// inCache is the number of words (2 MiB) below which a filter stays in the caches, so that prefetching gains nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). In filters larger than the caches it prefetches the slots of a batch of keys
// before it tests them. It panics if dst and hs differ in length.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	k := f.kernel()
	if k.HasMany(dst, hs, f.width) {
		return
	}
	if len(f.words) < inCache {
		f.hasCached(dst, hs)
	} else {
		f.hasMany(dst, hs)
	}
}

// hasCached is HasMany without prefetching. Its loops are the code of Has with the fields of the filter in registers.
func (f *Filter) hasCached(dst []bool, hs []filter.Hash) {
	l, words, width, low := f.locator, f.words, uint64(f.width), f.low
	dst = dst[:len(hs)]
	switch width {
	case 8:
		for i, h := range hs {
			h0, h1, h2, print := l.slotsAndPrint(h.Lo)
			dst[i] = uint8(print)^bitvec.Byte(words, h0)^bitvec.Byte(words, h1)^bitvec.Byte(words, h2) == 0
		}
	case 16:
		for i, h := range hs {
			h0, h1, h2, print := l.slotsAndPrint(h.Lo)
			dst[i] = uint16(print)^bitvec.Word16(words, h0)^bitvec.Word16(words, h1)^bitvec.Word16(words, h2) == 0
		}
	default:
		for i, h := range hs {
			h0, h1, h2, print := l.slotsAndPrint(h.Lo)
			slots := bitvec.Load57(words, h0*width) ^ bitvec.Load57(words, h1*width) ^ bitvec.Load57(words, h2*width)
			dst[i] = (print^slots)&low == 0
		}
	}
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var bits [3 * batch]uint64
	var prints [batch]uint64
	l, words, width, low := f.locator, f.words, uint64(f.width), f.low
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			h0, h1, h2, print := l.slotsAndPrint(h.Lo)
			bits[3*i], bits[3*i+1], bits[3*i+2], prints[i] = h0*width, h1*width, h2*width, print
		}
		bitvec.PrefetchBits(words, bits[:3*len(group)])
		for i := range group {
			slots := bitvec.Load57(words, bits[3*i]) ^ bitvec.Load57(words, bits[3*i+1]) ^ bitvec.Load57(words, bits[3*i+2])
			dst[start+i] = (prints[i]^slots)&low == 0
		}
	}
}

// HasManyCold is HasMany with prefetching in a filter of any size.
func (f *Filter) HasManyCold(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	f.hasMany(dst[:len(hs)], hs)
}

// Prefetch prefetches the slots of the keys.
func (f *Filter) Prefetch(hs []filter.Hash) {
	var bits [3 * batch]uint64
	width := uint64(f.width)
	for ; len(hs) > 0; hs = hs[min(batch, len(hs)):] {
		group := hs[:min(batch, len(hs))]
		for i, h := range group {
			h0, h1, h2, _ := f.slotsAndPrint(h.Lo)
			bits[3*i], bits[3*i+1], bits[3*i+2] = h0*width, h1*width, h2*width
		}
		bitvec.PrefetchBits(f.words, bits[:3*len(group)])
	}
}

// spread implements family.Spread for filters of the same width, 8 or 16.
type spread struct {
	width  uint
	places []place
}

// place is the location of the slots of a filter.
type place struct {
	words []uint64
	locator
}

// Spread implements family.Spreader. It returns nil for widths other than 8 and 16, and on machines for which bitvec
// has no prefetch instruction.
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

// HasManySpread prefetches the slots of each batch of keys before it tests the previous batch.
func (s *spread) HasManySpread(dst []bool, hs []filter.Hash, at []uint32) {
	family.CheckBatch(dst, hs)
	at = at[:len(hs)]
	var both [2]asked // this batch and the next one
	s.findSlots(&both[0], hs[:min(batch, len(hs))], at)
	for i := 0; len(hs) > 0; i++ {
		n := min(batch, len(hs))
		out := dst[:n]
		dst, hs, at = dst[n:], hs[n:], at[n:]
		s.findSlots(&both[(i+1)%2], hs[:min(batch, len(hs))], at)
		s.testBatch(&both[i%2], out)
	}
}

// findSlots finds and prefetches the slots of a batch of keys.
func (s *spread) findSlots(a *asked, hs []filter.Hash, at []uint32) {
	width := uint64(s.width)
	for i, h := range hs {
		p := &s.places[at[i]]
		h0, h1, h2, print := p.slotsAndPrint(h.Lo)
		a.words[i], a.slots[i], a.prints[i] = p.words, [3]uint64{h0, h1, h2}, print
		base := bitvec.BitAddress(unsafe.Pointer(unsafe.SliceData(p.words)))
		a.ask[3*i], a.ask[3*i+1], a.ask[3*i+2] = base+h0*width, base+h1*width, base+h2*width
	}
	bitvec.PrefetchBitsAt(a.ask[:3*len(hs)])
}

// testBatch sets out to the answers for the batch; see Filter.Has.
func (s *spread) testBatch(a *asked, out []bool) {
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
