package interop_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/interop"
)

// TestWindowFiles checks that files of package window are not recognised as a format of another system, and that the
// error of Detect names the package.
func TestWindowFiles(t *testing.T) {
	for _, name := range []string{"few", "keyed", "new"} {
		b, err := os.ReadFile(filepath.Join("..", "window", "testdata", name+".window"))
		check(t, err)
		_, err = interop.Detect(bytes.NewReader(b), int64(len(b)))
		if !errors.Is(err, interop.ErrFormat) ||
			!strings.Contains(err.Error(), "open it with package window") {
			t.Errorf("%s: Detect: %v", name, err)
		}
		for _, f := range interop.Formats() {
			if s, err := interop.Read(bytes.NewReader(b), f, 1<<20); err == nil || s != nil {
				t.Errorf("%s: read as %s: %v", name, f, err)
			}
		}
	}
}
