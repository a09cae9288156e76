package container

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Write writes a filter and its hasher to w. Filters that are no filter.Encoder, such as a filter.Concurrent, fail with an
// error wrapping filter.ErrUnsupported; a hash that the family does not take with one wrapping filter.ErrMismatch.
func Write(w io.Writer, f filter.Filter, hasher filter.Hasher) error {
	enc, ok := f.(filter.Encoder)
	if !ok {
		return fmt.Errorf("%T cannot be stored: %w", f, filter.ErrUnsupported)
	}
	e := enc.Encode()
	family, err := families.ByName(e.Spec.Family())
	if err != nil {
		return err
	}
	if !family.TakesHash(e.Spec, hasher.ID()) {
		return fmt.Errorf("%s with hash %s: %w", e.Spec, hasher.ID(), filter.ErrMismatch)
	}
	var words []uint64
	for _, s := range e.Sections {
		words = append(words, uint64(len(s)))
	}
	h := &header{family: family, hash: hasher.ID(), seed: hasher.Seed(), keyCheck: hasher.KeyCheck(), keys: e.Keys, spec: e.Spec}
	h.sections, h.dataAt, h.length, err = layout(len(e.Spec.String()), words)
	if err != nil {
		return err
	}
	for i, s := range e.Sections {
		if err := chunks(s, func(b []byte) error {
			h.sections[i].crc = crc32.Update(h.sections[i].crc, castagnoli, b)
			return nil
		}); err != nil {
			return err
		}
	}
	if _, err := w.Write(h.marshal()); err != nil {
		return err
	}
	at := h.dataAt
	for i, s := range e.Sections {
		if _, err := w.Write(make([]byte, h.sections[i].offset-at)); err != nil {
			return err
		}
		if err := chunks(s, func(b []byte) error { _, err := w.Write(b); return err }); err != nil {
			return err
		}
		at = h.sections[i].offset + h.sections[i].length
	}
	return nil
}

// chunks gives the words as bytes in file order, a megabyte at a time.
func chunks(words []uint64, give func([]byte) error) error {
	const size = 1 << 17
	for len(words) > 0 {
		part := words[:min(size, len(words))]
		words = words[len(part):]
		if !bitvec.LittleEndian {
			part = slices.Clone(part)
			bitvec.FixOrder(part)
		}
		if err := give(bitvec.Bytes(part)); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes a filter to a file, or replaces the file, so that a crash at any moment leaves the old file or the
// new one whole: it writes a temporary file beside it, syncs that, renames it and syncs the folder. It stops when ctx
// is done and then removes the temporary file. The new file has the permissions of the old one, else those that
// the umask leaves. Errors name path, not the temporary file.
func WriteFile(ctx context.Context, path string, f filter.Filter, hasher filter.Hasher) error {
	return writeFile(ctx, path, f, hasher, nil)
}

// ReplaceFile is WriteFile over a file that was read before, when was described it. It fails with an error wrapping
// ErrChanged, and leaves the file, if that has been replaced or written to since: what was put into it would be lost.
func ReplaceFile(ctx context.Context, path string, f filter.Filter, hasher filter.Hasher, was fs.FileInfo) error {
	return writeFile(ctx, path, f, hasher, func() error {
		now, err := os.Stat(path)
		if err == nil && !(os.SameFile(was, now) && now.Size() == was.Size() && now.ModTime().Equal(was.ModTime())) {
			err = fmt.Errorf("%s: %w", path, ErrChanged)
		}
		return err
	})
}

// writeFile is WriteFile with a last check, if not nil, before the rename.
func writeFile(ctx context.Context, path string, f filter.Filter, hasher filter.Hasher, check func() error) (err error) {
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
	defer func() {
		if err != nil {
			err = errors.Join(named(path, err), ignoreClosed(tmp.Close()), os.Remove(name))
		}
	}()
	if err := Write(&ctxWriter{ctx, tmp}, f, hasher); err != nil {
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

// named makes an error about a file of another name one about path.
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

// syncDir makes the rename last. Not every system lets a folder be synced; the file itself is safe either way.
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
