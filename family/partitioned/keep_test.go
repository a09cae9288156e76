package partitioned

import (
	"errors"
	"fmt"
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

// TestFewSlots builds with numbers of slots of the caller: larger filters of the same rate, of which a key changes fewer
// bits.
func TestFewSlots(t *testing.T) {
	hs := filtertest.Hashes(40_000, 3)
	var last uint64
	for _, k := range []int{7, 5, 4, 3} {
		s, err := filter.ParseSpec(fmt.Sprintf("partitioned(effort=fast,fpr=0.01,k=%d,later=4000)", k))
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
	for _, spec := range []string{"partitioned(k=0)", "partitioned(k=65)", "partitioned(k=99999999999)"} {
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
