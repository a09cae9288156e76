package bloomery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/flock"
	"github.com/bloomery/bloomery/internal/inset"
)

// Locked is the Set of a file that is locked for a change. The lock is advisory: it only blocks other calls of Lock,
// and on Windows, js and wasip1 it blocks nothing. Replace detects every other change of the file.
//
// For a sharded set the lock is that of its folder. Shards are loaded on first use. Changed ones stay in memory up to
// 1 GiB; then they are written to new files, which no one reads until Replace.
type Locked struct {
	*Set
	path   string
	file   *os.File // of a lock; nil for a sharded set, which has its own
	was    fs.FileInfo
	closed bool
}

// Lock locks a filter file, or the folder of a sharded set, for a change and reads it into memory. It waits while
// another process holds the lock; before that it calls waiting, if not nil. Close it when done. Errors are those of
// Open, and ctx.Err() when ctx ends; for one shard of a sharded set, which changes only with its folder, the error wraps
// filter.ErrConfig.
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
	opts := optionsOf(0, o)
	if dir, ok := ShardedDir(path); ok {
		t, was, err := shards.Lock(ctx, dir, waiting, opts.Options)
		s, err := made(t, err)
		if err != nil {
			return nil, err
		}
		return &Locked{Set: s, path: dir, was: was}, nil
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := inset.Check(path); err != nil {
		return nil, err
	}
	file, was, err := flock.Lock(ctx, path, waiting)
	if err != nil {
		return nil, err
	}
	opts.InMemory = true
	s, err := openFile(path, opts)
	if err != nil {
		_ = flock.Unlock(file)
		return nil, err
	}
	return &Locked{Set: s, path: path, file: file, was: was}, nil
}

var errUnlocked = errors.New("the lock was released by Close; Replace needs it")

// Replace replaces the file by the set, atomically. Of a sharded set it writes the changed shards to files of new
// names, then replaces the manifest, then removes the old files: after a crash the folder has the old set or the new
// one. If a process without the lock has replaced or written to the file, Replace leaves it unchanged and returns an
// error wrapping container.ErrChanged. Call it at most once, and before Close: after Close it returns an error.
func (l *Locked) Replace(ctx context.Context) error {
	if err := l.held(); err != nil {
		return err
	}
	return l.Set.Replace(ctx, l.path, l.was)
}

// held returns an error after Close.
func (l *Locked) held() error {
	if l.closed {
		return fmt.Errorf("%s: %w", l.path, errUnlocked)
	}
	return nil
}

// ReplaceWith is Replace with another set, such as the result of an Optimizer.
func (l *Locked) ReplaceWith(ctx context.Context, s *Set) error {
	if err := l.held(); err != nil {
		return err
	}
	return l.inner().Replace(ctx, l.path, l.was, s.inner())
}

// Close releases the lock. The Set remains usable, unless it is sharded. A second Close does nothing.
func (l *Locked) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	err := l.inner().Close()
	if l.file != nil {
		err = errors.Join(err, flock.Unlock(l.file))
	}
	return err
}
