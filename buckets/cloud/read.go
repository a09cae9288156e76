package cloud

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"gocloud.dev/blob"

	"github.com/bloomery/bloomery/buckets"
)

// The clients of the clouds repeat requests that fail before an answer begins. An answer that breaks off is an error of
// Read: the client of GCS resumes by itself, the client of S3 does not, so the reader below resumes if the Driver has
// Opened.
const (
	resumes   = 5                      // the largest number of attempts in a row that yield no byte
	firstWait = 100 * time.Millisecond // doubles with each such attempt
)

func (s *store) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	return s.OpenVersion(ctx, name, "", offset, length)
}

func (s *store) OpenVersion(
	ctx context.Context, name, version string, offset, length int64,
) (io.ReadCloser, error) {
	if version != "" && s.driver.Pin == nil {
		return buckets.OpenChecked(ctx, s, name, version, offset, length)
	}

	key, err := s.objectKey("open", name)
	if err != nil {
		return nil, err
	}

	r := &reader{store: s, ctx: ctx, name: name, key: key, version: version, at: offset, end: -1}
	if length >= 0 {
		r.end = offset + length
	}
	if err := r.openRest(); err != nil {
		if o, e := s.Stat(ctx, name); e == nil && offset >= o.Size && (version == "" || version == o.Version) {
			return io.NopCloser(strings.NewReader("")), nil // services refuse ranges after the end
		}
		return nil, err
	}
	if s.driver.Opened != nil && s.driver.Pin != nil {
		if r.version == "" {
			r.version = s.driver.Opened(r.from)
		}
		if r.end < 0 {
			r.end = r.from.Size()
		}
		r.resume = r.version != "" && r.from.Size() > 0
		r.end = min(r.end, max(r.from.Size(), offset))
	}
	return r, nil
}

// reader reads a part of an object and resumes after a broken connection, in the same version of the object.
type reader struct {
	store   *store
	ctx     context.Context
	name    string
	key     string
	version string
	at, end int64 // range of the rest; end -1: unknown
	resume  bool
	from    *blob.Reader
	failed  int // times in a row
}

func (r *reader) openRest() error {
	var o *blob.ReaderOptions
	if r.store.driver.Pin != nil {
		o = &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error { return r.store.driver.Pin(r.version, as) }}
	}

	length := int64(-1)
	if r.end >= 0 {
		length = r.end - r.at
	}

	from, err := r.store.bucket.NewRangeReader(r.ctx, r.key, r.at, length, o)
	if err != nil {
		return nameError("open", r.name, err)
	}
	r.from = from
	return nil
}

func (r *reader) Read(p []byte) (int, error) {
	for {
		n, err := r.from.Read(p)
		r.at += int64(n)
		if n > 0 {
			r.failed = 0
		}
		// Some connections end without an error although the answer is not complete.
		if err == io.EOF && r.end >= 0 && r.at < r.end && r.resume {
			err = io.ErrUnexpectedEOF
		}
		switch {
		case err == nil || err == io.EOF:
			return n, err
		case n > 0 && r.resume:
			return n, nil // the next Read fails again, and resumes
		case !r.resume || r.failed >= resumes || r.ctx.Err() != nil:
			return n, r.readError(err)
		}
		if err := r.resumeAfterPause(); err != nil {
			return 0, r.readError(err)
		}
	}
}

// resumeAfterPause opens the rest of the object after a pause.
func (r *reader) resumeAfterPause() error {
	wait := firstWait << r.failed
	r.failed++
	wait = wait/2 + rand.N(wait/2) // a random part, so that many readers do not all come back at the same moment
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}

	_ = r.from.Close()
	was := r.from
	err := r.openRest()
	if err != nil {
		r.from = was // closed; Close closes it again, which has no effect
	}
	return err
}

// readError returns the error of Read: the cause of the context if it has ended.
func (r *reader) readError(err error) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nameError("read", r.name, err)
}

func (r *reader) Close() error { return r.from.Close() }

// written is the size and the hash of the bytes written to an object.
type written struct {
	sum  maphash.Hash
	size int64
}

func (w *written) Write(p []byte) (int, error) {
	w.size += int64(len(p))
	return w.sum.Write(p)
}

// hasContent reports whether an object contains the written bytes. It reads the whole object.
func (s *store) hasContent(ctx context.Context, name string, w *written) bool {
	o, err := s.Stat(ctx, name)
	if err != nil || o.Size != w.size {
		return false
	}

	r, err := s.OpenVersion(ctx, name, o.Version, 0, -1)
	if err != nil {
		return false
	}

	var now written
	now.sum.SetSeed(w.sum.Seed())
	_, err = io.Copy(&now, r)
	return errors.Join(err, r.Close()) == nil && now.size == w.size && now.sum.Sum64() == w.sum.Sum64()
}
