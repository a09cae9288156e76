package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// half returns a function that writes text and then fails with err.
func half(text string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		_, _ = io.WriteString(w, text)
		return err
	}
}

// TestWriteAtomic makes a write fail in the middle of a file, and checks that the old file and no other file remains.
func TestWriteAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := WriteAtomic(t.Context(), path, half("old", nil)); err != nil {
		t.Fatal(err)
	}
	if err := WriteAtomic(t.Context(), path, half("ne", io.ErrShortWrite)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("now %q", text)
	}
	if runtime.GOOS != "windows" { // Windows has neither permissions nor links of this kind
		link := filepath.Join(t.TempDir(), "link")
		if err := errors.Join(os.Chmod(path, 0o640), os.Symlink(path, link), WriteAtomic(t.Context(), link, half("new", nil))); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Lstat(link); err != nil || st.Mode().IsRegular() {
			t.Errorf("the link is a file now: %v", err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 || st.Size() != 3 {
			t.Errorf("%v, %v", st.Mode(), err)
		}
		if text, _ := os.ReadFile(path); string(text) != "new" {
			t.Errorf("now %q", text)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// TestReplaceOpen replaces a file while a reader has it open for a moment, which Windows refuses.
func TestReplaceOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"old", "new"} {
		if err := WriteAtomic(t.Context(), path, half(text, nil)); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Millisecond, func() { _ = f.Close() })
	}
	if text, err := os.ReadFile(path); string(text) != "new" || err != nil {
		t.Errorf("now %q, %v", text, err)
	}
}

// TestDiskFull gives DiskFull the errors of a full disk on Unix and on Windows. Elsewhere, 112 is another error.
func TestDiskFull(t *testing.T) {
	for err, want := range map[error]bool{
		syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EIO: false, diskFull: runtime.GOOS == "windows",
	} {
		if got := DiskFull(fmt.Errorf("write: %w", err)); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// TestInterruptedWrite interrupts a write in the middle of a file.
func TestInterruptedWrite(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var b strings.Builder
	w := &ctxWriter{ctx, &b}
	if n, err := io.WriteString(w, "one"); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	cancel()
	if _, err := io.WriteString(w, "two"); !errors.Is(err, context.Canceled) || b.String() != "one" {
		t.Errorf("%v, %q", err, b.String())
	}
	dir := t.TempDir()
	if err := WriteAtomic(ctx, filepath.Join(dir, "file"), half("text", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

// TestBatch checks that in a Batch the temporary file of a killed writer remains until RemoveAbandoned, and that the
// written file is complete.
func TestBatch(t *testing.T) {
	if !canLock {
		t.Skip("this system has no locks: temporary files stay")
	}
	path := filepath.Join(t.TempDir(), "file")
	left := filepath.Join(filepath.Dir(path), tempPrefix(path)+"0123456789abcdef")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text := func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }
	if err := WriteAtomic(Batch(t.Context()), path, text); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "text" {
		t.Errorf("the file has %q, %v", b, err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error(err)
	}
	if err := WriteAtomic(t.Context(), path, text); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("outside a Batch the temporary file stays")
	}
}
