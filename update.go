package bloomery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Locked is the Set of a file that is locked for a change. The lock is advisory: it holds off others that call Lock, and on
// Windows, js and wasip1 nobody. Replace notices every other change of the file.
type Locked struct {
	*Set
	path string
	file *os.File
	was  fs.FileInfo
}

// Lock locks a filter file, to change it, and reads it into memory. It waits while another process holds the lock, and tells
// waiting so first, if that is not nil. Close it when done. Errors are those of Open; when ctx ends, ctx.Err().
//
//	l, err := bloomery.Lock(ctx, path, nil)
//	if err != nil { ... }
//	defer l.Close()
//	err = l.AddString("a new key")
//	if err != nil { ... }
//	err = l.Replace(ctx)
func Lock(ctx context.Context, path string, waiting func(), o ...Option) (*Locked, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	opts := optionsOf(0, o)
	opts.inMemory = true
	for first := true; ; first = false {
		file, was, err := tryLock(path)
		if err != nil {
			return nil, err
		}
		if file != nil {
			set, err := openFile(path, opts)
			if err != nil {
				_ = file.Close()
				return nil, err
			}
			return &Locked{Set: set, path: path, file: file, was: was}, nil
		}
		if first && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tryLock returns no file if another process has the lock, or has just replaced the file.
func tryLock(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	was, err := f.Stat()
	if err == nil && lockedElsewhere(f) {
		_ = f.Close()
		return nil, nil, nil
	}
	if err == nil {
		now, err := os.Stat(path)
		if err == nil && os.SameFile(was, now) {
			return f, was, nil
		}
	}
	_ = f.Close()
	return nil, nil, err
}

// Replace writes the set over its file, all or nothing. If the file was replaced or written to by somebody who did not take the
// lock, it is left as it is and the error wraps container.ErrChanged. It may be called once.
func (l *Locked) Replace(ctx context.Context) error { return l.Set.Replace(ctx, l.path, l.was) }

// ReplaceWith is Replace with another set, such as the result of an Optimizer.
func (l *Locked) ReplaceWith(ctx context.Context, s *Set) error { return s.Replace(ctx, l.path, l.was) }

// Close gives the lock back. The Set may be used further.
func (l *Locked) Close() error {
	if err := l.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
