package window

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Save creates or replaces a file atomically: after a crash at any moment the path names the complete old file or the
// complete new one. If ctx ends first, the file is unchanged.
//
// The file contains the state of the filter at its latest time, with all keys whose Add or TestAndAdd returned before
// Save began. Other goroutines may use the filter meanwhile; the file contains some of the keys that they add. The file
// does not contain the secret. Save locks eight buckets at a time. It makes a copy as large as the filter; a filter of
// 8 MiB or more keeps the memory of the copy for the next Save, WriteTo or MarshalBinary. If several of these run at
// the same time, each makes its own copy.
func (f *Filter[K]) Save(ctx context.Context, path string) error {
	return f.ring.saveTo(func(file *container.File) error { return container.WriteFile(ctx, path, file) })
}

// Lock takes the lock of a file for one process that opens and saves it, until unlock is called. The file need not
// exist. The lock is a file beside it with the suffix ".lock", which stays; "bloomery dedup --state" takes the same lock.
// While another process has the lock, or another call in this one, Lock waits until ctx ends, and tries at least once.
// The error is then ctx.Err(). Other errors name a path that cannot be replaced as one file, such as a folder.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	path, err = container.Resolve(path)
	if err != nil {
		return nil, err
	}

	f, _, err := container.LockFile(ctx, path+container.LockSuffix, nil, nil)
	if err != nil {
		return nil, err
	}
	return func() { _ = container.Unlock(f) }, nil // a close releases the lock even if it fails
}

// WriteTo writes the filter in the format of Save.
func (f *Filter[K]) WriteTo(w io.Writer) (int64, error) {
	c := container.Counter{To: w}
	err := f.ring.saveTo(func(file *container.File) error { return container.Write(&c, file) })
	return c.N, err
}

// MarshalBinary returns the filter in the format of Save, which Read reads.
func (f *Filter[K]) MarshalBinary() ([]byte, error) {
	var b []byte
	err := f.ring.saveTo(func(file *container.File) (err error) {
		b, err = container.Marshal(file)
		return err
	})
	return b, err
}

// Open returns the filter in a file that Save wrote. No key expires early: the keys have aged by the time since the
// file was saved. If the clock is behind the time of the file, the filter's time stands still until the clock reaches
// the time of the file, and keys live longer by this difference. The difference may be at most TTL, or a minute if that
// is more. If the clock is further behind, the clock is wrong, or was wrong when the file was saved, and the error
// wraps ErrAhead.
//
// Config is as for New. If Keys, TTL, FPR or Burst is 0, Open uses the value in the file; otherwise the two must be
// equal. EventTime must be as in the file, and Secret the secret with which the file was made; a Filter whose keys are
// a filter.Hash needs no secret. The file contains neither Clock nor Overflow nor Refresh; they come from the Config.
//
// Peak memory: the filter and 1 MiB. If ctx ends first, Open returns its cause. Other errors name the path and wrap the
// error of the file system, ErrAhead, filter.ErrConfig, ErrMagic, ErrVersion, ErrHash, ErrSecret (ErrNoSecret if none
// was given), ErrChecksum, ErrCorrupt, ErrTooLarge or io.ErrUnexpectedEOF; if the file is at fault, with the byte
// offset.
func Open[K filter.Key](ctx context.Context, path string, c Config) (*Filter[K], error) {
	file, err := container.ReadFile(path, container.Options{Check: checkFile, Context: ctx, Window: true})
	if err != nil {
		return nil, err
	}
	f, err := restore[K](file, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Read is Open for a reader, and stops at the end of the filter. Peak memory if the size of r is not known: 3x the
// received bytes, and 8 MiB for each of four sections, even if the header announces more.
func Read[K filter.Key](r io.Reader, c Config) (*Filter[K], error) {
	file, err := container.Read(r, container.Options{Check: checkFile, Window: true})
	if err != nil {
		return nil, err
	}
	return restore[K](file, c)
}

func restore[K filter.Key](file *container.File, c Config) (*Filter[K], error) {
	r, err := c.restore(file, reflect.TypeFor[K]() == reflect.TypeFor[filter.Hash]())
	if err != nil {
		return nil, err
	}
	return &Filter[K]{r}, nil
}
