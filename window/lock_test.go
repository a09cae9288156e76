//go:build unix || windows

package window

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLockFile takes the lock of a file that does not exist, which must exclude a second caller until unlock, by any of the
// file's names, and refuses a folder.
func TestLockFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "seen.state")
	unlock, err := Lock(t.Context(), path)
	check(t, err)
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Error(err)
	}

	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := Lock(soon, filepath.Join(dir, ".", "seen.state")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second Lock: %v", err)
	}

	unlock()
	unlock, err = Lock(soon, path) // ctx has ended, and the lock is free
	check(t, err)
	unlock()
	if _, err := Lock(t.Context(), dir); err == nil {
		t.Error("a folder was locked")
	}
}
