package partitioned

import (
	"encoding/binary"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// View is the geometry of a stored filter. Its methods answer queries from the bytes of the filter's first two
// sections, little endian as in files, without a copy or an allocation. The bytes may be at any address. Filter is
// faster on words.
//
// The methods need a View for which Valid is true; others may panic. A View is safe for concurrent use.
type View struct {
	Shards uint64
	Groups uint64 // groups per shard
	Bits   uint64 // bits of a shard's bitmap
	K      int    // slots per key
	Width  int    // bits of a shift, 0 to 5
}

// ViewOf returns the View of a filter with the Spec of a built filter. It returns the errors of SectionWords.
func ViewOf(s filter.Spec) (View, error) {
	g, err := geometryFromSpec(s)
	if err != nil {
		return View{}, err
	}
	return View{Shards: g.shards, Groups: g.groups, Bits: g.bits, K: g.k, Width: g.width}, nil
}

func (v *View) geometry() geometry {
	return geometry{shards: v.Shards, groups: v.Groups, bits: v.Bits, k: v.K, width: v.Width}
}

// Valid reports whether a filter may have this geometry.
func (v *View) Valid() bool { return v.geometry().isValid() && !v.geometry().tooLarge() }

// Bytes returns, for each of the two sections, the number of bytes with bits in use. Has reads up to 8 bytes more.
func (v *View) Bytes() (bitmap, shifts uint64) {
	g := v.geometry()
	return (g.shards*g.bits + 7) / 8, (g.shards*g.groups*uint64(g.k*g.width) + 7) / 8
}

// Has reports whether the key may be in the set. It panics if a section has fewer than 8 bytes after the bytes that
// Bytes counts.
func (v *View) Has(bitmap, shifts []byte, h filter.Hash) bool {
	shard, rest := bits.Mul64(h.Hi, v.Shards)
	group, _ := bits.Mul64(rest, v.Groups)
	width, mask := uint64(v.Width)&63, uint64(1)<<(v.Width&63)-1
	side := (shard*v.Groups + group) * uint64(v.K) * width
	start, base := shard*v.Bits, v.Bits-mask
	x, by := h.Lo, probe.Mixer(h)
	k := v.K
	for ; k >= together; k -= together {
		s := load57(shifts, side) // three shifts have at most 15 bits
		side += together * width
		all := load57(bitmap, start+probe.Position(x, base)) >> (s & mask & 63) // "& 63" spares the compiler a comparison
		x = probe.Mix(x, by)
		s >>= width & 63
		all &= load57(bitmap, start+probe.Position(x, base)) >> (s & mask & 63)
		x = probe.Mix(x, by)
		s >>= width & 63
		all &= load57(bitmap, start+probe.Position(x, base)) >> (s & mask & 63)
		x = probe.Mix(x, by)
		if all&1 == 0 {
			return false
		}
	}

	all := uint64(1)
	for s := load57(shifts, side); k > 0; k-- {
		all &= load57(bitmap, start+probe.Position(x, base)) >> (s & mask & 63)
		s >>= width & 63
		x = probe.Mix(x, by)
	}
	return all != 0
}

// load57 returns a word whose lowest 57 bits are bits [i, i+57).
func load57(b []byte, i uint64) uint64 { return binary.LittleEndian.Uint64(b[i/8:]) >> (i % 8) }
