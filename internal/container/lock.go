package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// Advisory locks of files and folders that are about to be changed. Lock locks the file itself, not its name. LockFile
// locks a separate lock file beside the file that Resolve names. All waits end with their context.

// lockInterval is the time between two attempts to take a lock.
const lockInterval = 50 * time.Millisecond

// Lock takes the lock of a file or folder, until Unlock. While another open file has it, Lock waits; before that it
// calls waiting, if not nil. It returns ctx.Err() when ctx ends, after at least one attempt. The FileInfo describes the
// locked file. For a path that is neither a regular file nor a folder, such as a pipe, the error wraps
// untrusted.ErrNotRegular: Lock never waits to open it. On systems and file systems without locks it takes none.
//
// The holder may replace the file once, at the end: processes that wait then lock the new one. Use LockFile for files
// that are replaced more often or need not exist. Windows cannot replace an open file, so there Lock locks a file
// beside it.
func Lock(ctx context.Context, path string, waiting func()) (*os.File, fs.FileInfo, error) {
	if runtime.GOOS != "windows" {
		open := func() (*os.File, fs.FileInfo, error) { return untrusted.OpenAny(path, os.O_RDONLY, 0) }
		return waitForLock(ctx, path, open, waiting)
	}

	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}

	f, _, err := LockFile(ctx, path+LockSuffix, nil, waiting)
	if err != nil {
		return nil, nil, err
	}

	// os.Stat would be wrong: on Windows its FileInfo looks up the id of the file later, perhaps of another file.
	file, was, err := untrusted.OpenAny(path, os.O_RDONLY, 0)
	if err != nil {
		_ = Unlock(f)
		return nil, nil, err
	}
	return f, was, file.Close()
}

// LockSuffix follows the resolved path of a file in the name of its lock file.
const LockSuffix = ".lock"

// LockFile is Lock for a lock file, which it creates if needed. It is for files that need not exist, or are replaced
// several times while they are locked. Links, folders, pipes and devices are errors at once. Only users who may write
// to the folder may open the lock file. trusts returns an error if the lock file must not be used. If trusts is nil, a
// lock file of another user in a sticky folder is an error, since this user could not remove it.
func LockFile(
	ctx context.Context, path string, trusts func(fs.FileInfo) error, waiting func(),
) (*os.File, fs.FileInfo, error) {
	return waitForLock(ctx, path, func() (*os.File, fs.FileInfo, error) { return openLockFile(path, trusts) }, waiting)
}

func openLockFile(path string, trusts func(fs.FileInfo) error) (*os.File, fs.FileInfo, error) {
	if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: %w, as a lock file must be; remove it", path, untrusted.ErrNotRegular)
	}

	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}

	perm := fs.FileMode(0o600)
	sticky := folder.Mode()&fs.ModeSticky != 0
	if !sticky {
		perm |= folder.Mode().Perm() & 0o022 << 1 // a user who can open a file can lock it
	}

	f, st, err := untrusted.OpenFile(path, os.O_RDONLY|os.O_CREATE|untrusted.NoFollow, perm)
	if err != nil {
		return nil, nil, err
	}

	// A file with several hard links may be another user's trap: a link to a file that we would change.
	if linkCount(st) == 1 && !stranger(st) {
		if trusts == nil && !sticky && os.Geteuid() == 0 && st.Size() == 0 {
			_ = giveTo(f, folder) // the owner of the folder could not open a lock file of root
		}
		if st.Mode().Perm()&^perm != 0 {
			_ = f.Chmod(perm) // users who cannot write here must not hold the lock
		}
	}

	switch {
	case trusts != nil:
		err = trusts(st)
	case sticky && stranger(st):
		err = fmt.Errorf("%s belongs to another user, who could hold the lock for any time; use another folder", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// Resolve returns the path of a file with all its links resolved, so that a file has one path and one lock. The file
// need not exist. It returns an error for a file that cannot be replaced as one file: a link to a missing file, a file
// with several hard links, of which the others would not change, and anything that is not a regular file.
func Resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if st, err := os.Lstat(path); err == nil && st.Mode()&fs.ModeSymlink != 0 { // else it was just created
			return "", fmt.Errorf("%s is a link to a missing file; remove it, or name that file", path)
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		return filepath.Join(folder, filepath.Base(path)), err
	}
	if err != nil {
		return "", err
	}

	st, err := os.Lstat(real)
	switch {
	case err != nil:
	case st.IsDir():
		err = fmt.Errorf("%s is a folder; name a file", path)
	case !st.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: path, Err: untrusted.ErrNotRegular}
	case linkCount(st) > 1:
		err = fmt.Errorf("%s has %d names, which are hard links; remove the others, or replace it by a copy", path,
			linkCount(st))
	}
	return real, err
}

// waitForLock waits for the lock of the file that open opens at a path.
func waitForLock(
	ctx context.Context, path string, open func() (*os.File, fs.FileInfo, error), waiting func(),
) (*os.File, fs.FileInfo, error) {
	for {
		f, was, err := open()
		if err != nil {
			return nil, nil, err
		}
		_, elsewhere := tryLock(f)
		now, err := os.Stat(path)
		if !elsewhere && err == nil && os.SameFile(was, now) { // else the path has just been given to another file
			return f, was, nil
		}
		_ = f.Close()
		if err := ignore(err, fs.ErrNotExist); err != nil { // open creates the file again, or says that it is missing
			return nil, nil, err
		}

		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(lockInterval):
		}
	}
}

// Unlock closes a file of Lock or LockFile. On Windows it also removes the lock file, unless others wait for it:
// Windows does not remove a file that is open.
func Unlock(f *os.File) error {
	err := ignore(f.Close(), os.ErrClosed)
	if runtime.GOOS == "windows" {
		_ = os.Remove(f.Name())
	}
	return err
}
