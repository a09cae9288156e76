package blockpartitioned

import (
	"errors"
	"fmt"
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

// TestFewSlots builds with numbers of slots of the caller: larger filters of the same rate, of which a key changes fewer
// bits.
func TestFewSlots(t *testing.T) {
	hs := filtertest.Hashes(40_000, 3)
	var last uint64
	for _, k := range []int{7, 5, 4, 3} {
		s, err := filter.ParseSpec(fmt.Sprintf("blockpartitioned(effort=fast,fpr=0.01,k=%d,later=4000)", k))
		if err != nil {
			t.Fatal(err)
		}
		c, err := ConfigFromSpec(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		f := build(t, c, hs)
		i := f.Info()
		if f.k != k || f.after(4000) > 0.01 || i.Bits <= last {
			t.Errorf("k=%d: %s, %d bits after %d, rate %g", k, i.Spec, i.Bits, last, f.after(4000))
		}
		last = i.Bits
	}
	for _, spec := range []string{"blockpartitioned(k=0)", "blockpartitioned(k=65)", "blockpartitioned(k=99999999999)"} {
		s, err := filter.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ConfigFromSpec(s, 0); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for _, size := range []filter.Sizing{{BitsPerKey: 2}, {FPR: 0.01}} {
		if _, _, err := (Config{K: 64, Size: size}).Forecast(40_000); err != nil && !errors.Is(err, filter.ErrConfig) {
			t.Errorf("64 slots: %v", err)
		}
	}
}
