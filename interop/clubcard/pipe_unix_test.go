//go:build unix

package clubcard_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/interop/clubcard"
)

// TestCheckDirPipe checks that a pipe or a folder in place of the index or of a Clubcard is refused at once.
func TestCheckDirPipe(t *testing.T) {
	cert := certificate(t, "revoked.pem")
	for _, name := range []string{clubcard.IndexName, "base.clubcard"} {
		for what, put := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		} {
			dir := t.TempDir()
			for _, file := range []string{clubcard.IndexName, "base.clubcard", "delta.clubcard"} {
				path := filepath.Join(dir, file)
				err := os.WriteFile(path, read(t, "cache/"+file), 0o600)
				if file == name {
					err = errors.Join(err, os.Remove(path), put(path))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := clubcard.CheckDir(t.Context(), os.DirFS(dir), cert); !errors.Is(err, untrusted.ErrNotRegular) {
				t.Errorf("%s in place of %s: %v", what, name, err)
			}
		}
	}
}
