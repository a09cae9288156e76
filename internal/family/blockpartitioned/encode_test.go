package blockpartitioned

import (
	"errors"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDecodeUnused sets each bit between the head and the payload of a block, the first bit of the payload and the last
// bit of the head.
func TestDecodeUnused(t *testing.T) {
	hs := filtertest.Hashes(200, 1)
	for unused, s := range map[uint64]blockGeometry{
		29: {block: 512, groups: 13, k: 3, width: 5}, 1: {block: 1024, groups: 1, k: 31, width: 1},
		0: {block: 512, groups: 4, k: 8, width: 5},
	} {
		g := geometry{s, 4}
		f := newFilter(g, make([]uint64, g.wordCount()), 0)
		for _, h := range hs {
			_ = f.Add(h)
		}
		head := g.groups * uint64(g.k*g.width)
		if head+unused != f.first {
			t.Fatalf("%v: %d unused bits, want %d", g, f.first-head, unused)
		}
		for bit := head - 1; bit <= f.first; bit++ {
			for _, block := range []uint64{0, g.blocks - 1} {
				e := f.Encode()
				e.Sections = [][]uint64{slices.Clone(e.Sections[0]), e.Sections[1]}
				at := block*g.block + bit
				e.Sections[0][at/64] ^= 1 << (at % 64)
				want := bit < head || bit >= f.first
				if _, err := Decode(e); (err == nil) != want {
					t.Errorf("bit %d of block %d, the head has %d and the payload begins at %d: %v",
						bit, block, head, f.first, err)
				}
			}
		}
	}
}

// TestSmallPayload tests heads that leave little room for the payload. Two words of 32 bits must remain, so that the 64
// bits read from any shift on are in the block.
func TestSmallPayload(t *testing.T) {
	const blocks = 3
	for _, c := range []struct {
		block, groups uint64
		k, width      int
		ok            bool
	}{
		{512, 448, 1, 1, true}, // 64 bits are left
		{512, 64, 7, 1, true},
		{512, 449, 1, 1, false}, // 63, one word
		{512, 480, 1, 1, false}, // 32
		{512, 481, 1, 1, false},
		{512, 512, 1, 1, false}, // 0
		{512, 103, 1, 5, false}, // three too few
		{512, 512, 64, 5, false},
		{1024, 960, 1, 1, true},
		{1024, 3, 64, 5, true},
		{1024, 961, 1, 1, false},
		{1024, 1024, 1, 1, false},
		{1024, 205, 1, 5, false},
	} {
		s := family.NewSpec(Family, "block", c.block, "blocks", blocks, "groups", c.groups, "k", c.k, "width", c.width)
		e := family.Encoded{Spec: s, Sections: [][]uint64{make([]uint64, blocks*c.block/64), make([]uint64, 2)}}
		words, err := SectionWords(s)
		f, errDecode := Decode(e)
		if !c.ok {
			if !errors.Is(err, filter.ErrConfig) || words != nil {
				t.Errorf("SectionWords(%s) = %v, %v", s, words, err)
			}
			if !errors.Is(errDecode, filter.ErrConfig) || f != nil {
				t.Errorf("Decode of %s: %v", s, errDecode)
			}
			continue
		}
		if want := []uint64{blocks * c.block / 64, 2}; err != nil || !slices.Equal(words, want) {
			t.Errorf("SectionWords(%s) = %v, %v, want %v", s, words, err, want)
		}
		if errDecode != nil {
			t.Errorf("Decode of %s: %v", s, errDecode)
			continue
		}
		hs := filtertest.Hashes(30, 1)
		for _, h := range hs {
			_ = f.Add(h)
		}
		hold(t, f, hs)
	}
}

// TestViewShapes requires NewView to refuse geometries that no filter has.
func TestViewShapes(t *testing.T) {
	for _, s := range []blockGeometry{
		{}, {512, 1, 7, 0}, {768, 4, 8, 5}, {512, 4, 65, 5}, {512, 4, 8, 6}, {512, 13, 8, 5}, {512, 4, -8, -5},
		{512, 1 << 60, 8, 5}, {512, 1<<64 - 1, 8, 5}, {512, 0, 8, 5},
	} {
		if v, ok := NewView(s.block, s.groups, s.k, s.width); ok {
			t.Errorf("%+v: a view of %d bytes", s, v.Bytes())
		}
	}
	if _, err := ViewOf(family.NewSpec("blockpartitioned")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
