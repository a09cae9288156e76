//go:build unix

package untrusted

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// TestPipe checks that a pipe is refused at once, or read as a stream until its writer closes it or the context ends.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if _, _, err := OpenAny(path, os.O_RDONLY, 0); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if _, err := ReadFile(t.Context(), path, Limit{MaxBytes: 10}); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := ReadFile(ctx, path, Limit{MaxBytes: 10, Streams: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a writer: %v", err)
	}
	write := func(text string, hold <-chan struct{}) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(text)
			<-hold
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}
	now := make(chan struct{})
	close(now)
	go write("hello", now)
	if b, err := ReadFile(t.Context(), path, Limit{MaxBytes: 10, Streams: true}); string(b) != "hello" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	read, end := context.WithTimeout(t.Context(), 10*time.Second)
	defer end()
	go write("hello", read.Done())
	if _, err := ReadFile(ctx, path, Limit{MaxBytes: 10, Streams: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a silent writer: %v", err)
	}
}

// TestDevice checks that a device is refused as a regular file, and that the limit applies when it is read as a stream.
func TestDevice(t *testing.T) {
	const zero = "/dev/zero"
	if _, err := os.Stat(zero); err != nil {
		t.Skip(err)
	}
	if _, _, err := Open(zero); !errors.Is(err, ErrNotRegular) {
		t.Error(err)
	}
	if _, err := ReadFile(t.Context(), zero, Limit{MaxBytes: 1 << 20, Streams: true}); !errors.Is(err, filter.ErrTooLarge) {
		t.Error(err)
	}
}
