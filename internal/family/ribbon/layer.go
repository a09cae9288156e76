package ribbon

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/probe"
)

// Factors for the parts of a key and for the coefficients in the tail: odd random numbers. They are part of the format.
const (
	firstFactor  = 0x71bf41d65460b8e9
	secondFactor = 0x04666d532545ae33
	printFactor  = 0x50a89a3be7770cbf
	tailFactor   = 0x7ea8b4433010cd85
	tailFactor2  = 0x80b5ac432cbdf5c9
	golden       = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
)

const (
	segmentBits  = 18
	segmentStart = 1 << segmentBits // starts of a segment

	smallLayer = 2048  // starts below which a layer has the smallest profile
	wideLayer  = 49152 // starts from which a layer of width 128 has the largest buckets
)

// profile contains the sizes that follow from a layer's number of starts and the width of the filter.
type profile struct {
	width  uint64    // w': slots that a key may use, 64 or 128
	shift  uint      // log2 of the starts of a bucket
	limits [4]uint64 // limits by class: keys with offsets in the bucket below the limit are bumped
	empty  uint64    // about one of this number of slots stays empty
}

var (
	smallProfile  = profile{64, 5, [4]uint64{0, 6, 13, 32}, 90}
	fastProfile   = profile{64, 7, [4]uint64{0, 17, 38, 128}, 2048}
	middleProfile = profile{128, 8, [4]uint64{0, 20, 51, 256}, 8192}
	largeProfile  = profile{128, 9, [4]uint64{0, 41, 102, 512}, 8192}
)

// profileOf returns the profile of a layer in a filter of width w.
func profileOf(w uint, starts uint64) *profile {
	switch {
	case starts < smallLayer:
		return &smallProfile
	case w == 64:
		return &fastProfile
	case starts < wideLayer:
		return &middleProfile
	}
	return &largeProfile
}

// layer is a layer of a filter: a linear system for the keys that the layers before it have bumped.
type layer struct {
	*profile
	starts  uint64 // T
	factor  uint64 // M(j)
	turn    int    // bits by which coefficients are rotated
	blocks  uint64 // blocks of 64 slots
	wide    uint64 // the first blocks, which have one column more
	columns uint64 // columns of the other blocks
	word    uint64 // the first one in section 0
	bucket  uint64 // the first one in section 1
}

// layerFactor returns M(j), the factor of Hi in layer j: SplitMix64, made odd so that it has an inverse.
func layerFactor(j uint64) uint64 {
	if j == 0 {
		return 1
	}
	z := j * golden
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31 | 1
}

// inverse returns the inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the number of
// correct bits, and x = a has three.
func inverse(a uint64) uint64 {
	x := a
	for range 5 {
		x *= 2 - a*x
	}
	return x
}

// slotOf returns the first slot of the keys with a start.
func (l *layer) slotOf(start uint64) uint64 { return start + l.width*(start>>segmentBits) }

// bucketCount returns the number of buckets.
func (l *layer) bucketCount() uint64 { return (l.starts + 1<<l.shift - 1) >> l.shift }

// wordCount returns the number of words of the layer.
func (l *layer) wordCount() uint64 { return l.blocks*l.columns + l.wide }

// firstWord returns the first word of a block.
func (l *layer) firstWord(block uint64) uint64 { return l.word + block*l.columns + min(block, l.wide) }

// startOf returns the start of a key.
func (l *layer) startOf(hi uint64) uint64 { return probe.Position(hi*l.factor, l.starts) }

// isWide reports whether keys at a slot have the additional column.
func (l *layer) isWide(slot uint64) bool { return slot/64+l.width/64 < l.wide }

// wideStarts returns the number of starts, from the first on, whose slots are wide.
func (l *layer) wideStarts() uint64 {
	if l.wide <= l.width/64 {
		return 0
	}
	slots := (l.wide - l.width/64) * 64
	whole, rest := slots/(segmentStart+l.width), slots%(segmentStart+l.width)
	return min(whole*segmentStart+min(rest, segmentStart), l.starts) // a segment has width slots more than starts
}

// key is the part of a key's hash that does not depend on the layer.
type key struct {
	hi, x uint64
}

// keyOf returns the key of a hash. If keys have values, it clears the bits of Lo that are the value.
func keyOf(h filter.Hash, valueBits uint) key {
	lo := h.Lo
	if valueBits > 0 {
		lo &^= hashes.ValueMask
	}
	return key{h.Hi, h.Hi ^ lo}
}

// fingerprint returns the fingerprint. A filter uses its low bits.
func (k key) fingerprint() uint64 { return probe.Mix(k.x, printFactor) }

// coefficients returns the coefficients of a key in a layer. The second word is 0 in a layer of width 64.
func (l *layer) coefficients(k key) (c, d uint64) {
	// The lowest bit is set, so that every key uses the slot at its start and an empty row can have its pivot there.
	c = bits.RotateLeft64(probe.Mix(k.x, firstFactor), l.turn) | 1
	if l.width == 128 {
		d = bits.RotateLeft64(probe.Mix(k.x, secondFactor), l.turn)
	}
	return c, d
}

// tailWord returns word i of a key's coefficients in the tail.
func (k key) tailWord(seed, i uint64) uint64 {
	return probe.Mix(probe.Mix(k.x^(4*seed+i+1)*golden, tailFactor)^k.hi, tailFactor2)
}
