package kernel

import (
	"math/bits"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// Ribbon answers queries of one layer of a bumped ribbon filter. Package ribbon describes the layout; hasGo is the
// specification. All positions that follow from the fields must lie in Words and Classes: they are not checked.
type Ribbon struct {
	// The assembly depends on the order of these fields.
	Words   []uint64  // of the layer, from the first column of a fingerprint in its first block on
	Classes []uint64  // two bits a bucket
	Bucket  uint64    // the first one of the layer in Classes
	Low     uint64    // the bits of Lo that belong to a key
	Turn    uint64    // bits by which coefficients are rotated, below 64
	Factor  uint64    // of Hi
	Starts  uint64    // start positions
	Shift   uint64    // log2 of the starts of a bucket
	Within  uint64    // 1<<Shift - 1
	Limits  [4]uint64 // by class: starts of a bucket below the limit are bumped
	Columns uint64    // of a block that is not wide
	Wide    uint64    // blocks that have one column more, the first ones
	Prints  uint64    // columns of the fingerprint in a block that is not wide
	C, D, F uint64    // factors of the coefficients and of the fingerprint
	Width   uint64    // coefficients of a key, 64 or 128
	how     uint64    // the code that answers
	stride  uint64    // bytes of a block that is not wide
	one     uint64    // 1
	mask    uint64    // the bits of at most eight columns
	keep    [8]uint64 // for each of eight columns all ones if it is one of the fingerprint, else 0
}

// The values of Ribbon.how besides byGo. Those of the other instruction set are three higher.
const (
	byFew    = 1 // width 64, at most eight columns, no wide blocks
	byNarrow = 2 // width 64
	byBroad  = 3 // width 128
)

// Ready chooses the code that answers. Call it when the fields are set.
func (r *Ribbon) Ready() {
	r.stride, r.one, r.mask = 8*r.Columns, 1, 1<<min(r.Prints, 8)-1
	for i := range min(r.Prints, 8) {
		r.keep[i] = 1<<64 - 1
	}
	switch {
	case r.Width == 128:
		r.how = byBroad
	case r.Wide == 0 && r.Prints <= 8:
		r.how = byFew
	default:
		r.how = byNarrow
	}
	switch {
	case hasRibbon512:
	case hasRibbon256:
		r.how += byBroad
	default:
		r.how = byGo
	}
}

// RibbonSegment is log2 of the starts of a segment. Width slots without starts follow each segment.
const RibbonSegment = 18

// Results of Ribbon.Has.
const (
	RibbonAbsent = iota
	RibbonPresent
	RibbonBumped // the key does not belong to this layer
)

// hasGo is the specification of Has, in the order in which loads overlap: it compares four columns at a time, because
// a branch for each column would be mispredicted for most absent keys.
func (r *Ribbon) hasGo(hi, lo uint64) uint8 {
	start := probe.Position(hi*r.Factor, r.Starts)
	bucket := r.Bucket + start>>(r.Shift%64)
	class := *at(unsafe.Pointer(unsafe.SliceData(r.Classes)), bucket/32) >> (bucket * 2 % 64) & 3
	if start&r.Within < r.Limits[class] {
		return RibbonBumped
	}
	slot := start + start>>RibbonSegment*r.Width
	block, q := slot/64, slot%64
	x := hi ^ lo&r.Low
	print := probe.Mix(x, r.F)
	c := bits.RotateLeft64(probe.Mix(x, r.C), int(r.Turn)) | 1
	words := unsafe.Pointer(unsafe.SliceData(r.Words))
	first := block*r.Columns + min(block, r.Wide)
	second := first + r.Columns
	if block < r.Wide {
		second++
	}
	columns := r.Prints
	if r.Width == 128 {
		d := bits.RotateLeft64(probe.Mix(x, r.D), int(r.Turn))
		third := second + r.Columns
		if block+1 < r.Wide {
			third++
		}
		if block+2 < r.Wide {
			columns++
		}
		if columns == 0 { // the columns may lie behind the last word
			return RibbonPresent
		}
		c, d, e := c<<q, d<<q|c>>1>>(63-q), d>>1>>(63-q)
		return hasWide(at(words, first), at(words, second), at(words, third), c, d, e, print, columns)
	}
	if block+1 < r.Wide {
		columns++
	}
	if columns == 0 {
		return RibbonPresent
	}
	return hasNarrow(at(words, first), at(words, second), c<<q, c>>1>>(63-q), print, columns)
}

// hasManyGo is the specification of HasMany. It does not prefetch.
func (r *Ribbon) hasManyGo(dst []bool, hs []filter.Hash, bumped []uint16) []uint16 {
	n := 0
	for i, h := range hs {
		answer := r.hasGo(h.Hi, h.Lo)
		dst[i] = answer == RibbonPresent
		bumped[n] = uint16(i)
		if answer == RibbonBumped {
			n++
		}
	}
	return bumped[:n]
}

// at returns the address of a word.
func at(words unsafe.Pointer, i uint64) *uint64 { return (*uint64)(unsafe.Add(words, i*8)) }

// hasNarrow compares the parities of columns, one or more, with the bits of print. c and d are the coefficients of the
// 64 slots of two blocks. It makes no pointer behind the last column, which may be the end of the memory.
func hasNarrow(first, second *uint64, c, d, print, columns uint64) uint8 {
	v, w := unsafe.Pointer(first), unsafe.Pointer(second)
	for columns >= 4 {
		a, b := (*[4]uint64)(v), (*[4]uint64)(w)
		odd := bits.OnesCount64(a[0]&c^b[0]&d) ^ int(print)
		odd |= bits.OnesCount64(a[1]&c^b[1]&d) ^ int(print>>1)
		odd |= bits.OnesCount64(a[2]&c^b[2]&d) ^ int(print>>2)
		odd |= bits.OnesCount64(a[3]&c^b[3]&d) ^ int(print>>3)
		if odd&1 != 0 {
			return RibbonAbsent
		}
		if columns -= 4; columns == 0 {
			return RibbonPresent
		}
		v, w, print = unsafe.Add(v, 32), unsafe.Add(w, 32), print>>4
	}
	odd := 0
	for i := range columns {
		odd |= bits.OnesCount64(*at(v, i)&c^*at(w, i)&d) ^ int(print>>i)
	}
	return uint8(odd&1 ^ 1)
}

// hasWide is hasNarrow for the slots of three blocks.
func hasWide(first, second, third *uint64, c, d, e, print, columns uint64) uint8 {
	v, w, x := unsafe.Pointer(first), unsafe.Pointer(second), unsafe.Pointer(third)
	for {
		odd := 0
		for i := range min(columns, 4) {
			odd |= bits.OnesCount64(*at(v, i)&c^*at(w, i)&d^*at(x, i)&e) ^ int(print>>i)
		}
		if odd&1 != 0 {
			return RibbonAbsent
		}
		if columns <= 4 {
			return RibbonPresent
		}
		v, w, x, print = unsafe.Add(v, 32), unsafe.Add(w, 32), unsafe.Add(x, 32), print>>4
		columns -= 4
	}
}
