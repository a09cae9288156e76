package exact

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/exactopts"
)

// TestLive: a Live has each new file, keeps the last good one beside a damaged or missing one, and reports errors.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.exact")
	if _, err := OpenLive(t.Context(), path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	l := newList(11, 1000, 100)
	s := l.build(t, false)
	save := func() {
		t.Helper()
		if err := s.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	save()
	ended := make(chan struct{})
	reported := errors.New("reported")
	live, err := openLive(t.Context(), path, options{MaxBytes: maxFile, Interval: time.Millisecond,
		Update: func(ctx context.Context, f exactopts.Follower) {
			f.Report(reported)
			<-ctx.Done()
			close(ended)
		}}, open)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string, f func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what, live.Err())
			}
		}
	}
	wait("no report", func() bool { return errors.Is(live.Err(), reported) })
	live.file.Report(nil)
	l.change(20, 0)
	s, _ = l.update(t, s)
	save()
	wait("no update", func() bool { return live.Set().Info().Updates == 1 })
	for key := range second(l.universe()) {
		if live.Set().Contains(key) != l.member[string(key)] || live.Set().in(nil, key) != l.member[string(key)] {
			t.Fatalf("wrong answer for %s", key)
		}
	}
	bad := bytesOf(t, s)
	bad[len(bad)-1] ^= 1
	good := live.Set()
	err = container.WriteAtomic(t.Context(), path, func(w io.Writer) error {
		_, err := w.Write(bad)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wait("no error", func() bool { return errors.Is(live.Err(), filter.ErrChecksum) })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wait("no error", func() bool { return errors.Is(live.Err(), os.ErrNotExist) })
	if live.Set() != good {
		t.Error("a damaged file was swapped in")
	}
	save()
	wait("it is mended", func() bool { return live.Err() == nil && live.Set() != good })
	if err := live.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}
