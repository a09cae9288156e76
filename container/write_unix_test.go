//go:build unix

package container

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPermissions has the umask decide about a new file, and an old one keep what it has.
func TestPermissions(t *testing.T) {
	s := samples(t)[0]
	path := filepath.Join(t.TempDir(), "f.bloom")
	for _, c := range []struct {
		umask     int
		old, want fs.FileMode
	}{{0o077, 0, 0o600}, {0o022, 0, 0o644}, {0o002, 0, 0o664}, {0o077, 0o644, 0o644}, {0o022, 0o600, 0o600}} {
		_ = os.Remove(path)
		if c.old != 0 {
			if err := os.WriteFile(path, nil, c.old); err != nil {
				t.Fatal(err)
			}
		}
		before := syscall.Umask(c.umask)
		err := WriteFile(t.Context(), path, s.filter, s.hasher)
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != c.want {
			t.Errorf("umask %o, before %v: %v, %v; want %v", c.umask, c.old, st.Mode(), err, c.want)
		}
	}
}

func TestWriteFileNamesThePath(t *testing.T) {
	s := samples(t)[0]
	path := filepath.Join(t.TempDir(), "none", "f.bloom")
	if err := WriteFile(t.Context(), path, s.filter, s.hasher); err == nil || err.Error() != "write "+path+": no such file or directory" {
		t.Errorf("%v", err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	path = filepath.Join(t.TempDir(), "f.bloom")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: limit.Max}); err != nil {
		t.Skip(err)
	}
	err := WriteFile(t.Context(), path, s.filter, s.hasher)
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); e != nil {
		t.Fatal(e)
	}
	if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "tmp-") {
		t.Errorf("%v", err)
	}
}
