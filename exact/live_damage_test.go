package exact

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/live"
)

// eventually waits until f is true, and fails after a minute.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// TestLivePassing checks that a Live that could not open a new file because of temporary system errors swaps it in
// later, with growing pauses between the attempts.
func TestLivePassing(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENOMEM, syscall.EIO} {
		path := filepath.Join(t.TempDir(), "f.exact")
		l := newList(28, 500, 50)
		s := l.build(t, false)
		save := func() {
			t.Helper()
			check(t, s.Save(t.Context(), path))
		}
		save()
		var on atomic.Bool
		var opens atomic.Int64
		faulty := func(ctx context.Context, path string, o options) (*Set, error) {
			if !on.Load() {
				return openFile(ctx, path, o)
			}
			opens.Add(1)
			return nil, &os.PathError{Op: "open", Path: path, Err: errno}
		}
		followed := must(openLive(t.Context(), path, options{MaxBytes: maxFile, Interval: time.Millisecond}, faulty))
		defer followed.Close()
		next := func() {
			t.Helper()
			l.change(5, 0)
			s, _ = l.update(t, s)
			save()
		}
		on.Store(true)
		began := time.Now()
		next()
		eventually(t, "the error", func() bool { return errors.Is(followed.Err(), errno) })
		if n := followed.Set().Info().Updates; n != 0 {
			t.Errorf("%v: a file with %d updates was opened", errno, n)
		}
		time.Sleep(2 * live.FirstPause)
		most := 2 + int64(bits.Len64(uint64(time.Since(began)/live.FirstPause)))
		if n := opens.Load(); n > most {
			t.Errorf("%v: %d attempts, at most %d expected", errno, n, most)
		}
		on.Store(false)
		eventually(t, "the new file", func() bool { return followed.Set().Info().Updates == 1 && followed.Err() == nil })
		on.Store(true)
		next()
		if err := followed.Reload(t.Context()); !errors.Is(err, errno) {
			t.Errorf("Reload: %v", err)
		}
		on.Store(false)
		if err := followed.Reload(t.Context()); err != nil || followed.Set().Info().Updates != 2 {
			t.Errorf("Reload after the outage: %v", err)
		}
		if n := l.wrong(followed.Set()); n > 0 {
			t.Errorf("%d wrong answers", n)
		}
	}
}

// TestLiveDamage checks that a damaged file is opened only once, until it is replaced.
func TestLiveDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.exact")
	s := newList(28, 500, 50).build(t, false)
	check(t, s.Save(t.Context(), path))
	var opens atomic.Int64
	followed, err := openLive(t.Context(), path, options{MaxBytes: maxFile, Interval: time.Millisecond},
		func(ctx context.Context, path string, o options) (*Set, error) {
			opens.Add(1)
			return openFile(ctx, path, o)
		})
	check(t, err)
	defer followed.Close()
	err = container.WriteAtomic(t.Context(), path, func(w io.Writer) error {
		_, err := w.Write(bytesOf(t, s)[:40])
		return err
	})
	check(t, err)
	eventually(t, "the error", func() bool { return errors.Is(followed.Err(), io.ErrUnexpectedEOF) })
	time.Sleep(2 * live.FirstPause)
	if err := followed.Reload(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) || opens.Load() != 2 {
		t.Errorf("%d files opened, want 2; %v", opens.Load(), err)
	}
	check(t, s.Save(t.Context(), path))
	eventually(t, "the new file", func() bool { return followed.Err() == nil })
}

// TestLiveClosed checks that after Close all answers are true, and that Err returns the reason.
func TestLiveClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.exact")
	l := newList(28, 500, 50)
	check(t, l.build(t, true).Save(t.Context(), path))
	followed := must(OpenLive(t.Context(), path))
	before := followed.Set()
	for range 2 {
		if err := followed.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := followed.Err(); !errors.Is(err, errClosed) || before.fault != nil {
		t.Errorf("%v, %v", err, before.fault)
	}
	if err := followed.Reload(t.Context()); !errors.Is(err, errClosed) || !errors.Is(err, filter.ErrClosed) {
		t.Errorf("Reload: %v", err)
	}
	got := make([]bool, 2)
	followed.Set().manyIn(got, make([][]byte, 2), [][]byte{{1}, {2}})
	if !got[0] || !got[1] || !followed.Set().Contains([]byte("x")) || !followed.Set().in([]byte("p"), []byte("x")) {
		t.Error("a closed Live does not contain a key")
	}
	withoutRecords(t, followed.Set(), errClosed)
	if n := l.wrong(before); n > 0 {
		t.Errorf("%d wrong answers of a Set from before", n)
	}
}

// TestZeroSet checks that the zero Set, like a zero bloomery.Set, contains nothing, and that it cannot be written or
// updated.
func TestZeroSet(t *testing.T) {
	s := new(Set)
	got := []bool{true, true}
	s.ContainsMany(got, [][]byte{{1}, {2}})
	if got[0] || got[1] || s.Contains([]byte("x")) || s.in([]byte("p"), []byte("x")) || s.fault != nil {
		t.Error("the zero Set contains a key, or has an error")
	}
	withoutRecords(t, s, errEmpty)
}

// withoutRecords checks the methods of a Set that has no records.
func withoutRecords(t *testing.T, s *Set, want error) {
	t.Helper()
	if i := s.Info(); i.Bytes != 0 || i.Members != 0 || i.BuildDue != "" || s.partitioned() {
		t.Errorf("%+v", i)
	}
	path := filepath.Join(t.TempDir(), "f.exact")
	_, written := s.WriteTo(io.Discard)
	b, appended := s.appendTo([]byte("x"))
	l := newList(1, 10, 1)
	_, updated := Build(t.Context(), second(l.members()), second(l.universe()), Config{Base: s})
	for what, err := range map[string]error{
		"WriteTo": written, "AppendBinary": appended, "Save": s.Save(t.Context(), path), "Update": updated,
	} {
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	if _, err := os.Stat(path); !bytes.Equal(b, []byte("x")) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%q, %v", b, err)
	}
	v := s.NewVerifier(Config{TempDir: t.TempDir()})
	if err := errors.Join(v.AddMembers([][]byte{{1}}), v.AddUniverse([][]byte{{1}})); err != nil {
		t.Error(err)
	}
	if _, err := v.Commit(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestBuilderClosed checks that a Builder refuses keys after Build and after Close.
func TestBuilderClosed(t *testing.T) {
	for name, end := range map[string]func(*Builder) error{
		"Close": (*Builder).Close,
		"Build": func(b *Builder) error { _, err := b.Build(t.Context()); return err },
	} {
		b := must(NewBuilder(Config{}))
		if err := errors.Join(b.AddMembers([][]byte{{1}}), b.AddUniverse([][]byte{{1}, {2}}), end(b)); err != nil {
			t.Fatal(name, err)
		}
		if err := b.AddMembers([][]byte{{3}}); !errors.Is(err, filter.ErrClosed) {
			t.Errorf("after %s: %v", name, err)
		}
	}
}
