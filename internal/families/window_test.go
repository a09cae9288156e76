package families

import (
	"errors"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// TestWindow checks that files of package window are refused by name, and that no family takes their number or name.
func TestWindow(t *testing.T) {
	err := Accept(family.WindowID, family.NewSpec(family.Window), filter.XXH3, nil, 0)
	if !errors.Is(err, family.ErrWindow) || !errors.Is(err, filter.ErrFamily) ||
		!strings.Contains(err.Error(), "package window") {
		t.Error(err)
	}
	for _, f := range formats {
		if f.ID == family.WindowID || f.Name == family.Window {
			t.Errorf("family %d %s", f.ID, f.Name)
		}
	}
}
