package partitioned

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
	setLate := func(e *family.Encoded, n uint64) { e.Sections[2][0] = n }
	setSearched := func(e *family.Encoded, n uint64) { e.Sections[2][1] = n }
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
		{"searched", setSearched, f.geometry.shards * f.bits, true},
		{"searched", setSearched, f.geometry.shards*f.bits + 1, false},
		{"searched", setSearched, math.MaxUint64, false},
	} {
		t.Run(fmt.Sprintf("%s=%d", c.name, c.value), func(t *testing.T) {
			e := f.Encode()
			e.Sections = [][]uint64{e.Sections[0], e.Sections[1], slices.Clone(e.Sections[2])} // f shares the words
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
			if i.Keys != e.Keys || i.Late != e.Sections[2][0] || !(i.FPRPrior >= 0 && i.FPRPrior <= 1 && i.FillSearched <= 1) {
				t.Errorf("%+v", i)
			}
			for _, h := range hs {
				if !got.Has(h) {
					t.Fatal("a key is lost")
				}
			}
		})
	}
}

// TestSmallShards has shards of few bits, which only a filter of one shard may have: with many of them the size of a
// file would not bound the work for its shards.
func TestSmallShards(t *testing.T) {
	for _, c := range []struct {
		bits, shards uint64
		width        int
		words        []uint64 // nil: an error
	}{
		{1, 1, 0, []uint64{2, 1, 2}},
		{32, 1, 5, []uint64{2, 2, 2}},
		{4095, 1, 5, []uint64{65, 2, 2}},
		{4096, 1, 5, []uint64{65, 2, 2}},
		{4095, 2, 5, nil},
		{4096, 2, 5, []uint64{129, 2, 2}},
		{1, 2, 0, nil},
		{1, 1 << 31, 0, nil},
		{4095, 1 << 31, 0, nil},
		{4095, 3, 0, nil},
		{4096, 3, 0, []uint64{193, 1, 2}},
	} {
		s := family.NewSpec(Family, "bits", c.bits, "groups", 1, "k", 3, "shards", c.shards, "width", c.width)
		words, err := SectionWords(s)
		if c.words == nil {
			if !errors.Is(err, filter.ErrConfig) || words != nil {
				t.Errorf("SectionWords(%s) = %v, %v", s, words, err)
				continue
			}
			if f, err := Decode(family.Encoded{Spec: s}); !errors.Is(err, filter.ErrConfig) || f != nil {
				t.Errorf("Decode of %s: %v", s, err)
			}
			continue
		}
		if err != nil || !slices.Equal(words, c.words) {
			t.Errorf("SectionWords(%s) = %v, %v, want %v", s, words, err, c.words)
			continue
		}
		sections := [][]uint64{make([]uint64, words[0]), make([]uint64, words[1]), make([]uint64, words[2])}
		f, err := Decode(family.Encoded{Spec: s, Sections: sections})
		if err != nil {
			t.Errorf("Decode of %s: %v", s, err)
			continue
		}
		for _, h := range filtertest.Hashes(100, 1) {
			if _ = f.Add(h); !f.Has(h) {
				t.Errorf("%s loses a key", s)
				break
			}
		}
	}
}
