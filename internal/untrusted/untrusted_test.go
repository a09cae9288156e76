package untrusted

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// TestReadFile reads files of several sizes with limits below, at and above their length.
func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, n := range []int{0, 1, 511, 512, 513, chunk, chunk + 1, 3*chunk + 5} {
		want := bytes.Repeat([]byte{7}, n)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{n - 1, n, n + 1} {
			if limit < 0 {
				continue
			}
			got, err := ReadFile(t.Context(), path, Limit{MaxBytes: uint64(limit), Head: 8})
			if limit < n {
				if !errors.Is(err, filter.ErrTooLarge) {
					t.Errorf("%d bytes, at most %d: %v", n, limit, err)
				}
			} else if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, at most %d: %d bytes, %v", n, limit, len(got), err)
			}
			got, err = Read(t.Context(), iotest.HalfReader(bytes.NewReader(want)), Limit{MaxBytes: uint64(limit), Head: 8})
			if (limit < n) != errors.Is(err, filter.ErrTooLarge) || err == nil && !bytes.Equal(got, want) {
				t.Errorf("stream of %d bytes, at most %d: %d bytes, %v", n, limit, len(got), err)
			}
		}
	}
}

// TestCheck checks that the first bytes are checked before the rest is read.
func TestCheck(t *testing.T) {
	refused := errors.New("refused")
	check := func(head []byte) error {
		if string(head) != "magic" {
			return refused
		}
		return nil
	}
	r := strings.NewReader("wrong" + strings.Repeat("x", 100))
	if _, err := Read(t.Context(), r, Limit{MaxBytes: 1000, Head: 5, Check: check}); !errors.Is(err, refused) {
		t.Error(err)
	}
	if r.Len() != 100 {
		t.Errorf("%d bytes left, want 100", r.Len())
	}
	b, err := Read(t.Context(), strings.NewReader("magic!"), Limit{MaxBytes: 1000, Head: 5, Check: check})
	if err != nil || string(b) != "magic!" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestNotRegular checks that folders are refused, even as streams, and that the error for a missing file is
// fs.ErrNotExist.
func TestNotRegular(t *testing.T) {
	for _, streams := range []bool{false, true} {
		if _, err := ReadFile(t.Context(), t.TempDir(), Limit{MaxBytes: 1, Streams: streams}); !errors.Is(err, ErrNotRegular) {
			t.Error(err)
		}
		missing := filepath.Join(t.TempDir(), "missing")
		if _, err := ReadFile(t.Context(), missing, Limit{MaxBytes: 1, Streams: streams}); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	f, st, err := OpenAny(t.TempDir(), os.O_RDONLY, 0)
	if err != nil || !st.IsDir() {
		t.Fatal(err)
	}
	_ = f.Close()
}

// TestContext checks that reading of an endless stream stops when the context ends.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("enough"))
	defer cancel()
	_, err := Read(ctx, endless{}, Limit{MaxBytes: 1 << 40})
	if err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}

// endless is a reader of single bytes.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return min(1, len(b)), nil }
