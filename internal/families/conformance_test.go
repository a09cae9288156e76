package families

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// specs lists the parameters that the conformance suite tests for each family; with -short it tests the first three.
// For each family that searches, only one spec has a named effort: the laws do not depend on the length of a search,
// but the time of the suite does.
var specs = map[string][]string{
	"standard": {"bits_per_key=4", "fpr=0.01", "bits_per_key=17.3", "bits_per_key=24", "bits_per_key=40",
		"bits_per_key=8,k=1"},
	"blocked": {"bits_per_key=4", "fpr=0.01", "bits_per_key=10,layout=split", "bits_per_key=24",
		"bits_per_key=10,k=9", "bits_per_key=4,layout=split", "fpr=0.001,layout=split"},
	"fuse": {"width=1", "bits_per_key=6", "fpr=0.01", "", "width=13", "width=16", "width=21", "width=32"},
	"partitioned": {"bits_per_key=4,passes=4", "effort=fast,fpr=0.01", "bits_per_key=9.7,passes=4",
		"bits_per_key=24,passes=4", "bits_per_key=40,passes=4"},
	"blockpartitioned": {"bits_per_key=4,passes=4", "effort=fast,fpr=0.01", "bits_per_key=9.7,passes=4",
		"bits_per_key=20,passes=4", "bits_per_key=8,block=1024,passes=4", "bits_per_key=24,block=1024,passes=4"},
	"twochoice": {"bits_per_key=4,passes=3", "effort=fast,fpr=0.01",
		"bits_per_key=9.7,choices=2,passes=4", "bits_per_key=24,passes=1",
		"bits_per_key=8,choices=8,k=6,passes=2", "bits_per_key=12,choices=16,passes=4"},
	"rankindexed": {"bits_per_key=6", "fpr=0.01", "fpr=0.0003", "bucket=512,fpr=0.03", "counting=1,fpr=0.01",
		"fpr=0.01,value_bits=9", "bits_per_key=40", "bucket=16384,fpr=0.001", "fpr=0.02,growth=2"},
	"counting": {"bits_per_key=8", "fpr=0.01", "bits_per_key=69.3", "bits_per_key=96", "bits_per_key=32,k=1",
		"bits_per_key=30,k=64"},
	"ribbon": {"r=1", "fpr=0.01", "r=8,w=128", "bits_per_key=3.4,w=128", "r=13,wide=500", "bits_per_key=17",
		"r=32"},
	"spark": {"bits_per_key=4", "fpr=0.01", "bits_per_key=17.3,version=2", "fpr=0.001,version=2",
		"bits_per_key=8,k=1"},
	"guava":      {"bits_per_key=4", "fpr=0.01", "bits_per_key=17.3", "fpr=0.001,strategy=32", "bits_per_key=8,k=1"},
	"dcso":       {"bits_per_key=4", "fpr=0.01", "bits_per_key=17.3", "fpr=0.001", "bits_per_key=8,k=1"},
	"redisbloom": {"fpr=0.01", "expansion=0,fpr=0.001", "bits_per_key=12", "capacity=20000,fpr=0.01"},
}

// tried returns the specs of a family that the suite tests.
func tried(f Family) (all []string) {
	for _, parameters := range specs[f.Name] {
		if parameters == "" {
			all = append(all, f.Name)
		} else {
			all = append(all, f.Name+"("+parameters+")")
		}
	}
	return all
}

// TestConformance requires the laws of filters of every family: a key that was added is present, a stored filter is the
// same filter, and no order of keys, number of goroutines or batch changes a filter or an answer. A run tries a third
// of the filters of 50,000 keys and of the observed rates. For one family: go test ./internal/families -run
// Conformance/ribbon
func TestConformance(t *testing.T) {
	sizes := []int{0, 1, 2, 63, 1000, 50_000}
	if testing.Short() {
		sizes = sizes[:5]
	}
	for _, f := range All() {
		if f.Can.Has(family.CanRawKeys) {
			continue // does not use hashes; its own package tests the same laws
		}
		texts := tried(f)
		if len(texts) == 0 {
			t.Errorf("family %s has no specs to try", f.Name)
			continue
		}
		if testing.Short() {
			texts = texts[:min(3, len(texts))]
		}

		t.Run(f.Name, func(t *testing.T) {
			runs := filtertest.Third(t, false)
			for _, text := range texts {
				_, s := parse(t, text)
				for _, n := range sizes {
					if n == 50_000 && !runs() {
						continue
					}
					t.Run(fmt.Sprintf("%s/n=%d", text, n), func(t *testing.T) {
						hs := filtertest.Hashes(n, 1)
						built := build(t, f, s, hs)
						noFalseNegative(t, built, hs)
						encodeDecode(t, f, built, hs)
						shuffled(t, f, s, built, hs)
						noAllocation(t, built)
						batched(t, built, hs)
						like(t, f, built, hs)
					})
				}
				t.Run(text+"/spent", func(t *testing.T) { spent(t, f, s) })
				if runs() {
					t.Run(text+"/rate", func(t *testing.T) { observedRate(t, f, s) })
				}
				t.Run(text+"/merge", func(t *testing.T) { merge(t, f, s) })
				t.Run(text+"/intersect", func(t *testing.T) { intersect(t, f, s) })
				t.Run(text+"/concurrent", func(t *testing.T) { concurrent(t, f, s) })
				t.Run(text+"/remove", func(t *testing.T) { remove(t, f, s) })
				t.Run(text+"/shared", func(t *testing.T) { shared(t, f, s) })
			}
			t.Run("batches of wrong lengths", func(t *testing.T) {
				hs := filtertest.Hashes(100, 1)
				_, s := parse(t, texts[0])
				wrongBatches(t, build(t, f, s, hs), hs)
			})
			t.Run("cancelled", func(t *testing.T) { cancelled(t, f) })
		})
	}
}

// parse returns a Spec and its family.
func parse(t testing.TB, text string) (Family, filter.Spec) {
	t.Helper()
	s, err := filter.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := ByName(s.Family())
	if err != nil {
		t.Fatal(err)
	}
	return f, s
}

// start returns an empty filter for the given number of keys.
func start(t testing.TB, f Family, s filter.Spec, keys uint64) family.Filter {
	t.Helper()
	made, err := f.New(s, keys)
	if err != nil {
		t.Fatalf("%s for %d keys: %v", s, keys, err)
	}
	return made
}

// newBuilder returns a Builder for the given number of keys.
func newBuilder(t testing.TB, f Family, s filter.Spec, keys int) family.Builder {
	t.Helper()
	b, err := f.NewBuilder(s, uint64(keys))
	if err != nil {
		t.Fatalf("%s for %d keys: %v", s, keys, err)
	}
	return b
}

// build builds a filter of the keys.
func build(t testing.TB, f Family, s filter.Spec, hs []filter.Hash) family.Filter {
	t.Helper()
	return finish(t, newBuilder(t, f, s, len(hs)), hs)
}

// finish adds keys to a Builder and builds the filter.
func finish(t testing.TB, b family.Builder, hs []filter.Hash) family.Filter {
	t.Helper()
	for part := range slices.Chunk(hs, 999) {
		if err := b.AddMany(part); err != nil {
			t.Fatal(err)
		}
	}
	built, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// addAll adds keys one by one.
func addAll(t testing.TB, f family.Filter, hs []filter.Hash) {
	t.Helper()
	for i, h := range hs {
		if err := f.(family.Adder).Add(h); err != nil {
			t.Fatalf("key %d: %v", i, err)
		}
	}
}

// addTogether adds keys to a Builder from eight goroutines, in batches of different lengths.
func addTogether(t *testing.T, b family.Builder, hs []filter.Hash) {
	var wg sync.WaitGroup
	for i := range 8 {
		left := hs[i*len(hs)/8 : (i+1)*len(hs)/8]
		wg.Go(func() {
			for n := 1; len(left) > 0; n = 2*n + i {
				part := left[:min(n, len(left))]
				left = left[len(part):]
				if err := b.AddMany(part); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func noFalseNegative(t *testing.T, f family.Filter, hs []filter.Hash) {
	t.Helper()
	for i, h := range hs {
		if !f.Has(h) {
			t.Fatalf("key %d of %d is lost", i, len(hs))
		}
	}
}

func encodeDecode(t *testing.T, f Family, built family.Filter, hs []filter.Hash) {
	e := built.(family.Encoder).Encode()
	if err := e.CheckSections(f.SectionWords(e.Spec)); err != nil {
		t.Fatal(err)
	}
	again, err := f.Decode(e)
	if err != nil {
		t.Fatal(err)
	}
	noFalseNegative(t, again, hs)
	if a, b := built.Info(), again.Info(); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("decoded %v, encoded %v", b, a)
	}
}

// equal reports whether two filters are stored as the same bits.
func equal(a, b family.Filter) bool {
	x, y := a.(family.Encoder).Encode(), b.(family.Encoder).Encode()
	return x.Keys == y.Keys && x.Spec == y.Spec && slices.EqualFunc(x.Sections, y.Sections, slices.Equal[[]uint64])
}

// shuffled builds the filter again from the keys in another order. The result must be identical.
func shuffled(t *testing.T, f Family, s filter.Spec, built family.Filter, hs []filter.Hash) {
	other := slices.Clone(hs)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	if !equal(built, build(t, f, s, other)) {
		t.Error("the filter depends on the order of the keys")
	}
}

// concurrent adds keys to a builder from several goroutines. The result must be the same as from one goroutine.
func concurrent(t *testing.T, f Family, s filter.Spec) {
	hs := filtertest.Hashes(20_000, 31)
	b := newBuilder(t, f, s, len(hs))
	addTogether(t, b, hs)
	built := finish(t, b, nil)
	noFalseNegative(t, built, hs)
	if !equal(built, build(t, f, s, hs)) {
		t.Error("the filter depends on the number of goroutines")
	}
}

// cancelled requires an error from a Build whose context is done.
func cancelled(t *testing.T, f Family) {
	_, s := parse(t, tried(f)[0])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newBuilder(t, f, s, 10).Build(ctx); err == nil {
		t.Error("Build with a context that is done gave no error")
	}
}

// spent requires that a Builder returns errors after Build, since its keys would be lost or would change the filter.
func spent(t *testing.T, f Family, s filter.Spec) {
	hs := filtertest.Hashes(20, 1)
	b := newBuilder(t, f, s, 10)
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

func noAllocation(t *testing.T, f family.Filter) {
	h := filter.Hash{Hi: 1, Lo: 2}
	if n := testing.AllocsPerRun(100, func() { f.Has(h) }); n != 0 {
		t.Errorf("Has allocates %v times", n)
	}
}

// TestNoKeys checks that a filter without keys answers false for single keys and batches, after it is built and after
// it is read.
func TestNoKeys(t *testing.T) {
	hs := make([]filter.Hash, 100_000)
	for i := range hs {
		hs[i] = filter.NewHasher(7).SumUint64(uint64(i))
	}
	none := func(t *testing.T, f family.Filter) {
		t.Helper()
		found, dst := 0, make([]bool, len(hs))
		if b, ok := f.(family.Batcher); ok {
			b.HasMany(dst, hs)
		}
		for i, h := range hs {
			if dst[i] || f.Has(h) {
				found++
			}
		}
		if found > 0 {
			t.Errorf("%s of 0 keys: %d of %d keys are present", family.SpecOf(f), found, len(hs))
		}
	}
	for _, f := range All() {
		for _, text := range append(tried(f), f.Name) {
			_, s := parse(t, text)
			var made []family.Filter
			if f.New != nil {
				made = append(made, start(t, f, s, 0))
			}
			if f.NewBuilder != nil {
				made = append(made, build(t, f, s, nil))
			}
			for _, m := range made {
				none(t, m)
				read, err := f.Decode(m.(family.Encoder).Encode())
				if err != nil {
					t.Fatalf("%s: %v", s, err)
				}
				none(t, read)
				if shared, ok := read.(family.Sharer); ok {
					c := shared.Concurrent()
					none(t, c)
					if f.New == nil {
						continue
					}
					again, err := f.Empty(c)
					if err != nil {
						t.Fatalf("%s: %v", s, err)
					}
					none(t, again)
				}
			}
		}
	}
}
