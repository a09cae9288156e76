package exact

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestWindowFiles checks that a file of package window, or its first bytes, is refused with an error that names the
// package.
func TestWindowFiles(t *testing.T) {
	path := filepath.Join("..", "window", "testdata", "few.window")
	b := must(os.ReadFile(path))
	for how, open := range map[string]func() error{
		"Open":      func() error { _, err := Open(t.Context(), path); return err },
		"OpenLive":  func() error { _, err := OpenLive(t.Context(), path); return err },
		"Read":      func() error { _, err := Read(bytes.NewReader(b)); return err },
		"Read of 8": func() error { _, err := Read(bytes.NewReader(b[:8])); return err },
		"FromBytes": func() error { _, err := FromBytes(b); return err },
	} {
		err := open()
		if errors.Is(err, ErrFilter) || !errors.Is(err, filter.ErrMagic) ||
			!strings.Contains(err.Error(), "open it with package window") {
			t.Errorf("%s: %v", how, err)
		}
	}
}
