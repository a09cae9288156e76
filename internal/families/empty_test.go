package families

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// TestNoKeys: a filter of no keys answers no, to one key and to batches, as it is made and as it is read.
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
		for _, text := range append(specs[f.Name], f.Name) {
			s, err := filter.ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			var made []family.Filter
			if f.New != nil {
				empty, err := f.New(s, 0)
				if err != nil {
					t.Fatalf("%s: %v", s, err)
				}
				made = append(made, empty)
			}
			if f.NewBuilder != nil {
				b, err := f.NewBuilder(s, 0)
				if err != nil {
					t.Fatalf("%s: %v", s, err)
				}
				built, err := b.Build(t.Context())
				if err != nil {
					t.Fatalf("%s: %v", s, err)
				}
				made = append(made, built)
			}
			for _, m := range made {
				none(t, m)
				read, err := f.Decode(m.(family.Encoder).Encode())
				if err != nil {
					t.Fatalf("%s: %v", s, err)
				}
				none(t, read)
				if shared, ok := read.(family.Sharer); ok {
					none(t, shared.Concurrent())
				}
			}
		}
	}
}
