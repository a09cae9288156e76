package blocked

import (
	"testing"

	"github.com/bloomery/bloomery/internal/family"
)

// TestViewLayouts wants NewView to refuse what no filter has.
func TestViewLayouts(t *testing.T) {
	for _, c := range []struct {
		layout Layout
		k      int
	}{{"", 7}, {Line, 0}, {Line, -1}, {Line, MaxK + 1}, {Split, 7}, {Split, 9}, {"lines", 8}} {
		if _, ok := NewView(c.layout, c.k); ok {
			t.Errorf("a view of layout %q with k=%d", c.layout, c.k)
		}
	}
	if _, err := ViewOf(family.NewSpec("blocked")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
