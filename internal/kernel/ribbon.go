package kernel

import (
	"math/bits"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/probe"
)

// Ribbon answers queries of one layer of a bumped ribbon filter. Package ribbon describes the layout; has is the
// specification. All positions that follow from the fields must be within Words and Classes; they are not checked.
type Ribbon struct {
	// The assembly depends on the order of these fields.
	Words   []uint64  // words of the layer, from the first column that the kernel reads of the first block on
	Classes []uint64  // two bits per bucket
	Bucket  uint64    // the first one of the layer in Classes
	Low     uint64    // the bits of Lo that belong to a key
	Turn    uint64    // bits by which coefficients are rotated, below 64
	Factor  uint64    // factor of Hi
	Starts  uint64    // start positions
	Shift   uint64    // log2 of the starts of a bucket
	Within  uint64    // 1<<Shift - 1
	Limits  [4]uint64 // limit of each class: starts of a bucket below it are bumped
	Columns uint64    // columns of a block that is not wide
	Wide    uint64    // blocks that have one column more, the first ones
	Prints  uint64    // columns that the kernel reads in a block that is not wide; for Has: of the fingerprint
	C, D, F uint64    // factors of the coefficients and of the fingerprint
	Width   uint64    // coefficients of a key, 64 or 128
	how     uint64    // the code that answers
	stride  uint64    // bytes of a block that is not wide
	one     uint64    // 1
	mask    uint64    // the bits of at most eight columns
	keep    [8]uint64 // for each of eight columns all ones if the kernel reads it, else 0

	Next *Ribbon                  // the layer for keys that do not belong to this layer; nil: Rest answers
	Rest func(hi, lo uint64) bool // answers if Next is nil
}

// The values of Ribbon.how besides byGo. The values of the other instruction set are three higher.
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

// RibbonBumped is the number of columns that Ribbon.Get returns for a key that does not belong to the layer.
const RibbonBumped = 1<<64 - 1

// has is the specification of Has.
func (r *Ribbon) has(hi, lo uint64) bool {
	start, bumped := r.startOf(hi)
	if bumped {
		return r.HasFurther(hi, lo)
	}
	return r.matches(start, hi, lo)
}

// HasFurther answers for a key that does not belong to this layer.
func (r *Ribbon) HasFurther(hi, lo uint64) bool {
	if r.Next != nil {
		return r.Next.Has(hi, lo)
	}
	return r.Rest(hi, lo)
}

// hasManyGo is the specification of HasMany.
func (r *Ribbon) hasManyGo(dst []bool, hs []filter.Hash, bumped []uint16, cold bool) []uint16 {
	n := 0
	if cold {
		r.Prefetch(hs[:min(ribbonAhead, len(hs))])
	}

	for i, h := range hs {
		if next := i + ribbonAhead; cold && i%ribbonAhead == 0 && next < len(hs) {
			r.Prefetch(hs[next:min(next+ribbonAhead, len(hs))])
		}
		start, other := r.startOf(h.Hi)
		if other {
			bumped[n] = uint16(i)
			n++
			continue
		}
		dst[i] = r.matches(start, h.Hi, h.Lo)
	}
	return bumped[:n]
}

// ribbonAhead is the number of keys whose blocks are prefetched together.
const ribbonAhead = 16

// Prefetch prefetches the blocks of keys and does not wait.
func (r *Ribbon) Prefetch(hs []filter.Hash) {
	var at [3 * ribbonAhead]uint64
	for ; len(hs) > 0; hs = hs[min(ribbonAhead, len(hs)):] {
		group := hs[:min(ribbonAhead, len(hs))]
		for i, h := range group {
			start := probe.Position(h.Hi*r.Factor, r.Starts)
			block := start/64 + start>>RibbonSegment*(r.Width/64)
			first := r.firstWordOf(block)
			at[3*i], at[3*i+1], at[3*i+2] = first, first+r.Columns, first+2*r.Columns // the last may be its end
		}
		bitvec.Prefetch(r.Words, at[:3*len(group)])
	}
}

// startOf returns the start of a key and whether the layer bumps it.
func (r *Ribbon) startOf(hi uint64) (start uint64, bumped bool) {
	start = probe.Position(hi*r.Factor, r.Starts)
	bucket := r.Bucket + start>>(r.Shift%64)
	class := *wordAt(unsafe.Pointer(unsafe.SliceData(r.Classes)), bucket/32) >> (bucket * 2 % 64) & 3
	return start, start&r.Within < r.Limits[class]
}

// matches reports whether the columns of a key give its fingerprint. It compares four columns at a time, because a
// branch for each column would be mispredicted for most absent keys. It makes no pointer behind the last column, which
// may be the end of the memory.
func (r *Ribbon) matches(start, hi, lo uint64) bool {
	if r.Width == 128 {
		return r.matchesBroad(start, hi, lo)
	}

	x := hi ^ lo&r.Low
	c := bits.RotateLeft64(probe.Mix(x, r.C), int(r.Turn)) | 1
	print := probe.Mix(x, r.F)
	block := start/64 + start>>RibbonSegment
	c, d := c<<(start%64), c>>1>>(63-start%64)
	columns := r.Prints
	if block+1 < r.Wide {
		columns++
	}

	if columns == 0 { // the columns may lie behind the last word
		return true
	}

	words := unsafe.Pointer(unsafe.SliceData(r.Words))
	v, w := unsafe.Pointer(wordAt(words, r.firstWordOf(block))), unsafe.Pointer(wordAt(words, r.firstWordOf(block+1)))
	for columns >= 4 {
		a, b := (*[4]uint64)(v), (*[4]uint64)(w)
		odd := bits.OnesCount64(a[0]&c^b[0]&d) ^ int(print)
		odd |= bits.OnesCount64(a[1]&c^b[1]&d) ^ int(print>>1)
		odd |= bits.OnesCount64(a[2]&c^b[2]&d) ^ int(print>>2)
		odd |= bits.OnesCount64(a[3]&c^b[3]&d) ^ int(print>>3)
		if odd&1 != 0 {
			return false
		}
		if columns -= 4; columns == 0 {
			return true
		}
		v, w, print = unsafe.Add(v, 32), unsafe.Add(w, 32), print>>4
	}

	odd := 0
	for i := range columns {
		odd |= bits.OnesCount64(*wordAt(v, i)&c^*wordAt(w, i)&d) ^ int(print>>i)
	}
	return odd&1 == 0
}

// matchesBroad is matches for coefficients that lie in three blocks.
func (r *Ribbon) matchesBroad(start, hi, lo uint64) bool {
	x := hi ^ lo&r.Low
	c := bits.RotateLeft64(probe.Mix(x, r.C), int(r.Turn)) | 1
	d := bits.RotateLeft64(probe.Mix(x, r.D), int(r.Turn))
	print := probe.Mix(x, r.F)
	block, q := start/64+start>>RibbonSegment*2, start%64
	c, d, e := c<<q, d<<q|c>>1>>(63-q), d>>1>>(63-q)
	columns := r.Prints
	if block+2 < r.Wide {
		columns++
	}

	if columns == 0 { // the columns may lie behind the last word
		return true
	}

	words := unsafe.Pointer(unsafe.SliceData(r.Words))
	u, v := unsafe.Pointer(wordAt(words, r.firstWordOf(block))), unsafe.Pointer(wordAt(words, r.firstWordOf(block+1)))
	w := unsafe.Pointer(wordAt(words, r.firstWordOf(block+2)))
	for columns >= 4 {
		a, b, z := (*[4]uint64)(u), (*[4]uint64)(v), (*[4]uint64)(w)
		odd := bits.OnesCount64(a[0]&c^b[0]&d^z[0]&e) ^ int(print)
		odd |= bits.OnesCount64(a[1]&c^b[1]&d^z[1]&e) ^ int(print>>1)
		odd |= bits.OnesCount64(a[2]&c^b[2]&d^z[2]&e) ^ int(print>>2)
		odd |= bits.OnesCount64(a[3]&c^b[3]&d^z[3]&e) ^ int(print>>3)
		if odd&1 != 0 {
			return false
		}
		if columns -= 4; columns == 0 {
			return true
		}
		u, v, w, print = unsafe.Add(u, 32), unsafe.Add(v, 32), unsafe.Add(w, 32), print>>4
	}

	odd := 0
	for i := range columns {
		odd |= bits.OnesCount64(*wordAt(u, i)&c^*wordAt(v, i)&d^*wordAt(w, i)&e) ^ int(print>>i)
	}
	return odd&1 == 0
}

// getGo is the specification of Get.
func (r *Ribbon) getGo(hi, lo uint64) (result, columns uint64) {
	start, bumped := r.startOf(hi)
	if bumped {
		return 0, RibbonBumped
	}

	x := hi ^ lo&r.Low
	c := bits.RotateLeft64(probe.Mix(x, r.C), int(r.Turn)) | 1
	d, blocks := uint64(0), r.Width/64
	if r.Width == 128 {
		d = bits.RotateLeft64(probe.Mix(x, r.D), int(r.Turn))
	}

	block, q := start/64+start>>RibbonSegment*blocks, start%64
	columns = r.Prints
	if block+blocks < r.Wide {
		columns++
	}

	if columns == 0 { // the columns may lie behind the last word
		return 0, 0
	}

	c, d, e := c<<q, d<<q|c>>1>>(63-q), d>>1>>(63-q)
	u := r.Words[r.firstWordOf(block):][:columns]
	v := r.Words[r.firstWordOf(block+1):][:columns]
	w := r.Words[r.firstWordOf(block+blocks):][:columns]
	for i, x := range u {
		result |= uint64(bits.OnesCount64(x&c^v[i]&d^w[i]&e)) & 1 << i
	}
	return result, columns
}

// firstWordOf returns the first word of a block.
func (r *Ribbon) firstWordOf(block uint64) uint64 { return block*r.Columns + min(block, r.Wide) }

// wordAt returns the address of a word.
func wordAt(words unsafe.Pointer, i uint64) *uint64 { return (*uint64)(unsafe.Add(words, i*8)) }
