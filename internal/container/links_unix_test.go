//go:build unix

package container

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestNoLinks replaces a link, with and without NoLinks: its target changes only without it.
func TestNoLinks(t *testing.T) {
	for _, missing := range []bool{false, true} {
		dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "target")
		path := filepath.Join(dir, "link")
		if !missing {
			if err := os.WriteFile(elsewhere, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, path); err != nil {
			t.Fatal(err)
		}
		if err := WriteAtomic(NoLinks(t.Context()), path, half("new", nil)); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(elsewhere); missing != errors.Is(err, os.ErrNotExist) || !missing &&
			string(text) != "old" {
			t.Errorf("the target has %q, %v", text, err)
		}
		if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() || st.Size() != 3 {
			t.Errorf("%v, %v", st, err)
		}
		if names := entries(t, dir); len(names) != 1 {
			t.Errorf("%q is left", names)
		}
	}
	if err := WriteAtomic(NoLinks(t.Context()), t.TempDir(), half("new", nil)); err == nil {
		t.Error("a folder was replaced")
	}
}
