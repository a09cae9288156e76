package partitioned

import (
	"errors"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

var keep = filter.Effort{Level: filter.Keep}

// TestKeep builds for other keys with the shifts of an earlier filter, several shards, and groups without keys.
func TestKeep(t *testing.T) {
	hs := filtertest.Hashes(102_000, 1)
	old := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:100_000])
	for _, keys := range [][]filter.Hash{hs[2000:], hs[:1000], nil, hs} {
		f := build(t, Config{From: old, Effort: keep}, keys)
		if !slices.Equal(f.shifts, old.shifts) || f.geometry != old.geometry {
			t.Fatalf("with %d keys the shifts or the geometry changed", len(keys))
		}
		added := newFilter(old.geometry, make([]uint64, len(old.bitmap)), old.shifts, 0)
		for _, h := range keys {
			_ = added.Add(h)
		}
		if !slices.Equal(f.bitmap, added.bitmap) {
			t.Errorf("with %d keys the bits are not those that the shifts give", len(keys))
		}
		if i := f.Info(); i.Late != 0 || i.FillSearched != i.Fill || i.Keys != uint64(len(keys)) {
			t.Errorf("%+v", i)
		}
	}
	if _, err := NewBuilder(Config{Effort: keep}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without an earlier filter: %v", err)
	}
}
