package blockpartitioned

import (
	"errors"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestKeep builds for other keys with the shifts of an earlier filter: also with blocks that have no keys or far too
// many.
func TestKeep(t *testing.T) {
	keep := filter.Effort{Level: filter.Keep}
	hs := filtertest.Hashes(51_000, 1)
	old := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:50_000])
	small := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:100])
	for _, c := range []struct {
		old  *Filter
		keys []filter.Hash
	}{{old, hs[1000:]}, {old, hs[:500]}, {old, nil}, {small, hs}} {
		f := build(t, Config{From: c.old, Effort: keep}, c.keys)
		want := newFilter(c.old.geometry, make([]uint64, len(c.old.words)), 0)
		want.copyHeads(c.old)
		for _, h := range c.keys {
			_ = want.Add(h)
		}
		if !slices.Equal(f.words, want.words) {
			t.Errorf("%d keys: the bits are not those that the shifts give", len(c.keys))
		}
	}
	if _, err := NewBuilder(Config{Effort: keep}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without an earlier filter: %v", err)
	}
}
