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
	"github.com/bloomery/bloomery/internal/live"
)

// TestLive checks that a Live loads each new file, keeps the last good one if a new one is damaged or missing, and
// reports errors.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.exact")
	if _, err := OpenLive(t.Context(), path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	l := newList(11, 1000, 100)
	s := l.build(t, false)
	save := func() {
		t.Helper()
		check(t, s.Save(t.Context(), path))
	}
	save()
	ended := make(chan struct{})
	reported := errors.New("reported")
	followed, err := openLive(t.Context(), path, options{MaxBytes: maxFile, Interval: time.Millisecond,
		Update: func(ctx context.Context, f live.Follower) {
			f.Report(reported)
			<-ctx.Done()
			close(ended)
		}}, openFile)
	check(t, err)
	wait := func(what string, f func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what, followed.Err())
			}
		}
	}
	wait("no report", func() bool { return errors.Is(followed.Err(), reported) })
	followed.file.Report(nil)
	l.change(20, 0)
	s, _ = l.update(t, s)
	save()
	wait("no update", func() bool { return followed.Set().Info().Updates == 1 })
	for key := range second(l.universe()) {
		if followed.Set().Contains(key) != l.member[string(key)] || followed.Set().in(nil, key) != l.member[string(key)] {
			t.Fatalf("wrong answer for %s", key)
		}
	}
	bad := bytesOf(t, s)
	bad[len(bad)-1] ^= 1
	good := followed.Set()
	err = container.WriteAtomic(t.Context(), path, func(w io.Writer) error {
		_, err := w.Write(bad)
		return err
	})
	check(t, err)
	wait("no error", func() bool { return errors.Is(followed.Err(), filter.ErrChecksum) })
	check(t, os.Remove(path))
	wait("no error", func() bool { return errors.Is(followed.Err(), os.ErrNotExist) })
	if followed.Set() != good {
		t.Error("a damaged file was swapped in")
	}
	save()
	wait("it is mended", func() bool { return followed.Err() == nil && followed.Set() != good })
	if err := followed.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}
