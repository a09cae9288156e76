// Package cloud makes a buckets.Store from a bucket of gocloud.dev/blob. Packages buckets/s3 and buckets/gcs use it for
// their clouds. For other drivers, such as azureblob and memblob, call New with the zero Driver.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/distribute"
)

// cleanTime limits the time of the function that Driver.Started returns, because a canceled write must end soon.
const cleanTime = 3 * time.Second

// Driver adds support for the versions of objects in one kind of bucket, such as ETags and generations, to
// gocloud.dev/blob. Every field may be nil.
type Driver struct {
	// Listed returns the version of a listed object, Stat the version in its attributes, and Opened the version of an
	// open object. By default they are the MD5 or the time of modification and the size, the ETag, and none.
	Listed func(*blob.ListObject) string
	Stat   func(*blob.Attributes) string
	Opened func(*blob.Reader) string
	// Pin changes a request so that it reads this version or fails; see blob.ReaderOptions.BeforeRead. An empty version
	// means any version. By default a pinned read requests the attributes after it has opened the object.
	Pin func(version string, as func(any) bool) error
	// If changes a write so that it replaces this version or fails with gcerrors.FailedPrecondition; see
	// blob.WriterOptions.BeforeWrite. By default WriteIf requests the attributes before it writes, so that two writers
	// that replace a version at the same moment may both succeed. If two writers create an object, only one succeeds.
	If func(version string, as func(any) bool) error
	// Started is called before every write; see blob.WriterOptions.BeforeWrite. It returns a function that removes what
	// a failed write left behind, or nil. By default nothing is removed.
	Started func(as func(any) bool) (failed func(ctx context.Context, err error))
	// Lost reports whether the error of a write may be the answer to a repeated request: the first request made the
	// object, but its answer was lost. WriteIf then reads the object; if the object contains the written bytes, the
	// write has succeeded. By default no error is such an error.
	Lost func(error) bool
	// Page is the number of objects per request of a listing. Default: 1000.
	Page int
}

// New returns the Store of a bucket, with WriteIf of distribute.Store. Names begin after prefix, which is empty or
// ends with a slash. Close closes the bucket.
func New(b *blob.Bucket, prefix string, d Driver) buckets.Store {
	if d.Listed == nil || d.Stat == nil {
		d.Listed, d.Stat = listedTime, statTime
	}
	if d.Page == 0 {
		d.Page = 1000
	}
	return &store{b, prefix, d}
}

// Prefix returns the prefix for New from the path of a URL: the path without the first slash, with one slash at the
// end.
func Prefix(u *url.URL) string {
	p := strings.Trim(u.Path, "/")
	if p != "" {
		p += "/"
	}
	return p
}

func listedTime(o *blob.ListObject) string {
	return fmt.Sprintf("%x-%x", o.ModTime.UnixNano(), o.Size)
}

func statTime(a *blob.Attributes) string {
	return fmt.Sprintf("%x-%x", a.ModTime.UnixNano(), a.Size)
}

type store struct {
	bucket *blob.Bucket
	prefix string
	driver Driver
}

func (s *store) Close() error { return s.bucket.Close() }

// objectKey returns the name of an object in the bucket.
func (s *store) objectKey(op, name string) (string, error) {
	if !fs.ValidPath(name) || name == "." {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return s.prefix + name, nil
}

// nameError returns err with the operation and the name of the object. The result wraps fs.ErrNotExist,
// fs.ErrPermission or buckets.ErrReplaced if this is the answer of the service.
func nameError(op, name string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}

	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case gcerrors.PermissionDenied:
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case gcerrors.FailedPrecondition:
		err = fmt.Errorf("%w: %w", buckets.ErrReplaced, err)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (s *store) Stat(ctx context.Context, name string) (distribute.Object, error) {
	key, err := s.objectKey("stat", name)
	if err != nil {
		return distribute.Object{}, err
	}
	a, err := s.bucket.Attributes(ctx, key)
	if err != nil {
		return distribute.Object{}, nameError("stat", name, err)
	}
	return distribute.Object{Name: name, Size: a.Size, Version: s.driver.Stat(a)}, nil
}

func (s *store) List(ctx context.Context, prefix string) iter.Seq2[distribute.Object, error] {
	return func(yield func(distribute.Object, error) bool) {
		token := blob.FirstPageToken
		for len(token) > 0 {
			page, next, err := s.bucket.ListPage(ctx, token, s.driver.Page, &blob.ListOptions{Prefix: s.prefix + prefix})
			if err != nil {
				yield(distribute.Object{}, nameError("list", s.prefix+prefix, err))
				return
			}
			for _, o := range page {
				name, ok := strings.CutPrefix(o.Key, s.prefix)
				if !ok || !fs.ValidPath(name) || name == "." {
					continue // the mark of a folder, such as a/, which Open does not accept
				}
				if !yield(distribute.Object{Name: name, Size: o.Size, Version: s.driver.Listed(o)}, nil) {
					return
				}
			}
			token = next
		}
	}
}

func (s *store) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	return s.upload(ctx, name, &blob.WriterOptions{}, write)
}

// WriteIf is the optional method of distribute.Store.
func (s *store) WriteIf(ctx context.Context, name, version string, write func(io.Writer) error) error {
	o := &blob.WriterOptions{IfNotExist: version == ""}
	switch {
	case version == "":
	case s.driver.If != nil:
		o.BeforeWrite = func(as func(any) bool) error { return s.driver.If(version, as) }
	default:
		if now, err := s.Stat(ctx, name); err != nil || now.Version != version {
			return existsError("write", name, err)
		}
	}

	err := s.upload(ctx, name, o, write)
	if errors.Is(err, buckets.ErrReplaced) || version != "" && errors.Is(err, fs.ErrNotExist) {
		err = existsError("write", name, err)
	}
	return err
}

// existsError returns the error of WriteIf for an object with another version than expected.
func existsError(op, name string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, buckets.ErrReplaced) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	}
	return err
}

// upload writes an object. If write fails, upload cancels the request; otherwise Close would commit the bytes written
// so far.
func (s *store) upload(
	ctx context.Context, name string, o *blob.WriterOptions, write func(io.Writer) error,
) error {
	key, err := s.objectKey("write", name)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.ContentType = "application/octet-stream"
	var failed func(context.Context, error)
	if before := o.BeforeWrite; s.driver.Started != nil {
		o.BeforeWrite = func(as func(any) bool) error {
			failed = s.driver.Started(as)
			if before == nil {
				return nil
			}
			return before(as)
		}
	}

	w, err := s.bucket.NewWriter(ctx, key, o)
	if err != nil {
		return nameError("write", name, err)
	}

	end := func() error {
		err := w.Close()
		if err != nil && failed != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
			defer cancel()
			failed(ctx, err)
		}
		return err
	}

	done := false
	defer func() {
		if !done { // write failed, or panicked
			cancel()
			_ = end()
		}
	}()
	to, sent := io.Writer(w), new(written)
	if s.driver.Lost != nil {
		to = io.MultiWriter(w, sent)
	}
	if err := write(to); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // write may have ignored the end of ctx
		return context.Cause(ctx)
	}

	done = true
	err = end()
	if err != nil && s.driver.Lost != nil && s.driver.Lost(err) && s.hasContent(ctx, name, sent) {
		return nil
	}
	return nameError("write", name, err)
}

func (s *store) Remove(ctx context.Context, name string) error {
	key, err := s.objectKey("remove", name)
	if err != nil {
		return err
	}
	err = s.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return nameError("remove", name, err)
}
