//go:build unix

package container

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestBatch: in a Batch the temporary file of a killed writer stays until RemoveAbandoned, and the file is complete.
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
