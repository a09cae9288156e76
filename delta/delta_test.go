package delta_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/filter"
)

// TestWindowFiles checks that files of package window are refused when a delta is made or applied.
func TestWindowFiles(t *testing.T) {
	window := filepath.Join("..", "window", "testdata", "few.window")
	plain := filepath.Join("..", "internal", "container", "testdata", "standard-0.bloom")
	d, err := delta.DiffFiles(t.Context(), plain, plain)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	diff := func(old, new string) error { _, err := delta.DiffFiles(t.Context(), old, new); return err }
	for how, err := range map[string]error{
		"both":  diff(window, window),
		"old":   diff(window, plain),
		"new":   diff(plain, window),
		"patch": delta.PatchFile(t.Context(), window, d, out, delta.Options{}),
	} {
		if !errors.Is(err, filter.ErrMagic) || !strings.Contains(err.Error(), "open it with package window") {
			t.Errorf("%s: %v", how, err)
		}
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was written: %v", err)
	}
}
