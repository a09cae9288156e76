//go:build unix

package exact

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// endless is a reader of the magic of an exact set, or of nothing, and then of endless zeros. It counts the bytes that
// are read.
type endless struct {
	magic string
	n     int
}

func (e *endless) Read(b []byte) (int, error) {
	clear(b)
	if e.n < len(e.magic) {
		b = b[:copy(b, e.magic[e.n:])]
	}
	e.n += len(b)
	return len(b), nil
}

// TestEndless checks that data that does not begin like an exact set is not read further, and that devices and pipes
// are refused at once.
func TestEndless(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := &endless{}
	if _, err := Read(e); !errors.Is(err, filter.ErrMagic) || e.n > 8 {
		t.Errorf("%d bytes read: %v", e.n, err)
	}
	e = &endless{magic: magic + "\x02"}
	if _, err := Read(e, WithMaxBytes(1<<16)); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("%d bytes read: %v", e.n, err)
	}
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	check(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{"/dev/zero", pipe, dir} {
		began := time.Now()
		if _, err := Open(t.Context(), path); !errors.Is(err, untrusted.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := OpenLive(t.Context(), path); !errors.Is(err, untrusted.ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s: %v", path, took)
		}
	}
	large := filepath.Join(dir, "large") // 2 GiB that use no disk space
	f, err := os.Create(large)
	if err == nil {
		err = errors.Join(f.Truncate(2<<30), f.Close())
	}
	check(t, err)
	if _, err := Open(t.Context(), large); !errors.Is(err, filter.ErrMagic) {
		t.Errorf("a large file of zeros: %v", err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d bytes allocated", got)
	}
	if _, err := Read(io.LimitReader(&endless{magic: magic}, 2)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("two bytes: %v", err)
	}
}
