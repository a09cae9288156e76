package blockpartitioned

import (
	"testing"

	"github.com/bloomery/bloomery/internal/family"
)

// TestViewShapes wants NewView to refuse geometries that no filter has.
func TestViewShapes(t *testing.T) {
	for _, s := range []blockGeometry{
		{}, {512, 1, 7, 0}, {768, 4, 8, 5}, {512, 4, 65, 5}, {512, 4, 8, 6}, {512, 13, 8, 5}, {512, 4, -8, -5},
		{512, 1 << 60, 8, 5}, {512, 1<<64 - 1, 8, 5}, {512, 0, 8, 5},
	} {
		if v, ok := NewView(s.block, s.groups, s.k, s.width); ok {
			t.Errorf("%+v: a view of %d bytes", s, v.Bytes())
		}
	}
	if _, err := ViewOf(family.NewSpec("blockpartitioned")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
