package filtertest

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// like builds filters like an older one: of the same keys, and after 2% of them were replaced.
func like(t *testing.T, f Family, old family.Filter, hs []filter.Hash) {
	again := buildLike(t, f, old, hs, 1)
	if !f.Moves && !equal(buildLike(t, f, again, hs, 1), again) {
		t.Error("a filter like one of the same keys differs from it")
	}
	changed := len(hs) / 50
	next := append(slices.Clone(hs[changed:]), Hashes(changed, 77)...)
	built := buildLike(t, f, old, next, 1)
	noFalseNegative(t, built, next)
	if was, is := family.SpecOf(old), family.SpecOf(built); !f.Moves && is != was {
		t.Errorf("like %s: %s", was, is)
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
	if !equal(built, buildLike(t, f, old, next, 3)) {
		t.Error("the filter depends on the order of the keys or the number of workers")
	}
	if f.Searched {
		flips, ones := differences(old, built)
		if most := ones/20 + 64*4; flips > most { // replaced keys, and the last section: counts
			t.Errorf("%d of %d bits differ after 2%% of the keys were replaced, want at most %d", flips, ones, most)
		}
	}
}

// buildLike builds a filter of keys like an older one.
func buildLike(t *testing.T, f Family, old family.Filter, hs []filter.Hash, workers int) family.Filter {
	t.Helper()
	b, err := f.NewBuilderLike(old)
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := b.(family.Gatherer); ok {
		g.SetOptions(family.BuildOptions{Workers: workers})
	}
	return finish(t, b, slices.Collect(slices.Chunk(hs, 1000))...)
}

// differences returns the number of bits that differ between two filters of the same geometry, and the number of those
// that are set in either.
func differences(a, b family.Filter) (flips, ones int) {
	x, y := a.(family.Encoder).Encode().Sections, b.(family.Encoder).Encode().Sections
	for i := range x {
		for j := range x[i] {
			flips += bits.OnesCount64(x[i][j] ^ y[i][j])
			ones += bits.OnesCount64(x[i][j] | y[i][j])
		}
	}
	return flips, ones
}

// spent wants errors of a Builder that has built: its keys would be lost, or would change the filter.
func spent(t *testing.T, f Family, spec string) {
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	hs := Hashes(20, 1)
	b := builder(t, f, s, 10)
	built := finish(t, b, hs[:10])
	before := built.(family.Encoder).Encode().Keys
	if b.AddMany(hs[10:]) == nil {
		t.Error("AddMany after Build gave no error")
	}
	if _, err := b.Build(t.Context()); err == nil {
		t.Error("a second Build gave no error")
	}
	if after := built.(family.Encoder).Encode().Keys; after != before {
		t.Errorf("the built filter has %d keys, %d before", after, before)
	}
}
