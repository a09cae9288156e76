// Package flock takes the advisory locks of files and folders that are about to be changed.
package flock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/bloomery/bloomery/internal/untrusted"
)

// interval is the time between two attempts to take a lock.
const interval = 50 * time.Millisecond

// Lock takes the lock of a file or folder, until Unlock. While another open file has it, Lock waits; before that it
// calls waiting, if not nil. It returns ctx.Err() when ctx ends, after at least one attempt. The FileInfo is that of
// the locked file. What is neither a regular file nor a folder, such as a pipe, is an error wrapping
// untrusted.ErrNotRegular: Lock never waits to open it. On systems and file systems without locks it takes none.
func Lock(ctx context.Context, path string, waiting func()) (*os.File, fs.FileInfo, error) {
	for {
		f, was, err := try(path)
		if f != nil || err != nil {
			return f, was, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(interval):
		}
	}
}

// Unlock closes a file of Lock.
func Unlock(f *os.File) error {
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// try returns no file if another one has the lock, or if the path has just been given to another file.
func try(path string) (*os.File, fs.FileInfo, error) {
	f, was, err := untrusted.OpenAny(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	if !Supported {
		_ = f.Close() // Windows cannot replace an open file
	}
	if _, elsewhere := Try(f); elsewhere {
		_ = f.Close()
		return nil, nil, nil
	}
	now, err := os.Stat(path)
	if err == nil && os.SameFile(was, now) {
		return f, was, nil
	}
	_ = f.Close()
	return nil, nil, err
}
