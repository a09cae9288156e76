package fuse

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// batch is the number of keys that are queried together; see family standard.
const batch = 16

// inCache is the number of words, 2 MiB, of a filter that the caches hold, for which prefetching gains nothing.
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

// hasCached is HasMany without prefetching. Its loops are those of Has with the fields of the filter in registers.
func (f *Filter) hasCached(dst []bool, hs []filter.Hash) {
	l, words, width, low := f.locator, f.words, uint64(f.width), f.low
	dst = dst[:len(hs)]
	switch width {
	case 8:
		for i, h := range hs {
			h0, h1, h2, print := l.slots(h.Lo)
			dst[i] = uint8(print)^bitvec.Byte(words, h0)^bitvec.Byte(words, h1)^bitvec.Byte(words, h2) == 0
		}
	case 16:
		for i, h := range hs {
			h0, h1, h2, print := l.slots(h.Lo)
			dst[i] = uint16(print)^bitvec.Word16(words, h0)^bitvec.Word16(words, h1)^bitvec.Word16(words, h2) == 0
		}
	default:
		for i, h := range hs {
			h0, h1, h2, print := l.slots(h.Lo)
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
			h0, h1, h2, print := l.slots(h.Lo)
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

// Prefetch asks for the slots of the keys.
func (f *Filter) Prefetch(hs []filter.Hash) {
	var bits [3 * batch]uint64
	width := uint64(f.width)
	for ; len(hs) > 0; hs = hs[min(batch, len(hs)):] {
		group := hs[:min(batch, len(hs))]
		for i, h := range group {
			h0, h1, h2, _ := f.slots(h.Lo)
			bits[3*i], bits[3*i+1], bits[3*i+2] = h0*width, h1*width, h2*width
		}
		bitvec.PrefetchBits(f.words, bits[:3*len(group)])
	}
}
