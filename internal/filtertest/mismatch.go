package filtertest

import (
	"errors"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Mismatch checks that Merge, and Intersect if f has it, refuse nil, each of the others, and filters of another type,
// with an error wrapping filter.ErrMismatch, and leave f unchanged. others are filters that f does not match, such as a
// typed nil or a filter of another size.
func Mismatch(t *testing.T, f family.Filter, others ...family.Filter) {
	t.Helper()
	before := f.Info()
	for _, other := range append(others, nil, foreign{}, (*foreign)(nil)) {
		if err := f.(family.Merger).Merge(other, nil); !errors.Is(err, filter.ErrMismatch) {
			t.Errorf("Merge with %T: %v, want ErrMismatch", other, err)
		}
		if i, ok := f.(family.Intersecter); ok {
			if err := i.Intersect(other, nil); !errors.Is(err, filter.ErrMismatch) {
				t.Errorf("Intersect with %T: %v, want ErrMismatch", other, err)
			}
		}
	}
	if after := f.Info(); after.Keys != before.Keys || after.Fill != before.Fill {
		t.Error("a Merge or Intersect that failed changed the filter")
	}
}

// foreign is a filter of no family.
type foreign struct{}

func (foreign) Has(filter.Hash) bool { return true }
func (foreign) Info() filter.Info    { return filter.Info{} }
