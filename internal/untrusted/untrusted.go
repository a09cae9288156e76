// Package untrusted opens and reads files that another user may have made: a filter, a release, a key, a lock file in a
// folder that others can write. It never waits for a pipe, never reads endlessly from a device, and never allocates
// more than a limit.
package untrusted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// ErrNotRegular means that a path names a folder, pipe, device or socket, and a regular file is needed.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file for reading. Symbolic links are followed. For a folder, pipe, device or socket it
// immediately returns an error wrapping ErrNotRegular, because opening a pipe would wait for its writer. Other errors
// come from os.Open.
func Open(path string) (*os.File, fs.FileInfo, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is Open with the flags and permissions of os.OpenFile.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	f, st, err := OpenAny(path, flag, perm)
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, notRegular(path)
	}
	return f, st, nil
}

// OpenAny is OpenFile for regular files and folders, which open without waiting and without side effects. For anything
// else the error wraps ErrNotRegular.
func OpenAny(path string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	if st, err := os.Stat(path); err == nil && !isPlain(st) {
		return nil, nil, notRegular(path) // opening a tape or a terminal, for example, may have side effects
	}

	var f *os.File
	err := WhileBusy(func() (err error) {
		f, err = os.OpenFile(path, flag|nonblock, perm)
		return err
	})
	if err != nil {
		return nil, nil, err
	}

	// Another user may have replaced the file between the two calls, so the open file is checked again.
	st, err := f.Stat()
	if err == nil && !isPlain(st) {
		err = notRegular(path)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

func isPlain(st fs.FileInfo) bool { return st.Mode().IsRegular() || st.IsDir() }

func notRegular(path string) error { return &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular} }

// Limit bounds what ReadFile and Read accept.
type Limit struct {
	MaxBytes uint64 // largest length of the file; above it the error wraps filter.ErrTooLarge
	// Head is the number of bytes from the start that Check gets, or all bytes if there are fewer. Check is called
	// before the rest is read, and its error is returned. A nil Check accepts all files.
	Head  int
	Check func(head []byte) error
	// Streams also accepts files that are not regular, such as a named pipe. Opening one may wait for a writer until
	// ctx ends. Folders are still errors.
	Streams bool
}

// ReadFile returns the content of a file. Peak memory: the file; for a stream at most three times the bytes received,
// and never more than three times MaxBytes. It returns the cause of ctx soon after ctx ends. Errors name the path, and
// wrap ErrNotRegular, filter.ErrTooLarge, or an error of Check or of the file system.
func ReadFile(ctx context.Context, path string, l Limit) ([]byte, error) {
	var f *os.File
	var err error
	if l.Streams {
		f, err = OpenStream(ctx, path)
	} else {
		f, _, err = Open(path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()

	b, err := Interruptible(ctx, func() ([]byte, error) { return Read(ctx, f, l) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// Interruptible returns the result of read, which may block in a Read of a pipe, or the cause of ctx when ctx is done.
// A deadline of the file would not do: on macOS, pipes that have names take none. Then read goes on until the pipe
// ends, or its file is closed.
func Interruptible[T any](ctx context.Context, read func() (T, error)) (result T, err error) {
	done := make(chan struct{})
	var r T
	var readErr error
	go func() {
		defer close(done)
		r, readErr = read()
	}()
	select {
	case <-done:
		return r, readErr
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
}

// OpenStream is Open that also accepts files that are not regular, such as a named pipe. It may then wait for a writer;
// if ctx ends first, it returns the cause of ctx. Folders are still errors.
func OpenStream(ctx context.Context, path string) (*os.File, error) {
	if st, err := os.Stat(path); err != nil || isPlain(st) {
		f, _, err := Open(path)
		return f, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	type opened struct {
		f   *os.File
		err error
	}

	done, gone := make(chan opened), make(chan struct{})
	go func() {
		defer close(gone)
		f, err := os.Open(path) // blocks until a writer opens the pipe
		select {
		case done <- opened{f, err}:
		case <-ctx.Done():
			if err == nil {
				_ = f.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		// Wait for release: otherwise its writer, which writes nothing, could end the stream of the next reader.
		released := make(chan struct{})
		go func() {
			defer close(released)
			release(path, gone)
		}()
		select {
		case <-released:
		case <-time.After(releaseWait):
		}
		return nil, context.Cause(ctx)
	}
}

// releaseWait bounds the wait for release. It takes some milliseconds, but never ends if the pipe was replaced or may
// not be written.
const releaseWait = 250 * time.Millisecond

// release ends the wait for the writer of a pipe: it opens the pipe for writing and closes it at once. Otherwise the
// file that is being opened would take the bytes of a later writer.
func release(path string, gone <-chan struct{}) {
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		if w, err := os.OpenFile(path, os.O_WRONLY|nonblock, 0); err == nil {
			_ = w.Close()
		} else if errors.Is(err, fs.ErrNotExist) {
			return // no process can open it any more
		}
		select {
		case <-gone:
			return
		case <-time.After(pause):
		}
	}
}

// chunk is the number of bytes that are read between two checks of the context.
const chunk = 1 << 20

// Read reads r up to its end. If r is a regular file at its start, memory is allocated once, in its size; if this
// machine has less memory, the error wraps filter.ErrTooLarge. It returns the errors of ReadFile, without the path.
func Read(ctx context.Context, r io.Reader, l Limit) ([]byte, error) {
	expected := uint64(0)
	if f, ok := r.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			expected = uint64(st.Size())
		}
	}
	if expected > l.MaxBytes {
		return nil, fmt.Errorf("%d bytes, expected at most %d: %w", expected, l.MaxBytes, filter.ErrTooLarge)
	}

	head := make([]byte, l.Head)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if l.Check != nil {
		if err := l.Check(head); err != nil {
			return nil, err
		}
	}

	most := min(l.MaxBytes, math.MaxInt-1)
	if expected > most {
		return nil, fmt.Errorf("%d bytes, a process of this machine has at most %d: %w", expected, most, filter.ErrTooLarge)
	}

	// Alloc returns an error if the memory is too small, which a sparse file of any size can cause. The additional byte
	// lets the last Read see the end of the file without growing b.
	words, err := bitvec.Alloc(max(expected+1, uint64(n), 512)/8 + 1)
	if err != nil {
		return nil, err
	}

	b := append(bitvec.Bytes(words)[:0], head...)
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):min(cap(b), len(b)+chunk)])
		b = b[:len(b)+n]
		switch {
		case uint64(len(b)) > most:
			return nil, fmt.Errorf("more than %d bytes: %w", most, filter.ErrTooLarge)
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		}
	}
}

// Reader returns r until ctx ends; then Read returns the cause. It does not interrupt a blocked Read.
func Reader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(b)
}
