package container

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// WriteAtomic creates or replaces the file at path with the output of write. It writes a temporary file in the same
// folder, syncs and renames it, and syncs the folder. After a crash at any moment the file is completely the old one or
// completely the new one. If write fails, or ctx ends before the rename, it removes the temporary file and returns the
// error, or ctx.Err(). The temporary file of a process that was killed is removed by the next writer of the same file.
// If path is a symbolic link, its target is replaced, unless NoLinks says otherwise; hard links keep the old file.
// Errors name path, not the temporary file.
//
// The new file has the owner, group and permissions of the old one, on Linux also its POSIX ACL and its user.*
// attributes; if it cannot keep those, it returns an error and leaves the old file. Other systems do not keep ACLs and
// attributes. If there is no old file, the umask and NewMode decide. If this process may not set owner or group, it
// still writes the file, but with permissions that give no other user access that the old file did not give, and passes
// a warning wrapping filter.ErrOwner to WithWarnings. The new file never has wider permissions than the old one, not
// even for a moment.
func WriteAtomic(ctx context.Context, path string, write func(io.Writer) error) error {
	return writeAtomic(ctx, path, nil, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(write(b), b.Flush())
	})
}

// writeAtomic writes a file as WriteAtomic does, but without a buffer. It calls check before the rename, unless check
// is nil.
func writeAtomic(ctx context.Context, path string, check func() error, write func(io.Writer) error) (err error) {
	how := writingOf(ctx)
	target, mode := path, how.mode
	old, err := how.statOld(path)
	kept := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if old, err = os.Lstat(how.like); err == nil && old.Mode().IsRegular() {
			mode, kept = 0o600, how.like
		}
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	default:
		mode = 0o600
		if !how.noLinks {
			if target, err = filepath.EvalSymlinks(path); err != nil {
				return err
			}
		}
		kept = target
	}
	if !how.batch {
		removeAbandoned(target)
	}

	tmp, err := createTemp(target, mode)
	if err != nil {
		return named(path, err)
	}

	panicked := true // for example by a fault in a mapping that write reads
	defer func() {
		if err != nil || panicked {
			err = errors.Join(named(path, err), discard(tmp))
		}
	}()
	err = write(&ctxWriter{ctx, tmp})
	panicked = false
	if err != nil {
		return err
	}

	var warning error
	if kept != "" {
		if warning, err = keepOwner(tmp, kept, old); err != nil {
			return err
		}
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if !canLock { // such systems may not rename open files
		if err := tmp.Close(); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if check != nil {
		if err := check(); err != nil {
			return err
		}
	}

	err = Rename(tmp.Name(), target)
	if errors.Is(err, syscall.EBUSY) {
		return &fs.PathError{Op: "write", Path: path, Err: errMounted}
	}
	if err != nil {
		return err
	}

	_ = tmp.Close() // it is synced; only now, because that ends its lock
	if !how.batch {
		SyncFolder(filepath.Dir(target))
	}
	if warning != nil && how.warn != nil {
		how.warn(fmt.Errorf("%s: %w", path, warning))
	}
	return nil
}

// errMounted replaces EBUSY of a rename, such as for a single file that Docker or Kubernetes has mounted.
var errMounted = fmt.Errorf("%w: a file that is mounted alone cannot be replaced; mount its folder", syscall.EBUSY)

// named returns err with its path replaced by path.
func named(path string, err error) error {
	if c, ok := cause(err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: c}
	}
	return err
}

// cause returns err without the name of a file. ok is false if it has none.
func cause(err error) (c error, ok bool) {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err, true
	case errors.As(err, &l):
		return l.Err, true
	}
	return err, false
}

// Rename is os.Rename, which on Windows waits for up to 2 s while a reader has the file at to open.
func Rename(from, to string) error {
	return untrusted.WhileBusy(func() error { return os.Rename(from, to) })
}

// diskFull is ERROR_DISK_FULL of Windows.
const diskFull = syscall.Errno(112)

// DiskFull reports whether a disk, or this user's part of it, was full.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && errors.Is(err, diskFull)
}

// SyncFolder makes renames in a folder durable. Some systems cannot sync a folder. Without the sync the files are still
// complete.
func SyncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *ctxWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}
