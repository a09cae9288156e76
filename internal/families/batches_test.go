package families

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// batched compares all forms of batches with Has.
func batched(t *testing.T, f family.Filter, hs []filter.Hash) {
	t.Helper()
	forms := []func(dst []bool, hs []filter.Hash){f.(family.Batcher).HasMany}
	if cold, ok := f.(family.ColdBatcher); ok {
		cold.Prefetch(nil)
		forms = append(forms, func(dst []bool, hs []filter.Hash) {
			cold.Prefetch(hs)
			cold.HasManyCold(dst, hs)
		})
	}
	if spreader, ok := f.(family.Spreader); ok {
		if s := spreader.Spread(9); s != nil {
			forms = append(forms, everyThird(t, s, f))
		}
	}

	mixed := append(slices.Clone(hs), filtertest.Hashes(len(hs)+77, 2)...)
	for _, n := range []int{0, 1, 31, 32, 33, len(mixed)} {
		for form, hasMany := range forms {
			dst := make([]bool, n)
			hasMany(dst, mixed[:n])
			for i, got := range dst {
				if got != f.Has(mixed[i]) {
					t.Fatalf("form %d of HasMany of %d differs from Has at %d", form, n, i)
				}
			}
		}
	}
}

// everyThird stores f as filters 0, 3 and 6 of a Spread, and returns a HasMany that queries them in turn.
func everyThird(t *testing.T, s family.Spread, f family.Filter) func(dst []bool, hs []filter.Hash) {
	for i := 0; i < 9; i += 3 {
		if !s.SetFilter(i, f) {
			t.Fatal("a Spread refuses the filter that made it")
		}
	}
	return func(dst []bool, hs []filter.Hash) {
		at := make([]uint32, len(hs))
		for i := range at {
			at[i] = uint32(i % 3 * 3)
		}
		s.HasManySpread(dst, hs, at)
	}
}

// wrongBatches calls HasMany with a dst that is too short or too long. HasMany must panic and write nothing.
func wrongBatches(t *testing.T, f family.Filter, present []filter.Hash) {
	t.Helper()
	const keys = 40
	hs := present[:keys]
	for _, places := range []int{0, keys - 1, keys + 1} {
		dst := make([]bool, 2*keys)
		func() {
			defer func() {
				want := fmt.Sprintf("filter: HasMany: dst has %d places for %d keys", places, keys)
				if got := recover(); got != want {
					t.Errorf("HasMany with %d places for %d keys: panic %v, want %q", places, keys, got, want)
				}
			}()
			f.(family.Batcher).HasMany(dst[:places], hs)
		}()
		if slices.Contains(dst, true) {
			t.Errorf("HasMany with %d places for %d keys wrote an answer", places, keys)
		}
	}
}
