package publish

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestKeyFiles: a key is written once, for its owner only, and found by its text and by its file.
func TestKeyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := CreateKey(t.Context(), path)
	must(t, err)
	if st, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", err, st.Mode())
	}
	private, err := ReadPrivateKey(t.Context(), path)
	if err != nil || private.Public() != public {
		t.Errorf("%v, %v", err, private)
	}
	if got, err := ReadPublicKey(t.Context(), path+PublicSuffix); err != nil || got != public {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := CreateKey(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	must(t, os.Remove(path+PublicSuffix))
	if _, err := CreateKey(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if again, err := ReadPrivateKey(t.Context(), path); err != nil || again.Public() != public {
		t.Errorf("the key was replaced: %v", err)
	}
	if _, err := os.Stat(path + PublicSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a public key without a private one: %v", err)
	}
	if _, err := ReadPublicKey(t.Context(), path); !errors.Is(err, ErrKey) {
		t.Errorf("a private key as a public one: %v", err)
	}
	if _, err := ReadPrivateKey(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
