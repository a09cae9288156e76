//go:build unix

package flock

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// TestPipe: a pipe is an error at once, and a folder can be locked.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := Lock(t.Context(), path, nil)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, untrusted.ErrNotRegular) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer")
	}
	f, _, err := Lock(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, _, err := Lock(ctx, dir, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked twice: %v", err)
	}
	if err := Unlock(f); err != nil {
		t.Error(err)
	}
}
