// Package fuse implements the binary fuse filter (Graf and Lemire, JEA 27, 2022). It is static and has 1.13 to 1.3
// slots per key; each slot is a fingerprint of 1 to 32 bits, and a query reads three slots. The equation of each key,
//
//	fingerprint = slot[h0] ^ slot[h1] ^ slot[h2]
//
// holds for each bit: slots of w bits are the low w bits of wider ones, packed without gaps. The positions, the seeds
// and the order in which the slots are set are the same as in FastFilter/xorfilter 0.4.2, so the slots are also equal.
//
// The key is Lo of the Hash; Hi is not used. Keys with the same Lo, n²/2^65 pairs, have the same answer. The
// false-positive rate is 2^-w.
package fuse

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
)

// Family is the name in a Spec: fuse(seed=1,segment=8192,segments=20,width=8).
const Family = "fuse"

// MaxWidth is the largest number of bits in a fingerprint.
const MaxWidth = 32

// Filter is a binary fuse filter. It does not change, so all methods are safe from any number of goroutines.
type Filter struct {
	words []uint64 // slots of width bits, packed
	locator
	segments uint64
	width    uint
	low      uint64 // 1<<width - 1
	keys     uint64
}

// locator finds the slots of a key. It is small enough for the compiler to keep it in registers.
type locator struct {
	seed    uint64
	count   uint64 // first positions: segments·segment
	segment uint64 // slots per segment, a power of two
}

// slotsAndPrint returns the three positions of a key and, in the low bits of print, its fingerprint. Murmur3's
// finaliser mixes the key with the seed; the high bits of the result give the first position, and the other two
// positions are in the next two segments.
func (l locator) slotsAndPrint(key uint64) (h0, h1, h2, print uint64) {
	x := key + l.seed
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	h0, _ = bits.Mul64(x, l.count)
	mask := l.segment - 1 // the XOR with fewer bits than a segment stays within the segment
	return h0, (h0 + l.segment) ^ x>>18&mask, (h0 + 2*l.segment) ^ x&mask, x ^ x>>32
}

// Has reports whether the key may be in the set. Loads stay within the words: all positions are below slotCount, and 64
// bits follow the last slot. Slots of 8 and 16 bits take a third fewer instructions than slots of other widths.
func (f *Filter) Has(h filter.Hash) bool {
	h0, h1, h2, print := f.slotsAndPrint(h.Lo)
	width := uint64(f.width)
	if width&7 == 0 { // one branch for all other widths
		switch width {
		case 8:
			return uint8(print)^bitvec.Byte(f.words, h0)^bitvec.Byte(f.words, h1)^bitvec.Byte(f.words, h2) == 0
		case 16:
			return uint16(print)^bitvec.Word16(f.words, h0)^bitvec.Word16(f.words, h1)^bitvec.Word16(f.words, h2) == 0
		}
	}

	slots := bitvec.Load57(f.words, h0*width) ^ bitvec.Load57(f.words, h1*width) ^ bitvec.Load57(f.words, h2*width)
	return (print^slots)&f.low == 0
}

// Probe is kernel.Prober.
func (f *Filter) Probe() kernel.Probe {
	k := f.kernel()
	return k.Probe(f.width)
}

func (f *Filter) kernel() kernel.Fuse {
	return kernel.Fuse{Words: f.words, Seed: f.seed, Count: f.count, Segment: f.segment}
}

// slotCount returns the number of slots: two segments follow the last first position.
func (f *Filter) slotCount() uint64 { return f.count + 2*f.segment }

// Info describes the filter. Fill is keys over slots.
func (f *Filter) Info() filter.Info {
	rate := FPR(f.width)
	return filter.Info{
		Spec:         f.builtSpec(),
		Keys:         f.keys,
		Bits:         f.slotCount() * uint64(f.width),
		Fill:         float64(f.keys) / float64(f.slotCount()),
		FPRPrior:     rate,
		FPRPosterior: rate,
	}
}

// FPR returns the false-positive probability with fingerprints of width bits, 2^-width. This is the prior and the
// posterior rate, because the slots look random for any keys.
func FPR(width uint) float64 { return math.Ldexp(1, -int(width)) }

// empty is the filter of 0 keys, with segments=0 in its Spec. No query reads its slots, because they would equal the
// fingerprints of some keys. It is a separate type so that queries of a Filter need not test for it.
type empty struct {
	family.Encoded
	width uint
}

// emptySlots is the number of its slots: two segments of one slot.
const emptySlots = 2

func newEmpty(width uint) *empty {
	s := family.NewSpec(Family, "seed", 0, "segment", 1, "segments", 0, "width", width)
	words := make([]uint64, bitvec.PackedWords(emptySlots, width))
	return &empty{family.Encoded{Spec: s, Sections: [][]uint64{words}}, width}
}

// Has returns false.
func (f *empty) Has(filter.Hash) bool { return false }

// HasMany sets dst to false. It panics if dst and hs differ in length.
func (f *empty) HasMany(dst []bool, hs []filter.Hash) {
	family.CheckBatch(dst, hs)
	clear(dst)
}

// Encode is Filter.Encode.
func (f *empty) Encode() family.Encoded { return f.Encoded }

// Info describes the filter.
func (f *empty) Info() filter.Info {
	return filter.Info{Spec: f.Spec, Bits: emptySlots * uint64(f.width), FPRPrior: FPR(f.width)}
}

func (f *Filter) builtSpec() filter.Spec {
	return family.NewSpec(Family, "seed", f.seed, "segment", f.segment, "segments", f.segments, "width", f.width)
}

// Encode returns one section, which shares the memory of the filter: (segments+2)·segment slots of width bits, packed
// from the lowest bit of the first word on, then at least 64 zero bits.
func (f *Filter) Encode() family.Encoded {
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: [][]uint64{f.words}}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	f, err := builtGeometry(s)
	return []uint64{bitvec.PackedWords(f.slotCount(), f.width)}, err
}

// Decode makes a filter from the result of Encode and keeps its words. It returns an error if the section does not have
// the size of SectionWords, bits behind the last slot are set, or keys have no segments.
func Decode(e family.Encoded) (family.Filter, error) {
	f, err := builtGeometry(e.Spec)
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

// builtGeometry reads the Spec of a built filter, fuse(seed=,segment=,segments=,width=), and no other.
func builtGeometry(s filter.Spec) (f Filter, err error) {
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
	f, err := builtGeometry(s)
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

// Bytes returns the number of bytes that the slots take in the section. Has reads up to 8 bytes more.
func (v *View) Bytes() uint64 { return ((v.Segments+2)*v.Segment*uint64(v.Width) + 7) / 8 }

// Has reports whether the key may be in the set. It panics if the section has fewer than 8 bytes after the bytes that
// Bytes counts.
func (v *View) Has(section []byte, h filter.Hash) bool {
	l := locator{seed: v.Seed, count: v.Segments * v.Segment, segment: v.Segment}
	h0, h1, h2, print := l.slotsAndPrint(h.Lo)
	width := uint64(v.Width)
	slots := load57(section, h0*width) ^ load57(section, h1*width) ^ load57(section, h2*width)
	return (print^slots)&(1<<(width&63)-1) == 0
}

// load57 returns a word whose lowest 57 bits are bits [i, i+57).
func load57(b []byte, i uint64) uint64 { return binary.LittleEndian.Uint64(b[i/8:]) >> (i % 8) }
