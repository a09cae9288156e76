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

// TestPermissions checks that the umask determines the permissions of a new file, and that an old file keeps its
// permissions.
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

// TestFullDisk writes with a file size limit of ten bytes. It runs in a separate process, because the limit would also
// affect the log of the test.
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

// TestNoLinks replaces a link, with and without NoLinks. The target must change only without NoLinks.
func TestNoLinks(t *testing.T) {
	for _, missing := range []bool{false, true} {
		dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "target")
		path := filepath.Join(dir, "link")
		if !missing {
			if err := os.WriteFile(elsewhere, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, path); err != nil {
			t.Fatal(err)
		}
		if err := WriteAtomic(NoLinks(t.Context()), path, half("new", nil)); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(elsewhere); missing != errors.Is(err, os.ErrNotExist) || !missing &&
			string(text) != "old" {
			t.Errorf("the target has %q, %v", text, err)
		}
		if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() || st.Size() != 3 {
			t.Errorf("%v, %v", st, err)
		}
		if names := entries(t, dir); len(names) != 1 {
			t.Errorf("%q is left", names)
		}
	}
	if err := WriteAtomic(NoLinks(t.Context()), t.TempDir(), half("new", nil)); err == nil {
		t.Error("a folder was replaced")
	}
}

// TestMapPipe maps a named pipe whose writer closes it at once. Map must open the pipe only once, because at a second
// time the writer and the bytes would be gone.
func TestMapPipe(t *testing.T) {
	s := samples(t)[0]
	for range 200 {
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		go func() {
			w, err := os.OpenFile(path, os.O_WRONLY, 0) // returns when Map opens it
			if err == nil {
				_, err = w.Write(s.file)
				err = errors.Join(err, w.Close(), os.Remove(path)) // a second Open fails instead of waiting
			}
			written <- err
		}()
		f, m, err := Map(path, Options{})
		if err := errors.Join(err, <-written); err != nil || f.Bytes != uint64(len(s.file)) || m != nil {
			t.Fatalf("%v, %v", f, err)
		}
	}
}
