package untrusted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

var (
	// ErrTooLarge means that a body is longer than Body.MaxBytes.
	ErrTooLarge = errors.New("the body is longer than expected")
	// ErrStalled means that the other side was silent, or slow, for too long.
	ErrStalled = errors.New("no progress")
)

// slowest is the mean rate, in bytes per second, below which a body is given up: a server that sends a byte at a time
// would otherwise never stall. A Follower is stricter: see transport.Config.MinRate.
const slowest = 1 << 10

// Body has the limits of a body that another machine sends: its length, and the time between two parts. The sources of
// package publish/transport use it.
type Body struct {
	MaxBytes int64         // of the whole object
	Size     int64         // of the whole object, or -1 if it is not known
	Stall    time.Duration // the longest time between two parts
	Name     string        // for errors, without credentials
}

// Apply returns a body that begins at an offset, with limits. Read returns an error wrapping ErrTooLarge after
// MaxBytes, and one wrapping ErrStalled after Stall without a byte, or if the mean rate is below 1 KiB/s after twice
// that time. ctx is the context that the Read of body ends with, and cancel its cancel function, which Close calls.
func (l Body) Apply(
	ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, offset int64,
) io.ReadCloser {
	expected := l.MaxBytes
	if l.Size >= 0 {
		expected = l.Size
	}
	const longest = 50 * 365 * 24 * time.Hour // far below the largest Duration
	most := 2*l.Stall + time.Duration(min(float64(expected-offset)/slowest*float64(time.Second), float64(longest)))
	stalled := func() { cancel(ErrStalled) }
	return &bounded{&watched{ReadCloser: body, ctx: ctx, cancel: cancel, stall: l.Stall, name: l.Name,
		timer: time.AfterFunc(l.Stall, stalled), slow: time.AfterFunc(most, stalled)}, l.MaxBytes - offset}
}

// watched is a body that is given up when it stalls.
type watched struct {
	io.ReadCloser
	ctx         context.Context
	cancel      context.CancelCauseFunc
	timer, slow *time.Timer
	stall       time.Duration
	name        string
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.timer.Reset(b.stall)
	}
	if err != nil && err != io.EOF {
		if cause := context.Cause(b.ctx); cause != nil {
			err = cause
		}
		err = fmt.Errorf("%s: %w", b.name, err)
	}
	return n, err
}

func (b *watched) Close() error {
	b.timer.Stop()
	b.slow.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// BoundedBody returns a body of which Read returns ErrTooLarge after that many bytes.
func BoundedBody(body io.ReadCloser, most int64) io.ReadCloser { return &bounded{body, most} }

// bounded is a body that must not be longer than left.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}
