package families

import (
	"errors"
	"flag"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

var long = flag.Bool("long", false, "10^7 operations against a map, all cases of TestRates: ten minutes")

// merge merges filters of the same geometry. Filters of another geometry or type, and nil, must be refused.
func merge(t *testing.T, f Family, s filter.Spec) {
	a, b := filtertest.Hashes(500, 21), filtertest.Hashes(500, 22)
	of := func(parts ...[]filter.Hash) family.Filter {
		return finish(t, newBuilder(t, f, s, 1000), slices.Concat(parts...))
	}
	x := of(a)
	m, ok := x.(family.Merger)
	if !ok {
		t.Skip("the family does not merge")
	}
	if err := m.Merge(of(b), nil); err != nil {
		t.Fatal(err)
	}
	if !equal(x, of(b, a)) {
		t.Error("the merged filter differs from one built from both sets of keys")
	}

	none := reflect.Zero(reflect.TypeOf(x)).Interface().(family.Filter) // a typed nil
	larger := build(t, f, s, filtertest.Hashes(5000, 1))
	for _, other := range []family.Filter{none, larger, nil, foreign{}, (*foreign)(nil)} {
		if err := m.Merge(other, nil); !errors.Is(err, filter.ErrMismatch) {
			t.Errorf("Merge with %T: %v, want ErrMismatch", other, err)
		}
		if i, ok := x.(family.Intersecter); ok {
			if err := i.Intersect(other, nil); !errors.Is(err, filter.ErrMismatch) {
				t.Errorf("Intersect with %T: %v, want ErrMismatch", other, err)
			}
		}
	}
	if !equal(x, of(b, a)) {
		t.Error("a Merge or Intersect that failed changed the filter")
	}
}

// intersect intersects a filter with another one. The common keys must remain, and the set bits must be set in both
// filters.
func intersect(t *testing.T, f Family, s filter.Spec) {
	hs := filtertest.Hashes(300, 5)
	x := finish(t, newBuilder(t, f, s, 1000), hs[:200])
	y := finish(t, newBuilder(t, f, s, 1000), hs[150:])
	i, ok := x.(family.Intersecter)
	if !ok {
		t.Skip("the family does not intersect")
	}
	want := slices.Clone(x.(family.Encoder).Encode().Sections[0])
	for j, w := range y.(family.Encoder).Encode().Sections[0] {
		want[j] &= w
	}
	if err := i.Intersect(y, nil); err != nil {
		t.Fatal(err)
	}
	noFalseNegative(t, x, hs[150:200])
	if e := x.(family.Encoder).Encode(); !slices.Equal(e.Sections[0], want) || e.Keys != 150 {
		t.Errorf("the bits are not in both filters, or %d keys", e.Keys)
	}
}

// foreign is a filter whose type belongs to no family.
type foreign struct{}

func (foreign) Has(filter.Hash) bool { return true }
func (foreign) Info() filter.Info    { return filter.Info{} }

// remove removes keys one by one. No other key may become absent.
func remove(t *testing.T, f Family, s filter.Spec) {
	hs := filtertest.Hashes(2000, 41)
	built := build(t, f, s, hs)
	r, ok := built.(family.Remover)
	if !ok {
		t.Skip("the family does not remove")
	}
	gone, stay := hs[:1500], hs[1500:]
	for i, h := range gone {
		if err := r.Remove(h); err != nil {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	noFalseNegative(t, built, stay)
	if n := built.Info().Keys; n != uint64(len(stay)) {
		t.Errorf("%d keys are left, want %d", n, len(stay))
	}
	encodeDecode(t, f, built, stay)

	for _, h := range filtertest.Hashes(1000, 42) {
		if built.Has(h) {
			continue // a false positive
		}
		if err := r.Remove(h); !errors.Is(err, filter.ErrNotFound) {
			t.Fatalf("removing an absent key: %v", err)
		}
	}
	noFalseNegative(t, built, stay)
}

// modelSpecs are the filters that TestModel compares: some are so small that keys share most of their cells, other
// filters grow or have no room for all keys.
var modelSpecs = []string{
	"counting", "counting(k=7,m=40)", "counting(k=4,m=5)", "counting(bits_per_key=80)",
	"rankindexed", "rankindexed(counting=1)", "rankindexed(value_bits=7)", "rankindexed(bucket=512,fpr=0.05)",
	"rankindexed(counting=1,growth=6)",
}

// TestModel compares filters with removal, and their concurrent forms, with a map.
func TestModel(t *testing.T) {
	operations := 200_000
	switch {
	case *long:
		operations = 10_000_000
	case testing.Short():
		operations = 50_000
	}
	for _, text := range modelSpecs {
		f, s := parse(t, text)
		keys := uint64(modelKeys)
		if family.Given(s, "growth") {
			keys /= 40
		}
		first := start(t, f, s, keys)
		empty := func() family.Filter { // does not plan, since a plan takes longer than the operations on a filter
			made, err := f.Empty(first)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		t.Run(text, func(t *testing.T) { compareWithModel(t, operations, empty) })
		t.Run(text+"/concurrent", func(t *testing.T) {
			compareWithModel(t, operations/4, func() family.Filter { return empty().(family.Sharer).Concurrent() })
		})
	}
}

const (
	modelKeys   = 300 // the number of different keys: small, so that each key is added and removed many times
	modelChecks = 100 // the number of sequences of operations that are drawn, the default of rapid
)

// compareWithModel compares filters with a map, over random sequences of additions and removals. operations is their
// approximate number in total. No present key may become absent and no count may be too small. Removing an absent key
// must return an error, and a full filter must not change. start returns an empty filter.
func compareWithModel(t *testing.T, operations int, start func() family.Filter) {
	keys := filtertest.Hashes(modelKeys, 51)
	rapid.Check(t, func(r *rapid.T) {
		f := start()
		adder, remover := f.(family.Adder), f.(family.Remover)
		counter, _ := f.(family.Counter)
		truth := make([]uint64, len(keys))
		total := 0
		whole := func() {
			for i, n := range truth {
				if n > 0 && !f.Has(keys[i]) {
					r.Fatalf("key %d is lost, it was added %d times more than removed", i, n)
				}
				if counter == nil {
					continue
				}
				if got, saturated := counter.Count(keys[i]); got < n && !saturated {
					r.Fatalf("key %d counts %d, truth %d", i, got, n)
				}
			}
			if got := f.Info().Keys; got != uint64(total) {
				r.Fatalf("Info says %d keys, truth %d", got, total)
			}
		}
		adds := rapid.IntRange(3, 7).Draw(r, "adds of 10")
		for step := range operations / modelChecks {
			draw := rapid.IntRange(0, 10*modelKeys-1).Draw(r, "step")
			i := draw / 10
			switch {
			case draw%10 < adds && total < 2*modelKeys:
				switch err := adder.Add(keys[i]); {
				case err == nil:
					truth[i]++
					total++
				case !errors.Is(err, filter.ErrFull):
					r.Fatal(err)
				}
			case truth[i] > 0:
				if err := remover.Remove(keys[i]); err != nil {
					r.Fatalf("key %d was added: %v", i, err)
				}
				truth[i]--
				total--
			case !f.Has(keys[i]):
				if err := remover.Remove(keys[i]); !errors.Is(err, filter.ErrNotFound) {
					r.Fatalf("removing an absent key: %v", err)
				}
			}
			if truth[i] > 0 && !f.Has(keys[i]) {
				r.Fatalf("key %d is lost", i)
			}
			if step%997 == 0 {
				whole()
			}
		}
		whole()
	})
}
