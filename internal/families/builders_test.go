package families

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// gatherers returns specs of f whose builders gather keys: the family without parameters, its forms, and both with
// sizes.
func gatherers(t *testing.T, f Family) (specs []filter.Spec) {
	t.Helper()
	if f.NewBuilder == nil {
		return nil
	}
	for _, s := range plainSpecs(f) {
		if gatherer, ok := newBuilder(t, f, s, 0).(family.Gatherer); ok {
			specs = append(specs, s, s.With("fpr", 0.003), s.With("bits_per_key", 20.0))
			gatherer.Close()
		}
	}
	if f.Can.Has(family.CanSearch) {
		for i, s := range specs {
			specs[i] = s.With("effort", "fast")
		}
	}
	return specs
}

// plainSpecs returns the specs without sizes of a family and of its forms.
func plainSpecs(f Family) []filter.Spec {
	specs := []filter.Spec{family.NewSpec(f.Name)}
	for _, form := range f.Forms {
		if form.Spec != specs[0] {
			specs = append(specs, form.Spec)
		}
	}
	return specs
}

// TestGatherers builds each filter whose builder gathers its keys in several ways: without the number of keys in
// advance, in another order, with keys in a file, and with other numbers of workers. All must give the same filter,
// with and without duplicate keys.
func TestGatherers(t *testing.T) {
	const keys = 5000
	hs := filtertest.Hashes(keys, 1)
	twice := append(slices.Clone(hs), hs[:keys/3]...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
	inputs := [][]filter.Hash{nil, hs[:1], twice, hs}
	if testing.Short() {
		inputs = inputs[:3]
	}
	for _, f := range All() {
		for _, s := range gatherers(t, f) {
			for _, hs := range inputs {
				t.Run(fmt.Sprintf("%s/%d", s, len(hs)), func(t *testing.T) {
					want := build(t, f, s, hs)
					noFalseNegative(t, want, hs)
					if !equal(finish(t, newBuilder(t, f, s, 0), hs), want) {
						t.Error("the filter is another one if the builder did not know the number of keys")
					}
					for _, memory := range []int64{1, 40 << 10} {
						b := newBuilder(t, f, s, 0)
						b.(family.Gatherer).SetOptions(family.BuildOptions{Memory: memory, Dir: t.TempDir()})
						if !equal(finish(t, b, hs), want) {
							t.Errorf("a limit of %d bytes changes the filter", memory)
						}
					}

					backwards := slices.Clone(hs)
					slices.Reverse(backwards)
					for _, workers := range []int{1, 3} { // 0 is the default, above
						b := newBuilder(t, f, s, 0)
						b.(family.Gatherer).SetOptions(family.BuildOptions{Workers: workers})
						if !equal(finish(t, b, backwards), want) {
							t.Errorf("the order of the keys, or %d workers, change the filter", workers)
						}
					}
				})
			}
		}
	}
}

// TestGatherersWithoutFolder runs builders without a folder for the keys that do not fit into memory.
func TestGatherersWithoutFolder(t *testing.T) {
	for _, f := range All() {
		for _, s := range gatherers(t, f) {
			none := filepath.Join(t.TempDir(), "none")
			b := newBuilder(t, f, s, 0)
			b.(family.Gatherer).SetOptions(family.BuildOptions{Memory: 64 << 10, Dir: none})
			err := b.AddMany(filtertest.Hashes(100_000, 1))
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), none) {
				t.Errorf("%s: a folder that is not there: %v", s, err)
			}
			if _, err := b.Build(t.Context()); err == nil {
				t.Errorf("%s: built without all keys", s)
			}
		}
	}
}

// fills reports whether the builders of a family fill an empty filter and gather no keys.
func fills(f Family) bool { return f.NewBuilder != nil && f.New != nil && !f.Can.Has(family.CanSpill) }

// TestFillers fills filters that do not gather their keys from many goroutines, in batches of different lengths, and
// compares them with filters to which the same keys are added one by one. It tests filters that fit into the caches and
// larger ones, for which builders use different code.
func TestFillers(t *testing.T) {
	const most = 40_000
	hs := filtertest.Hashes(most, 1)
	hs = append(hs, hs[:most/10]...)
	for _, f := range All() {
		if !fills(f) {
			continue
		}
		for _, s := range []filter.Spec{
			family.NewSpec(f.Name, "bits_per_key", 6.0), family.NewSpec(f.Name, "bits_per_key", 20.0),
			family.NewSpec(f.Name, "bits_per_key", 12.0, "layout", "split"),
		} {
			if family.Given(s, "layout") && f.Name != "blocked" {
				continue
			}
			for _, room := range []int{1, most, 3_000_000} {
				t.Run(fmt.Sprintf("%s/%d", s, room), func(t *testing.T) {
					hs := hs[:min(len(hs), 50*room)]
					one := start(t, f, s, uint64(room))
					addAll(t, one, hs)
					if !equal(finish(t, newBuilder(t, f, s, room), hs), one) {
						t.Error("one goroutine built another filter than Add")
					}
					b := newBuilder(t, f, s, room)
					addTogether(t, b, hs)
					if !equal(finish(t, b, nil), one) {
						t.Error("eight goroutines built another filter than Add")
					}
				})
			}
		}
	}
}

// like builds filters like an older one: of the same keys, and after 2% of the keys were replaced.
func like(t *testing.T, f Family, old family.Filter, hs []filter.Hash) {
	moves := f.Name == "fuse" || f.Name == "ribbon" // a filter like another one keeps neither its geometry nor its bits
	again := buildLike(t, f, old, hs, 1)
	if !moves && !equal(buildLike(t, f, again, hs, 1), again) {
		t.Error("a filter like one of the same keys differs from it")
	}
	changed := len(hs) / 50
	next := append(slices.Clone(hs[changed:]), filtertest.Hashes(changed, 77)...)
	built := buildLike(t, f, old, next, 1)
	noFalseNegative(t, built, next)
	if was, is := family.SpecOf(old), family.SpecOf(built); !moves && is != was {
		t.Errorf("like %s: %s", was, is)
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
	if !equal(built, buildLike(t, f, old, next, 3)) {
		t.Error("the filter depends on the order of the keys or the number of workers")
	}
	if f.Can.Has(family.CanSearch) {
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
	return finish(t, b, hs)
}

// differences returns the number of bits that differ between two filters of the same geometry, and the number of bits
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
