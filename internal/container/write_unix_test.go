//go:build unix

package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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
			if err := errors.Join(os.WriteFile(path, nil, c.old), os.Chmod(path, c.old)); err != nil { // whatever the umask
				t.Fatal(err)
			}
		}
		before := syscall.Umask(c.umask)
		err := writeFilterFile(t.Context(), path, s.filter, s.hasher)
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
	if err := writeFilterFile(t.Context(), path, s.filter, s.hasher); err == nil || err.Error() != "write "+path+": no such file or directory" {
		t.Errorf("%v", err)
	}
}

// TestFullDisk writes where the system takes ten bytes a file, in a process of its own: the limit would hit the log of
// the test as well.
func TestFullDisk(t *testing.T) {
	const in = "BLOOMERY_TEST_FULL_DISK"
	if path := os.Getenv(in); path != "" {
		limit := syscall.Rlimit{Cur: 10, Max: 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Print("skip: ", err)
			os.Exit(0)
		}
		s := samples(t)[0]
		fmt.Print(writeFilterFile(t.Context(), path, s.filter, s.hasher))
		os.Exit(0)
	}
	path := filepath.Join(t.TempDir(), "f.bloom")
	c := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
	c.Env = append(os.Environ(), in+"="+path)
	out, err := c.Output()
	skipEmulated(t, err)
	if err != nil {
		t.Fatal(err)
	}
	if said := string(out); !strings.HasPrefix(said, "skip") && (!strings.Contains(said, path) || strings.Contains(said, "tmp-")) {
		t.Errorf("%s", said)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}
