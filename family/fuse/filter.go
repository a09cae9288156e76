// Package fuse is the binary fuse filter (Graf and Lemire, JEA 27, 2022). It is static and has 1.13 to 1.3 slots a key;
// each slot is a fingerprint of 1 to 32 bits, and a query reads three slots. FastFilter/xorfilter builds it; this
// package cuts the slots to the width and packs them without gaps. That works because the equation of each key,
//
//	fingerprint = slot[h0] ^ slot[h1] ^ slot[h2]
//
// holds for each bit: the low w bits of all slots are a filter with fingerprints of w bits.
//
// The library takes Lo of the Hash as the key; Hi is not used. Keys with the same Lo, n²/2^65 pairs, have the same
// answer. The false-positive rate is 2^-w.
package fuse

import (
	"math"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Family is the name in a Spec: fuse(seed=1,segment=8192,segments=20,width=8).
const Family = "fuse"

// MaxWidth is the largest number of bits in a fingerprint.
const MaxWidth = 32

// Filter is a binary fuse filter. It does not change, so all methods are safe from any number of goroutines.
type Filter struct {
	words    []uint64 // slots, see bitvec.SetPacked
	seed     uint64
	count    uint64 // first positions: segments·segment
	segment  uint64 // slots per segment, a power of two
	segments uint64
	width    uint
	keys     uint64
}

// slots returns the three positions and the fingerprint of a key, as the library computes them: Murmur3's finaliser
// mixes the key with the seed; the high bits of the result give the first position, and the others lie in the next two
// segments.
func (f *Filter) slots(key uint64) (h0, h1, h2 uint64, print uint32) {
	x := key + f.seed
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	h0, _ = bits.Mul64(x, f.count)
	mask := f.segment - 1
	return h0, (h0 + f.segment) ^ x>>18&mask, (h0 + 2*f.segment) ^ x&mask, uint32(x ^ x>>32)
}

// Has reports whether the key may be in the set. Loads stay within the words: all positions are below slotCount, and 64
// bits follow the last slot.
func (f *Filter) Has(h filter.Hash) bool {
	h0, h1, h2, print := f.slots(h.Lo)
	width := uint64(f.width)
	v := uint64(print) ^
		bitvec.Load57(f.words, h0*width) ^ bitvec.Load57(f.words, h1*width) ^ bitvec.Load57(f.words, h2*width)
	return v<<((64-width)&63) == 0
}

// batch is the number of keys that are queried together; see family standard.
const batch = 16

// inCache is the number of words, 2 MiB, of a filter that the caches hold, for which batches gain nothing.
const inCache = 1 << 18

// HasMany sets dst[i] to Has(hs[i]). It prefetches the slots of a batch of keys before it tests them. It panics if dst
// and hs differ in length.
func (f *Filter) HasMany(dst []bool, hs []filter.Hash) {
	filter.CheckBatch(dst, hs)
	dst = dst[:len(hs)] // for the compiler: no bounds checks below
	if len(f.words) < inCache {
		for i, h := range hs {
			dst[i] = f.Has(h)
		}
		return
	}
	f.hasMany(dst, hs)
}

func (f *Filter) hasMany(dst []bool, hs []filter.Hash) {
	var words [3 * batch]uint64
	for start := 0; start < len(hs); start += batch {
		group := hs[start:min(start+batch, len(hs))]
		for i, h := range group {
			h0, h1, h2, _ := f.slots(h.Lo)
			width := uint64(f.width)
			words[3*i], words[3*i+1], words[3*i+2] = h0*width/64, h1*width/64, h2*width/64
		}
		bitvec.Prefetch(f.words, words[:3*len(group)])
		for i, h := range group {
			dst[start+i] = f.Has(h)
		}
	}
}

// slotCount returns the number of slots: two segments follow the last first position.
func (f *Filter) slotCount() uint64 { return f.count + 2*f.segment }

// Info describes the filter. Fill is keys over slots.
func (f *Filter) Info() filter.Info {
	rate := FPR(f.width)
	return filter.Info{
		Spec:         f.spec(),
		Keys:         f.keys,
		Bits:         f.slotCount() * uint64(f.width),
		Fill:         float64(f.keys) / float64(f.slotCount()),
		FPRPrior:     rate,
		FPRPosterior: rate,
	}
}

// FPR returns the false-positive probability with fingerprints of width bits, 2^-width. It is both p_b and p_a, because
// the slots are as if random for any keys.
func FPR(width uint) float64 { return math.Ldexp(1, -int(width)) }
