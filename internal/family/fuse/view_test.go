package fuse

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// TestViewValid wants ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {Segment: 4, Segments: 1}, {Segment: 3, Segments: 1, Width: 8}, {Segment: 4, Width: 8},
		{Segment: 1 << 19, Segments: 1, Width: 8}, {Segment: 4, Segments: 1<<30 + 1, Width: 8},
		{Segment: 4, Segments: 1, Width: 33},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	for _, s := range []filter.Spec{family.NewSpec("fuse"), newEmpty(8).Spec} {
		if _, err := ViewOf(s); err == nil {
			t.Errorf("a view of %v, which is not built or has no keys", s)
		}
	}
}
