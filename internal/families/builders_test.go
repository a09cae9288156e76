package families_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// gatherers returns specs whose builders gather keys, by the list of families: the family without parameters, its
// forms, and both with sizes.
func gatherers(t *testing.T, f families.Family) (specs []filter.Spec) {
	t.Helper()
	if f.NewBuilder == nil {
		return nil
	}
	plain := []filter.Spec{family.NewSpec(f.Name)}
	for _, form := range f.Forms {
		if form.Spec != plain[0] {
			plain = append(plain, form.Spec)
		}
	}
	for _, s := range plain {
		b := builder(t, f, s, 0)
		if gatherer, ok := b.(family.Gatherer); ok {
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

func builder(t *testing.T, f families.Family, s filter.Spec, keys int) family.Builder {
	t.Helper()
	b, err := f.NewBuilder(s, uint64(keys))
	if err != nil {
		t.Fatalf("%s for %d keys: %v", s, keys, err)
	}
	return b
}

// built feeds the keys in batches and returns what is stored of the filter.
func built(t *testing.T, b family.Builder, hs []filter.Hash) family.Encoded {
	t.Helper()
	for part := range slices.Chunk(hs, 999) {
		if err := b.AddMany(part); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hs {
		if !f.Has(h) {
			t.Fatal("a key is lost")
		}
	}
	return f.(family.Encoder).Encode()
}

func equal(a, b family.Encoded) bool {
	return a.Spec == b.Spec && a.Keys == b.Keys && slices.EqualFunc(a.Sections, b.Sections, slices.Equal[[]uint64])
}

// TestGatherers builds each filter whose builder gathers its keys in several ways: without the number of keys in
// advance, in another order, with keys in a file, and with other numbers of workers. All give the same filter, with and
// without duplicates among the keys.
func TestGatherers(t *testing.T) {
	const keys = 5000
	hs := filtertest.Hashes(keys, 1)
	twice := append(slices.Clone(hs), hs[:keys/3]...)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(twice), func(i, j int) { twice[i], twice[j] = twice[j], twice[i] })
	inputs := [][]filter.Hash{nil, hs[:1], twice, hs}
	if testing.Short() {
		inputs = inputs[:3]
	}
	for _, f := range families.All() {
		for _, s := range gatherers(t, f) {
			for _, hs := range inputs {
				t.Run(fmt.Sprintf("%s/%d", s, len(hs)), func(t *testing.T) {
					want := built(t, builder(t, f, s, len(hs)), hs)
					if !equal(built(t, builder(t, f, s, 0), hs), want) {
						t.Error("the filter is another one if the builder did not know the number of keys")
					}
					for _, memory := range []int64{1, 40 << 10} {
						b := builder(t, f, s, 0)
						b.(family.Gatherer).SetOptions(family.BuildOptions{Memory: memory, Dir: t.TempDir()})
						if !equal(built(t, b, hs), want) {
							t.Errorf("a limit of %d bytes changes the filter", memory)
						}
					}
					backwards := slices.Clone(hs)
					slices.Reverse(backwards)
					for _, workers := range []int{1, 3} { // 0 is the default, above
						b := builder(t, f, s, 0)
						b.(family.Gatherer).SetOptions(family.BuildOptions{Workers: workers})
						if !equal(built(t, b, backwards), want) {
							t.Errorf("the order of the keys, or %d workers, change the filter", workers)
						}
					}
				})
			}
		}
	}
}

// TestFillers fills filters that do not gather their keys from many goroutines, in batches of different lengths, and
// compares them with filters to which the same keys are added one by one. There are filters that fit into the caches
// and larger ones, for which builders have different code.
func TestFillers(t *testing.T) {
	const most = 40_000
	hs := filtertest.Hashes(most, 1)
	hs = append(hs, hs[:most/10]...)
	for _, f := range families.All() {
		if f.NewBuilder == nil || f.New == nil || f.Can.Has(family.CanSpill) {
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
					one, err := f.New(s, uint64(room))
					if err != nil {
						t.Fatal(err)
					}
					for _, h := range hs {
						if err := one.(family.Adder).Add(h); err != nil {
							t.Fatal(err)
						}
					}
					want := one.(family.Encoder).Encode()
					if !equal(built(t, builder(t, f, s, room), hs), want) {
						t.Error("one goroutine built another filter than Add")
					}
					b := builder(t, f, s, room)
					var wg sync.WaitGroup
					for i := range 8 {
						own := hs[i*len(hs)/8 : (i+1)*len(hs)/8]
						wg.Go(func() {
							for n := 1; len(own) > 0; n = 2*n + i {
								part := own[:min(n, len(own))]
								own = own[len(part):]
								_ = b.AddMany(part)
							}
						})
					}
					wg.Wait()
					if !equal(built(t, b, nil), want) {
						t.Error("eight goroutines built another filter than Add")
					}
				})
			}
		}
	}
}

// TestAbilitiesOfBuilders holds what the list says of builders against the interfaces that they have.
func TestAbilitiesOfBuilders(t *testing.T) {
	for _, f := range families.All() {
		spills := len(gatherers(t, f)) > 0
		if spills != f.Can.Has(family.CanSpill) {
			t.Errorf("%s: builders spill: %v, the list says %v", f.Name, spills, !spills)
		}
		for _, form := range f.Forms {
			b := builder(t, f, form.Spec, 10)
			if s, ok := b.(family.Gatherer); ok {
				s.Close()
			} else if form.Can.Has(family.CanSpill) {
				t.Errorf("%s does not spill, against the list", form.Spec)
			}
			if _, ok := b.(family.Gatherer); !ok && form.Can.Has(family.CanSearch) {
				t.Errorf("%s searches, takes no number of workers and reports no progress", form.Spec)
			}
		}
	}
}

// BenchmarkFill compares builders of filters that do not gather their keys with Add. A builder takes at most 1.2x the
// time of Add.
func BenchmarkFill(b *testing.B) {
	const keys = 1_000_000
	hs := filtertest.Hashes(keys, 1)
	for _, f := range families.All() {
		if f.NewBuilder == nil || f.New == nil || f.Can.Has(family.CanSpill) {
			continue
		}
		s := family.NewSpec(f.Name, "bits_per_key", 10.0)
		b.Run("op=add/family="+f.Name, func(b *testing.B) {
			for b.Loop() {
				one, err := f.New(s, keys)
				if err != nil {
					b.Fatal(err)
				}
				a := one.(family.Adder)
				for _, h := range hs {
					_ = a.Add(h)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/key")
		})
		b.Run("op=build/family="+f.Name, func(b *testing.B) {
			for b.Loop() {
				builder, err := f.NewBuilder(s, keys)
				if err != nil {
					b.Fatal(err)
				}
				for part := range slices.Chunk(hs, 4096) {
					_ = builder.AddMany(part)
				}
				if _, err := builder.Build(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/keys, "ns/key")
		})
	}
}
