package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestReadSecret: a file without an end is not read whole, and a folder is an error.
func TestReadSecret(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	for text, want := range map[string]error{
		strings.Repeat("0f", filter.SecretSize) + "\n": nil,
		strings.Repeat("0f", 1<<20):                    filter.ErrTooLarge,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSecret(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
	}
	if _, err := readSecret(t.Context(), dir); err == nil {
		t.Error("a folder is read")
	}
	const zero = "/dev/zero"
	if _, err := os.Stat(zero); err == nil {
		if _, err := readSecret(t.Context(), zero); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: %v", zero, err)
		}
	}
}
