package partitioned

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/family"
)

// Limits of a Spec: far above useful values, and small enough that no product overflows.
const (
	maxK     = 64
	maxWidth = 5
	maxShard = 1 << 31 // bits or groups of a shard, because its positions have 32 bits
	minShard = 1 << 12 // bits of a shard if the filter has several, so that a small file cannot have many shards
)

// Encode returns three sections that share the memory of the filter:
//
//  1. the bitmaps of all shards one after the other, bit i at bit i%64 of word i/64, then at least 64 zero bits;
//  2. the shifts, width bits each, packed in the same way, then at least 64 zero bits;
//  3. two words that no query needs: the number of keys added after the search, and of bits set at its end.
func (f *Filter) Encode() family.Encoded {
	sections := [][]uint64{f.bitmap, f.shifts, {f.late, f.searched}}
	return family.Encoded{Spec: f.builtSpec(), Keys: f.keys, Sections: sections}
}

// SectionWords returns the number of words of each section of a stored filter with this Spec. The error wraps
// filter.ErrConfig or filter.ErrTooLarge if no built filter has this Spec.
func SectionWords(s filter.Spec) ([]uint64, error) {
	g, err := geometryFromSpec(s)
	if err != nil {
		return nil, err
	}
	return g.sections(), nil
}

// sections returns the number of words of each section.
func (g geometry) sections() []uint64 { return []uint64{g.bitmapWords(), g.shiftWords(), 2} }

// Decode makes a filter from the result of Encode and keeps its words. It returns an error if the sections do not have
// the sizes of SectionWords, bits behind the last one are set, or the counts contradict each other.
func Decode(e family.Encoded) (*Filter, error) {
	g, err := geometryFromSpec(e.Spec)
	if err := e.CheckSections(g.sections(), err); err != nil {
		return nil, err
	}

	f := newFilter(g, e.Sections[0], e.Sections[1], e.Keys)
	if !bitvec.ZeroFrom(f.bitmap, g.shards*g.bits) ||
		!bitvec.ZeroFrom(f.shifts, g.shards*g.groups*uint64(g.k*g.width)) {
		return nil, fmt.Errorf("bits behind the last one are set")
	}

	f.late, f.searched = e.Sections[2][0], e.Sections[2][1]
	if f.keys >= maxKeys*(1+maxLater) || f.late > f.keys || f.searched > g.shards*g.bits {
		return nil, fmt.Errorf("%d keys of %d added late, %d bits of %d set by the search",
			f.late, f.keys, f.searched, g.shards*g.bits)
	}
	return f, nil
}

// bitmapWords and shiftWords leave room to read 64 bits from any position.
func (g geometry) bitmapWords() uint64 { return (g.shards*g.bits+63)/64 + 1 }

func (g geometry) shiftWords() uint64 { return (g.shards*g.groups*uint64(g.k*g.width)+63)/64 + 1 }

// geometryFromSpec reads the Spec of a built filter, partitioned(bits=,groups=,k=,shards=,width=), and no other.
func geometryFromSpec(s filter.Spec) (geometry, error) {
	r := family.Reader(s)
	bits, groups, k, shards, width := r.Uint("bits"), r.Uint("groups"), r.Uint("k"), r.Uint("shards"), r.Uint("width")
	if err := r.Err(); err != nil {
		return geometry{}, err
	}

	g := geometry{shards: shards, groups: groups, bits: bits, k: int(min(k, maxK+1)), width: int(min(width, maxWidth+1))}
	if !family.Given(s, "width") || !g.isValid() {
		return geometry{}, family.Invalid("spec", s, "want partitioned(bits=,groups=,k=,shards=,width=)")
	}

	if g.tooLarge() {
		return geometry{}, fmt.Errorf("%v: %w", g, filter.ErrTooLarge)
	}
	return g, nil
}

// isValid reports whether a filter may have this geometry, unless it is tooLarge.
func (g geometry) isValid() bool {
	return g.bits >= 1 && g.bits <= maxShard && g.groups >= 1 && g.groups <= maxShard && g.k >= 1 && g.k <= maxK &&
		g.shards >= 1 && g.shards <= maxShard && g.width >= 0 && g.width <= maxWidth && g.bits >= 1<<g.width &&
		(g.shards == 1 || g.bits >= minShard) &&
		(g.width > 0 || g.groups == 1) // without shifts groups take no bits, so the size would not bound their number
}

// tooLarge reports whether the numbers of bits of a valid geometry come near 2^64.
func (g geometry) tooLarge() bool { return g.shards*g.groups >= 1<<50 || g.shards*g.bits >= 1<<60 }
