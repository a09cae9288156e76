package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Object is distribute.Object: both are aliases of one unnamed type, so that a distribute.Store is a Store.
type Object = struct {
	Name string `json:"name"` // slash-separated
	Size int64  `json:"size"` // bytes
	// Version identifies the contents and changes when they change. It is, for example, a generation, an ETag or a
	// modification time. It may be empty.
	Version string `json:"version,omitempty"`
}

// Source reads objects: a folder, or a bucket. Its methods are safe for concurrent use. Errors about objects that do
// not exist wrap fs.ErrNotExist.
type Source interface {
	// Open reads length bytes of an object from an offset on, or to its end if length is negative. A Read fails soon
	// after ctx is done.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// Stat describes an object.
	Stat(ctx context.Context, name string) (Object, error)
	// List yields all objects whose names begin with prefix, in any order. It stops after an error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
}

// Store is a Source that takes objects: a distribute.Store.
type Store interface {
	Source
	// Write creates or replaces an object with the output of write. The object appears completely or not at all: if
	// write fails, or ctx ends before Write returns nil, readers see the previous content.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	// Remove removes an object. A missing object is not an error.
	Remove(ctx context.Context, name string) error
}

// Locker is a Store that can be locked: no other Locker of the same output, and nothing else that replaces or changes a
// set there, has the lock at the same time. Without a lock, Finish and a change of the set must not run at the same
// time.
type Locker interface {
	Store
	// Lock waits for the lock. It returns ctx.Err() when ctx ends.
	Lock(ctx context.Context) (unlock func() error, err error)
}

// Renamer is a Store that moves objects without copying them. Finish moves the shards with it. Without it, Finish
// copies them through this machine, unless the Store is Conditional.
type Renamer interface {
	Store
	// Rename moves object from[i] to the name to[i], for all i, and replaces existing objects. The new names are
	// durable when it returns. After an error, some objects may have moved.
	Rename(ctx context.Context, from, to []string) error
}

// Conditional is a Store that can write an object on condition that no other writer has changed it. Build then creates
// shards under their final names, which no other attempt can replace, and nothing is copied.
type Conditional interface {
	Store
	// WriteIf is Write if the object has this version, or with an empty version if it does not exist. Otherwise the
	// error wraps fs.ErrExist and nothing changes. The comparison and the write are one atomic step.
	WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error
}

// locked calls f while it holds the lock of out, if out is a Locker. If wait is not 0 and the lock is not free within
// that time, the error wraps filter.ErrLocked.
func locked(ctx context.Context, out Store, wait time.Duration, f func() error) error {
	l, ok := out.(Locker)
	if !ok {
		return f()
	}

	waiting := ctx
	if wait > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}

	unlock, err := l.Lock(waiting)
	if err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return filter.ErrLocked
		}
		return err
	}
	return errors.Join(f(), unlock())
}

// ErrChanged means that an input has changed since the plan was made.
var ErrChanged = errors.New("the input has changed since the plan was made; make a new plan")

// ErrMissing means that ranges or shards are not finished.
var ErrMissing = errors.New("not finished")

// readAll reads a small object of at most limit bytes.
func readAll(ctx context.Context, s Source, name string, limit int64) ([]byte, error) {
	r, err := s.Open(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: more than %d bytes", name, limit)
	}
	return b, err
}

// readPart reads a part of an object. It returns fewer bytes if the object ends.
func readPart(ctx context.Context, s Source, name string, offset, length int64) ([]byte, error) {
	r, err := s.Open(ctx, name, offset, length)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, length))
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
