package container

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestLock checks that a file and a folder can be locked only once, and that a locked file can be replaced, also on
// Windows.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.WriteFile(path+".new", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	now, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, p := range []string{path, dir} {
		f, was, err := Lock(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		waited := false
		if again, _, err := Lock(now, p, func() { waited = true }); !errors.Is(err, context.DeadlineExceeded) || !waited {
			_ = Unlock(again)
			t.Skipf("NO LOCKS HERE: %v", err)
		}
		if p == path {
			if err := os.Rename(path+".new", path); err != nil {
				t.Error(err)
			}
		}
		if err := Unlock(f); err != nil {
			t.Error(err)
		}
		f, is, err := Lock(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if os.SameFile(was, is) != (p == dir) {
			t.Errorf("%s: the file that was locked is not the one that is there", p)
		}
		_ = Unlock(f)
	}

	// On Windows the locks were separate files, which Unlock removes.
	if names, err := os.ReadDir(dir); len(names) != 1 || err != nil {
		t.Errorf("left behind: %v, %v", names, err)
	}
}
