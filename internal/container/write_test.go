package container

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/standard"
)

func TestWriteFile(t *testing.T) {
	s := samples(t)[0]
	dir := t.TempDir()
	path := filepath.Join(dir, "f.bloom")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := writeFilterFile(ctx, path, s.filter, s.hasher); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Error("a cancelled write changed the file")
	}
	if err := writeFilterFile(t.Context(), path, s.filter, s.hasher); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); !bytes.Equal(b, s.file) {
		t.Error("the file holds something else")
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("files left behind: %v", names)
	}
	if st, _ := os.Stat(path); runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("permissions became %v", st.Mode())
	}
	if err := os.WriteFile(path, append(bytes.Clone(s.file), 0), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readFilterFile(path, reading{}); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, _, err := mapFilter(path, reading{}); !errors.Is(err, filter.ErrCorrupt) {
		t.Errorf("Open with a byte too many: %v", err)
	}
}

func TestReplaceFile(t *testing.T) {
	s := samples(t)[0]
	path := filepath.Join(t.TempDir(), "f.bloom")
	for what, change := range map[string]func() error{
		"replaced":   func() error { return writeFilterFile(t.Context(), path, s.filter, s.hasher) },
		"written to": func() error { return os.WriteFile(path, []byte("longer"), 0o644) },
		"touched":    func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"removed":    func() error { return os.Remove(path) },
		"":           func() error { return nil },
	} {
		if err := writeFilterFile(t.Context(), path, s.filter, s.hasher); err != nil {
			t.Fatal(err)
		}
		was, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		err = replaceFilterFile(t.Context(), path, s.filter, s.hasher, was)
		if got := err == nil; got != (what == "") || !got && !errors.Is(err, filter.ErrChanged) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v", what, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%q: the file was replaced", what)
		}
	}
}

// TestWriteRate checks that Write rejects the planned rates that Read rejects, and that the absence of a rate has one
// encoding.
func TestWriteRate(t *testing.T) {
	s := samples(t)[0]
	for _, rate := range []float64{-0.01, 1, 2, math.Inf(1), math.NaN()} {
		if err := writeFilter(io.Discard, s.filter, s.hasher, rate); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
	var b bytes.Buffer
	if err := writeFilter(&b, s.filter, s.hasher, math.Copysign(0, -1)); err != nil || !bytes.Equal(b.Bytes(), s.file) {
		t.Errorf("rate -0 gives another file than rate 0: %v", err)
	}
}

// TestIntact changes the source of a file while the file is written, and checks that nothing of the new file remains.
func TestIntact(t *testing.T) {
	f, err := standard.New(standard.Config{Bits: 1000, K: 1})
	if err != nil {
		t.Fatal(err)
	}
	file := New(1, f.Encode(), filter.NewHasher(0))
	file.Intact = func() error { return filter.ErrFile }
	dir := t.TempDir()
	if err := WriteFile(t.Context(), filepath.Join(dir, "f"), file); !errors.Is(err, filter.ErrFile) {
		t.Error(err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}
