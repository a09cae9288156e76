//go:build unix

package container

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// TestLockFile checks that anything except a regular file is refused at once, and that no file is created through a
// link.
func TestLockFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	for name, create := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":   func(path string) error { return os.Symlink(target, path) },
	} {
		path := filepath.Join(dir, name)
		if err := create(path); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if _, _, err := LockFile(ctx, path, nil, nil); !errors.Is(err, untrusted.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target of the link: %v", err)
	}
}

// TestLockFileMode checks that only users who may write to the folder may open the lock file.
func TestLockFileMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for folder, want := range map[fs.FileMode]fs.FileMode{
		0o755: 0o600, 0o775: 0o640, 0o777: 0o644, 0o777 | fs.ModeSticky: 0o600,
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, folder); err != nil {
			t.Fatal(err)
		}
		f, st, err := LockFile(t.Context(), filepath.Join(dir, "a.lock"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != want {
			t.Errorf("in a folder %v: %v, want %v", folder, st.Mode(), want)
		}
		_ = Unlock(f)
	}
}

// TestLockFileAccess checks that a lock file loses the permissions of other users, unless it has a second hard link,
// which may be an attack. If root creates the lock file, the owner of the folder must own it.
func TestLockFileAccess(t *testing.T) {
	for _, linked := range []bool{false, true} {
		dir := t.TempDir()
		path, want := filepath.Join(dir, "a.lock"), fs.FileMode(0o600)
		err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o644))
		if linked {
			want = 0o644
			err = errors.Join(err, os.Link(path, filepath.Join(dir, "other")))
		}
		if err != nil {
			t.Fatal(err)
		}

		f, _, err := LockFile(t.Context(), path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("linked %t: %v, %v, want %v", linked, st.Mode(), err, want)
		}
		_ = Unlock(f)
	}

	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: only root makes files in folders of others")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Skip(err)
	}
	f, _, err := LockFile(t.Context(), filepath.Join(dir, "a.lock"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer Unlock(f)
	if st, err := f.Stat(); err != nil || st.Sys().(*syscall.Stat_t).Uid != 12345 {
		t.Errorf("the lock file does not belong to the owner of the folder: %v", err)
	}
}

// TestLockFileOfOthers checks that a lock file of another user in a sticky folder is refused: that user could hold the
// lock forever.
func TestLockFileOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: only root can make a file of another owner")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.lock")
	if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Chown(path, 12345, 12345)); err != nil {
		t.Skip(err)
	}
	f, _, err := LockFile(t.Context(), path, nil, nil) // the folder is ours, so we could remove the file
	if err != nil {
		t.Fatal(err)
	}
	_ = Unlock(f)
	if err := os.Chmod(dir, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LockFile(t.Context(), path, nil, nil); err == nil {
		t.Error("the lock file of another user was used")
	}
}

// TestLockFileRemoved checks that a process that waits while the lock file is removed locks the new one.
func TestLockFileRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	first, _, err := LockFile(t.Context(), path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, elsewhere := tryLock(first); elsewhere {
		t.Fatal("not locked")
	}
	second, was, err := LockFile(t.Context(), path, nil, func() {
		if err := errors.Join(os.Remove(path), Unlock(first)); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer Unlock(second)
	if now, err := os.Stat(path); err != nil || !os.SameFile(was, now) {
		t.Errorf("the lock belongs to another file: %v", err)
	}
}

// TestResolve checks that Resolve returns the same path for all names of a file, even before the file exists, and
// refuses pipes, dangling links, and files with several hard links.
func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	err = errors.Join(os.Mkdir(in("folder"), 0o700), os.Symlink("folder", in("linked")),
		os.WriteFile(in("folder/file"), nil, 0o600), os.Symlink("folder/file", in("link")),
		os.WriteFile(in("one"), nil, 0o600), os.Link(in("one"), in("two")), os.Symlink("one", in("three")),
		os.Symlink("missing", in("dangling")), os.Symlink("self", in("self")), syscall.Mkfifo(in("pipe"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"folder/file": "folder/file", "linked/file": "folder/file", "link": "folder/file", "linked/../link": "folder/file",
		"linked/missing": "folder/missing", "missing": "missing",
		"one": "", "two": "", "three": "", "dangling": "", "self": "", "pipe": "", "folder": "", "none/file": "",
	} {
		got, err := Resolve(dir + "/" + name)
		if err == nil && got != in(want) || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestLockPipe checks that a pipe is refused at once, and that a folder can be locked.
func TestLockPipe(t *testing.T) {
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
