package partitioned

import (
	"errors"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestSmallShards tests shards of few bits, which are allowed only in a filter of one shard. With many small shards,
// the size of a file would not bound the work for its shards.
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

// TestViewValid requires ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {Shards: 1, Groups: 1, K: 1, Width: 5, Bits: 31}, {Shards: 1, Groups: 2, K: 1, Bits: 31},
		{Groups: 1, K: 1, Bits: 64},
		{Shards: 1, Groups: 1, K: 65, Bits: 64}, {Shards: 2, Groups: 1, K: 1, Bits: 64}, {Shards: 1, K: 1, Bits: 64},
		{Shards: 1, Groups: 1, K: 1, Bits: 1 << 32}, {Shards: 1 << 30, Groups: 1, K: 1, Width: 5, Bits: 1 << 30},
		{Shards: 1, Groups: 1, K: 1, Width: 6, Bits: 64}, {Shards: 1, Groups: 1, K: 1, Width: -1, Bits: 64},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	if _, err := ViewOf(family.NewSpec("partitioned")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
