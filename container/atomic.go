package container

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteAtomic creates or replaces the file at path with the output of write. It writes a temporary file in the same
// folder, syncs and renames it, and syncs the folder. After a crash at any moment the file is completely the old one or
// completely the new one. If write fails, or ctx ends before the rename, it removes the temporary file and returns the
// error, or ctx.Err(). If path is a symbolic link, its target is replaced. The new file has the permissions of the old
// one; without an old one the umask decides. Errors name path, not the temporary file.
func WriteAtomic(ctx context.Context, path string, write func(io.Writer) error) error {
	return writeAtomic(ctx, path, nil, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(write(b), b.Flush())
	})
}

// writeAtomic is WriteAtomic without a buffer, and with a last check before the rename, unless it is nil.
func writeAtomic(ctx context.Context, path string, check func() error, write func(io.Writer) error) (err error) {
	target, mode := path, fs.FileMode(0o666)
	old, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	default:
		mode = 0o600
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	name := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.tmp-%016x", filepath.Base(target), rand.Uint64()))
	tmp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return named(path, err)
	}
	panicked := true // for example by a fault in a mapping that write reads
	defer func() {
		if err != nil || panicked {
			err = errors.Join(named(path, err), ignoreClosed(tmp.Close()), os.Remove(name))
		}
	}()
	err = write(&ctxWriter{ctx, tmp})
	panicked = false
	if err != nil {
		return err
	}
	if old != nil {
		if err := tmp.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if check != nil {
		if err := check(); err != nil {
			return err
		}
	}
	if err := os.Rename(name, target); err != nil {
		return err
	}
	syncDir(filepath.Dir(target))
	return nil
}

// named returns err with its path replaced by path.
func named(path string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return &fs.PathError{Op: "write", Path: path, Err: p.Err}
	case errors.As(err, &l):
		return &fs.PathError{Op: "write", Path: path, Err: l.Err}
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// syncDir makes the rename durable. Not every system can sync a folder. Without the sync the file is still complete.
func syncDir(dir string) {
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
