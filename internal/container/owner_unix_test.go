//go:build unix

package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// owner returns the owner, group and permissions of a file.
func owner(t *testing.T, path string) (uid, gid uint32, mode fs.FileMode) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Sys().(*syscall.Stat_t)
	return s.Uid, s.Gid, st.Mode().Perm()
}

// TestOwner replaces a file of another owner and group as root, and checks that both are kept without a warning.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another owner")
	}
	path := filepath.Join(t.TempDir(), "f")
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o466} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 12345, 23456), os.Chmod(path, mode)); err != nil {
			t.Skip("this root may not change owners:", err)
		}
		ctx := WithWarnings(t.Context(), func(err error) { t.Errorf("warned: %v", err) })
		if err := WriteAtomic(ctx, path, half("new", nil)); err != nil {
			t.Fatal(err)
		}
		if uid, gid, got := owner(t, path); uid != 12345 || gid != 23456 || got != mode {
			t.Errorf("%d:%d, %v, want 12345:23456, %v", uid, gid, got, mode)
		}
	}
}

// ownerEnv makes a process started by TestOwnerLost drop its privileges and replace the file f of its folder.
const ownerEnv = "BLOOMERY_TEST_OWNER"

// TestOwnerLost replaces a file as another user, and checks that no additional user can read the file and that there is
// a warning.
func TestOwnerLost(t *testing.T) {
	if os.Getenv(ownerEnv) != "" {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(34567), syscall.Setuid(34567)); err != nil {
			fmt.Print("skip: ", err)
			os.Exit(0)
		}
		ctx := WithWarnings(context.Background(), func(err error) { fmt.Println(errors.Is(err, filter.ErrOwner), err) })
		fmt.Print(WriteAtomic(ctx, "f", half("new", nil)))
		os.Exit(0)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another owner")
	}
	for mode, want := range map[fs.FileMode]fs.FileMode{0o640: 0o600, 0o644: 0o644, 0o660: 0o600, 0o664: 0o644, 0o604: 0o600, 0o600: 0o600} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(path, nil, 0o600), os.Chown(path, 12345, 23456), os.Chmod(path, mode))
		if err != nil {
			t.Skip("this root may not change owners:", err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestOwnerLost$")
		cmd.Env, cmd.Dir = append(os.Environ(), ownerEnv+"=1"), dir
		out, err := cmd.CombinedOutput()
		skipEmulated(t, err)
		said := string(out)
		if strings.HasPrefix(said, "skip") {
			t.Skip(said)
		}
		if err != nil || !strings.HasPrefix(said, "true f: ") || !strings.Contains(said, "12345:23456") || !strings.HasSuffix(said, "\n<nil>") {
			t.Errorf("%v, %s", err, said)
		}
		if uid, gid, got := owner(t, path); uid != 34567 || gid != 34567 || got != want {
			t.Errorf("%d:%d, %v, want 34567:34567, %v", uid, gid, got, want)
		}
	}
}
