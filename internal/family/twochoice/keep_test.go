package twochoice

import (
	"errors"
	"math/bits"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestKeep replaces 1% of the keys: few bits change, and the filter has fewer bits set than with Add.
func TestKeep(t *testing.T) {
	keep := filter.Effort{Level: filter.Keep}
	hs := filtertest.Hashes(50_500, 1)
	old := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:50_000])
	f := build(t, Config{From: old, Effort: keep}, hs[500:])
	flips := 0
	for i := range f.words {
		flips += bits.OnesCount64(f.words[i] ^ old.words[i])
	}
	if most := 2 * 500 * f.k; f.geometry != old.geometry || flips > most {
		t.Errorf("%d bits differ, want at most %d", flips, most)
	}
	for _, h := range hs[50_000:] {
		_ = old.Add(h)
	}
	if a, b := f.Info().Fill, old.Info().Fill; a >= b {
		t.Errorf("fill %v, %v with all keys added", a, b)
	}
	if _, err := NewBuilder(Config{Effort: keep}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without an earlier filter: %v", err)
	}
}
