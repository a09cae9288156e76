package publish

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
)

var small = scale{keys: 20_000, days: 6, absent: 1000, short: 2, long: 4}

// TestHistory replaces keys by others that were never in the list.
func TestHistory(t *testing.T) {
	h := newHistory(small.keys, small.days, small.absent, 1)
	if !reflect.DeepEqual(h, newHistory(small.keys, small.days, small.absent, 1)) {
		t.Error("the same seed gives another history")
	}
	seen := map[string]bool{}
	note := func(keys []string) {
		for _, k := range keys {
			if seen[k] || !bytes.Contains([]byte(k), []byte(".")) {
				t.Errorf("%q comes twice or is no domain", k)
			}
			seen[k] = true
		}
	}
	note(h.first)
	note(h.other)
	list := slices.Clone(h.first)
	for _, d := range h.days {
		note(d.fresh)
		before := slices.Clone(list)
		d.apply(list)
		changes := 0
		for i := range list {
			if list[i] != before[i] {
				changes++
			}
		}
		if changes != 40 || len(list) != small.keys {
			t.Errorf("%d of %d keys changed", changes, len(list))
		}
	}
}

// TestInPlace changes a filter in place: its trimmed form equals the trimmed form of a build like the day before.
func TestInPlace(t *testing.T) {
	h := newHistory(small.keys, small.days, 0, 2)
	var makers []*maker
	lists := [][]string{slices.Clone(h.first), slices.Clone(h.first)}
	for i, inPlace := range []bool{false, true} {
		m := &maker{kind: kind{trimmed: !inPlace, inPlace: inPlace}}
		if err := m.first(t.Context(), "rankindexed(capacity=20100)", lists[i]); err != nil {
			t.Fatal(err)
		}
		makers = append(makers, m)
	}
	for _, d := range h.days {
		var files [][]byte
		for i, m := range makers {
			if err := m.next(t.Context(), lists[i], d); err != nil {
				t.Fatal(err)
			}
			form, err := m.set.Trimmed()
			if err != nil {
				t.Fatal(err)
			}
			v, err := fileOf(form)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, v.file)
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Fatal("a build and changes in place give other trimmed files")
		}
	}
}

// TestDeltas follows every kind for some days. A delta must be smaller than a tenth of the file, and have about the
// same number of bytes per changed key as in the full experiment.
func TestDeltas(t *testing.T) {
	h := newHistory(small.keys, small.days, small.absent, 3)
	for _, k := range kinds {
		got, err := follow(t.Context(), k, small, h)
		if err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		// 267 keys per day in the full experiment, 40 here; gaps are as wide as there, and prefix and header cost 100 B
		// in sets of 4 shards.
		if most := 1.15*float64(k.target())*40/267 + 100; k.target() > 0 && slices.Max(got.sizes) > most {
			t.Errorf("%s: %v bytes, want at most %.0f", k.name, got.sizes, most)
		}
		if slices.Max(got.sizes) > float64(got.whole)/10 || len(got.long) == 0 || len(got.short) == 0 {
			t.Errorf("%s: %v bytes of %d, %d and %d jumps", k.name, got.sizes, got.whole, len(got.short), len(got.long))
		}
		if k.room > 0 && got.planned != 0.01 || got.rates[0].FPRPosterior > 0.0105 {
			t.Errorf("%s: rate %g, planned %g", k.name, got.rates[0].FPRPosterior, got.planned)
		}
	}
}
