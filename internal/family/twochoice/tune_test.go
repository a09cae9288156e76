package twochoice

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
)

// TestShards compares a filter of several shards with a filter of one shard, and queries all keys in batches.
func TestShards(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 200_000
	hs := filtertest.Hashes(n, 5)
	f := build(t, Config{Size: family.Sizing{BitsPerKey: 10}, Effort: filter.Effort{Passes: 6}, Workers: 3}, hs)
	one := build(t, Config{Size: family.Sizing{BitsPerKey: 10}, Effort: filter.Effort{Passes: 6}, K: f.k}, hs[:n/16])
	if p, q := f.Info().FPRPosterior, one.Info().FPRPosterior; f.shards != 13 || one.shards != 1 || math.Abs(p/q-1) > 0.02 {
		t.Errorf("%d shards have the rate %g, one %g", f.shards, p, q)
	}
	all := append(slices.Clone(hs), filtertest.Hashes(n, 6)...)
	got := make([]bool, len(all))
	probe.HasMany(probe.InCache, got, all, f.prefetch, probe.HasEach(f))
	for i, h := range all {
		if got[i] != f.Has(h) {
			t.Fatal("HasMany differs from Has")
		}
	}
}

// TestFromCrowded checks that a search refuses more keys than it can store positions for.
func TestFromCrowded(t *testing.T) {
	f := &Filter{geometry: geometry{shards: 1, bits: 64, choices: 16, k: 64}, words: make([]uint64, 2)}
	if _, err := (Config{From: f}).geometry(1 << 23); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// TestCrowded searches with more keys than bits, whose counts overflow.
func TestCrowded(t *testing.T) {
	hs := filtertest.Hashes(20_000, 1)
	for _, bits := range []uint64{3, 64, 1000} {
		f := &Filter{geometry: geometry{shards: 1, bits: bits, choices: 3, k: 3}}
		f.words = make([]uint64, f.wordCount())
		build(t, Config{From: f, Effort: filter.Effort{Passes: 5}}, hs)
	}
}

// TestGeometry checks the number and the size of shards, for sizes that the test does not allocate.
func TestGeometry(t *testing.T) {
	for _, x := range []struct {
		keys uint64
		c    Config
		want geometry
	}{
		{10, Config{Size: family.Sizing{Bytes: 1 << 27}, K: 3}, geometry{4, 1 << 28, 3, 3}},
		{1 << 40, Config{Size: family.Sizing{BitsPerKey: 8}, K: 6}, geometry{1 << 26, 8 << 14, 3, 6}},
		{100_000, Config{Size: family.Sizing{Bytes: 100_000}, K: 6, Shards: 1}, geometry{1, 800_000, 3, 6}},
		{16385, Config{Size: family.Sizing{BitsPerKey: 8}, K: 6}, geometry{2, 65536, 3, 6}},
		{1000, Config{Size: family.Sizing{BitsPerKey: 8.1}, K: 6, Choices: 2}, geometry{1, 8100, 2, 6}},
		{1, Config{Size: family.Sizing{BitsPerKey: 1}, K: 6, Choices: 16}, geometry{1, 64, 16, 6}},
	} {
		if err := x.c.Check(); err != nil {
			t.Fatal(err)
		}
		x.c.Effort.Passes = 1
		if g, err := x.c.geometry(x.keys); err != nil || g != x.want {
			t.Errorf("%d keys, %+v: %v, %v, want %v", x.keys, x.c, g, err, x.want)
		}
	}
	for _, c := range []Config{{Size: family.Sizing{Bytes: 1}, Choices: 9},
		{Keys: 100_000, Size: family.Sizing{Bytes: 1000}}, {Keys: 1 << 23, Shards: 1},
		{Shards: maxShards + 1}, {Keys: 100_000, Shards: 1 << 20}, {Size: family.Sizing{BitsPerKey: 0.5}}, {Keys: 1 << 63},
		{Size: family.Sizing{Bytes: 1 << 60}}, {Size: family.Sizing{FPR: 1e-30}}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{"choices=1", "choices=17", "choices=0", "k=65", "k=0",
		"hashing=independent", "search=anneal", "target=0.01", "bits_per_key=65",
		"bits_per_key=NaN", "passes=3,budget=1s", "other=1"} {
		s, err := filter.ParseSpec(Family + "(" + text + ")")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ConfigFromSpec(s, 100); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, c := range []Config{{From: &Filter{}}, {Workers: -1}, {Size: family.Sizing{BitsPerKey: math.NaN()}}, {Choices: -1}, {K: -1}} {
		if _, err := NewBuilder(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for text, ok := range map[string]bool{
		"bits=128,choices=2,k=7,shards=1":                     true,
		"bits=127,choices=2,k=7,shards=1":                     true,
		"bits=16,choices=16,k=64,shards=1":                    true,
		"bits=15,choices=16,k=64,shards=1":                    false,
		"bits=4096,choices=2,k=7,shards=2":                    true,
		"bits=268435456,choices=2,k=7,shards=4294967296":      true,
		"bits=4095,choices=2,k=7,shards=2":                    false,
		"bits=0,choices=2,k=7,shards=1":                       false,
		"bits=268435457,choices=2,k=7,shards=1":               false,
		"bits=128,choices=1,k=7,shards=1":                     false,
		"bits=128,choices=17,k=7,shards=1":                    false,
		"bits=128,choices=2,k=0,shards=1":                     false,
		"bits=128,choices=2,k=65,shards=1":                    false,
		"bits=128,choices=2,k=7,shards=0":                     false,
		"bits=4096,choices=2,k=7,shards=4294967297":           false,
		"bits=128,choices=2,hashing=double,k=7,shards=1":      false,
		"bits=128,choices=2,shards=1":                         false,
		"bits=128,choices=2,k=7,shards=1,extra=1":             false,
		"bits_per_key=8":                                      false,
		"bits=18446744073709551615,choices=2,k=7,shards=1":    false,
		"bits=128,choices=18446744073709551615,k=7,shards=1":  false,
		"bits=128,choices=2,k=18446744073709551615,shards=1":  false,
		"bits=4096,choices=2,k=7,shards=18446744073709551615": false,
		"bits=128,choices=2,k=7,shards=1,bits_per_key=8":      false,
		"bits=128,choices=2,k=7,shards=1,effort=fast,passes=": false,
	} {
		s, err := filter.ParseSpec(Family + "(" + text + ")")
		if err != nil {
			continue
		}
		if _, err := SectionWords(s); (err == nil) != ok || err != nil && !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", text, err)
		}
	}
	e := build(t, Config{}, filtertest.Hashes(100, 1)).Encode()
	e.Sections[0][len(e.Sections[0])-1] |= 1 << 63
	if _, err := Decode(e); err == nil {
		t.Error("bits behind the last one")
	}
}
