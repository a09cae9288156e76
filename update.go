package bloomery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Locked is the Set of a file that is locked for a change. The lock is advisory: it only blocks other calls of Lock,
// and on Windows, js and wasip1 it blocks nothing. Replace detects every other change of the file.
type Locked struct {
	*Set
	path string
	file *os.File
	was  fs.FileInfo
}

// Lock locks a filter file for a change and reads it into memory. It waits while another process holds the lock; before
// that it calls waiting, if not nil. Close it when done. Errors are those of Open, and ctx.Err() when ctx ends.
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

// Replace replaces the file by the set, atomically. If a process without the lock has replaced or written to the file,
// Replace leaves it unchanged and returns an error wrapping container.ErrChanged. Call it at most once.
func (l *Locked) Replace(ctx context.Context) error { return l.Set.Replace(ctx, l.path, l.was) }

// ReplaceWith is Replace with another set, such as the result of an Optimizer.
func (l *Locked) ReplaceWith(ctx context.Context, s *Set) error { return s.Replace(ctx, l.path, l.was) }

// Close releases the lock. The Set remains usable.
func (l *Locked) Close() error {
	if err := l.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
