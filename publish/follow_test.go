package publish

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestPoll follows a folder and a web server through three releases.
func TestPoll(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	local := "file:///" + strings.TrimPrefix(filepath.ToSlash(s.dir), "/")
	for _, address := range []string{s.dir, local, web.URL, web.URL + "/release.json"} {
		s.number, s.last = 0, nil
		f := s.follower(address)
		for version := range 3 {
			want := filterOf(t, 1000, version)
			s.publish(want)
			e, ok := mustPoll(t, f).is(Updated)
			if !ok || e.Release.Number != uint64(version+1) || e.From != uint64(version) || e.Delta {
				t.Errorf("%s: %+v", address, e)
			}
			holds(t, f, want)
			if e := mustPoll(t, f); e.String() != "release "+string(rune('1'+version))+": current" {
				t.Errorf("%s: %v", address, e)
			}
		}
		if names := around(t, f); !slices.Equal(names, afterPoll()) {
			t.Errorf("left behind: %s", names)
		}
	}
}

// TestPollDelta checks that a follower that is one release behind loads the delta, even after a restart. If the delta
// is damaged or missing, or leads to another release, it loads the whole file.
func TestPollDelta(t *testing.T) {
	s := newSite(t)
	s.deltas = true
	web := s.serve()
	f := s.follower(web.URL)
	s.publish(filterOf(t, 20000, 0))
	mustPoll(t, f)
	for version := 1; version < 7; version++ {
		before, want := s.last, filterOf(t, 20000, version)
		r := s.publish(want)
		d := filepath.Join(s.dir, "objects", r.Previous.Delta.SHA256.String())
		text := read(t, d)
		var err error
		switch version {
		case 3:
			text[len(text)/2]++
			err = os.WriteFile(d, text, 0o666)
		case 4:
			err = os.Remove(d)
		case 6: // of another release
			s.release(r, r.Number, func(r *record) {
				r.Previous = &previous{r.Number - 1, sha256.Sum256(before), s.delta(before, filterOf(t, 20000, 9))}
			})
		case 5:
			f, err = NewFollower(web.URL, f.file, WithKeys(s.keys[0].Public()))
		}
		must(t, err)
		e, ok := mustPoll(t, f).is(Updated)
		byDelta := version != 3 && version != 4 && version != 6
		if !ok || e.Delta != byDelta || (e.Unused == nil) != byDelta ||
			byDelta && e.Bytes > 1200+int64(r.Previous.Delta.Bytes) {
			t.Errorf("release %d: %v", r.Number, e)
		}
		holds(t, f, want)
	}
}

// around returns the names of the other files in the folder of the file of a follower.
func around(t *testing.T, f *Follower) (names []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Dir(f.file))
	must(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// afterPoll returns the names of the files that a poll leaves. On Windows it removes the lock file.
func afterPoll() []string {
	names := []string{"f.bloom", "f.bloom.follow", "f.bloom.follow.lock"}
	if runtime.GOOS == "windows" {
		names = names[:2]
	}
	return names
}

// TestNotModified checks that requests have a condition once the file is up to date, and never before.
func TestNotModified(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	var asked, unchanged int
	web.hook(func(_ http.ResponseWriter, r *http.Request) bool {
		asked++
		if r.Header.Get("If-Modified-Since") != "" {
			unchanged++
		}
		return false
	})
	f := s.follower(web.URL)
	want := filterOf(t, 1000, 0)
	s.publish(want)
	mustPoll(t, f)
	if asked != 2 || unchanged != 0 {
		t.Errorf("%d requests, %d with a condition", asked, unchanged)
	}
	if e := mustPoll(t, f).must(t, Unchanged); e.Bytes != 0 || unchanged != 1 {
		t.Errorf("%d bytes, %d conditions", e.Bytes, unchanged)
	}
	if err := os.Remove(f.file); err != nil { // the user
		t.Fatal(err)
	}
	if _, ok := mustPoll(t, f).is(Updated); !ok || unchanged != 1 {
		t.Errorf("a removed file is not loaded again; %d conditions", unchanged)
	}
	holds(t, f, want)
	for what, c := range map[string]struct {
		options []FollowOption
		want    error
	}{
		"another key":  {[]FollowOption{WithKeys(testKey(t, "E").Public())}, ErrOtherKey},
		"another name": {[]FollowOption{WithKeys(s.keys[0].Public()), WithName("other")}, ErrOtherName},
	} {
		other := newFollower(t, web.URL, f.file, c.options...)
		if _, err := other.Poll(t.Context()); !errors.Is(err, c.want) || unchanged != 1 {
			t.Errorf("%s: %v, %d conditions", what, err, unchanged)
		}
	}
}

// TestSameSecond checks that two releases in one second are both detected, although a web server reports the same
// length and time for both.
func TestSameSecond(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	now := time.Now()
	for version := range 2 {
		want := filterOf(t, 1000, version)
		s.publish(want)
		must(t, os.Chtimes(filepath.Join(s.dir, ReleaseName), now, now))
		mustPoll(t, f)
		holds(t, f, want)
	}
}

// TestNewFollower checks that NewFollower refuses options that cannot work.
func TestNewFollower(t *testing.T) {
	for address, want := range map[string]string{
		"http://example.invalid/a": "no key", "https://u:secret@example.invalid?token=secret": "no key",
		"ftp://a": "unknown scheme", "": "no address", "http:///a": "want http", "file://a/b": "file:///a/b",
	} {
		_, err := NewFollower(address, "f")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	if _, err := NewFollower(".", "f", WithInterval(-time.Second)); err == nil {
		t.Error("a negative interval")
	}
}

// TestFollowTrimmed checks that deltas work for trimmed filters and sets, and for the first full one after a trimmed
// one.
func TestFollowTrimmed(t *testing.T) {
	for what, shards := range map[string]int{File: 0, Set: 3} {
		s, src := newSite(t), t.TempDir()
		c := bloomery.Config{Spec: "rankindexed(capacity=2500,fpr=0.01)"}
		f := s.follower(s.dir)
		for v := range 4 {
			file := build(t, src, v, shards, c)
			r := mustPublish(t, s.dir, file, Options{Name: "x", Sign: s.keys, Trim: v < 3})
			e, ok := mustPoll(t, f).is(Updated)
			if p := r.record.Previous; !ok || e.Delta != (p != nil && p.Delta != nil) || e.Unused != nil {
				t.Errorf("%s, release %d: %v", what, r.Release.Number, e)
			}
			if v == 1 && !e.Delta {
				t.Errorf("%s: no delta", what)
			}
		}
	}
}

// TestTrimmedLimit checks that a trimmed filter that is too large in memory is refused.
func TestTrimmedLimit(t *testing.T) {
	s := newSite(t)
	file := build(t, t.TempDir(), 1, 0, bloomery.Config{Spec: "rankindexed(capacity=20000,fpr=0.01)"})
	r := mustPublish(t, s.dir, file, Options{Sign: s.keys, Trim: true})
	f := s.follower(s.dir, WithMaxBytes(r.Release.Total+1000))
	pollFails(t, f, filter.ErrTooLarge)
}

// TestNoHTTP checks that programs that use the library without this package and its transport do not link net/http.
func TestNoHTTP(t *testing.T) {
	const module = "github.com/bloomery/bloomery"
	for path, want := range map[string]bool{
		module: false, module + "/delta": false, module + "/distribute": false, module + "/publish": true,
	} {
		out, err := exec.Command("go", "list", "-deps", path).Output()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if got := slices.Contains(strings.Fields(string(out)), "net/http"); got != want {
			t.Errorf("%s links net/http: %v, want %v", path, got, want)
		}
	}
}

// TestObjectComesLater tests a mirror that serves release.json before the object that it names. Follow must wait for
// the object.
func TestObjectComesLater(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	s.publish(filterOf(t, 1000, 0))
	var asked atomic.Int32
	web.hook(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, ObjectsName) && asked.Add(1) <= 2 {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	})
	live, err := Follow(t.Context(), web.URL, t.TempDir()+"/f", WithKeys(s.keys[0].Public()),
		WithInterval(time.Millisecond))
	must(t, err)
	if err := live.Close(); err != nil || asked.Load() != 3 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// TestSlowestPace checks that the time limit for many bytes at a MinRate of one byte per second does not overflow.
func TestSlowestPace(t *testing.T) {
	p := newPace(time.Minute, 1, func(error) {})
	p.startClock()
	defer p.stopClock()
	for range 40 {
		if p.loaded(1 << 30); p.left < 24*time.Hour {
			t.Fatalf("%v left", p.left)
		}
	}
}
