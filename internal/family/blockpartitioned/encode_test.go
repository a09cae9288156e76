package blockpartitioned

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestDecodeCounts changes one of the three numbers that stand beside the bits of a stored filter. Each may go as far
// as its limit, and the filter then describes itself; one more is an error that names it.
func TestDecodeCounts(t *testing.T) {
	hs := filtertest.Hashes(110, 1)
	f := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:100])
	for _, h := range hs[100:] {
		_ = f.Add(h)
	}
	setKeys := func(e *family.Encoded, n uint64) { e.Keys = n }
	setLate := func(e *family.Encoded, n uint64) { e.Sections[1][0] = n }
	setSearched := func(e *family.Encoded, n uint64) { e.Sections[1][1] = n }
	for _, c := range []struct {
		name  string
		set   func(*family.Encoded, uint64)
		value uint64
		ok    bool
	}{
		{"keys", setKeys, 1001<<44 - 1, true},
		{"keys", setKeys, 1001 << 44, false},
		{"keys", setKeys, math.MaxUint64, false},
		{"keys", setKeys, 10, true}, // as many as were late
		{"keys", setKeys, 9, false},
		{"late", setLate, 0, true},
		{"late", setLate, 110, true},
		{"late", setLate, 111, false},
		{"late", setLate, math.MaxUint64, false},
		{"searched", setSearched, 0, true},
		{"searched", setSearched, f.blocks * f.payload(), true},
		{"searched", setSearched, f.blocks*f.payload() + 1, false},
		{"searched", setSearched, math.MaxUint64, false},
	} {
		t.Run(fmt.Sprintf("%s=%d", c.name, c.value), func(t *testing.T) {
			e := f.Encode()
			e.Sections = [][]uint64{e.Sections[0], slices.Clone(e.Sections[1])} // f shares the words
			c.set(&e, c.value)
			got, err := Decode(e)
			if !c.ok {
				if err == nil || got != nil || !strings.Contains(err.Error(), fmt.Sprint(c.value)) {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			i := got.Info()
			if i.Keys != e.Keys || i.Late != e.Sections[1][0] || !(i.FPRPrior >= 0 && i.FPRPrior <= 1 && i.FillSearched <= 1) {
				t.Errorf("%+v", i)
			}
			hold(t, got, hs)
		})
	}
}

// TestDecodeUnused sets each bit between the head and the payload of a block, the first bit of the payload and the last
// one of the head.
func TestDecodeUnused(t *testing.T) {
	hs := filtertest.Hashes(200, 1)
	for unused, s := range map[uint64]blockGeometry{
		29: {block: 512, groups: 13, k: 3, width: 5}, 1: {block: 1024, groups: 1, k: 31, width: 1},
		0: {block: 512, groups: 4, k: 8, width: 5},
	} {
		g := geometry{s, 4}
		f := newFilter(g, make([]uint64, g.words()), 0)
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

// TestSmallPayload has heads that leave little of a block: two words of 32 bits must be left, so that the 64 bits read
// from any shift on lie in the block.
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
