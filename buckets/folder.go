package buckets

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/bloomery/bloomery/distribute"
)

// Folder returns the Store of a folder: distribute.Dir, with its Lock and Rename. It is not gocloud.dev/blob/fileblob,
// whose listing leaves out folders that it may not read, which would lose keys in silence, whose files are not synced,
// and which takes no names that end with .attrs.
func Folder(path string) Store { return folder{distribute.Dir(path)} }

type folder struct{ distribute.Store }

// locker and renamer are what the Store of a folder can do, too.
type locker interface {
	Lock(ctx context.Context) (unlock func() error, err error)
}

type renamer interface {
	Rename(ctx context.Context, from, to []string) error
}

// lockWithin locks a folder, and waits at most that long for another process. ok is false if that still has the lock.
func lockWithin(ctx context.Context, f locker, wait time.Duration) (unlock func() error, ok bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	unlock, err = f.Lock(waiting)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		return nil, false, nil
	}
	return unlock, err == nil, err
}

// OpenVersion opens the file first and looks at its version then: if the path has the version afterwards, so has the
// open file, unless the same version was put back.
func (f folder) OpenVersion(ctx context.Context, name, version string, offset, length int64) (io.ReadCloser, error) {
	return OpenChecked(ctx, f.Store, name, version, offset, length)
}

func (folder) Close() error { return nil }

func (f folder) Lock(ctx context.Context) (unlock func() error, err error) {
	return f.Store.(locker).Lock(ctx)
}

func (f folder) Rename(ctx context.Context, from, to []string) error {
	return f.Store.(renamer).Rename(ctx, from, to)
}

// OpenChecked is OpenVersion for a Store that can only open the newest version. It costs one more Stat.
func OpenChecked(
	ctx context.Context, s distribute.Store, name, version string, offset, length int64,
) (io.ReadCloser, error) {
	r, err := s.Open(ctx, name, offset, length)
	if err != nil || version == "" {
		return r, err
	}
	o, err := s.Stat(ctx, name)
	if err == nil && o.Version != version {
		err = fmt.Errorf("%s: %w", name, ErrReplaced)
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}
