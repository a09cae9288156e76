package publish

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPoll follows a folder and a web server through three releases.
func TestPoll(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	for _, address := range []string{s.dir, "file://" + filepath.ToSlash(s.dir), web.URL, web.URL + "/release.json"} {
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
		if names := around(t, f); !slices.Equal(names, []string{"f.bloom", "f.bloom.follow", "f.bloom.follow.lock"}) {
			t.Errorf("left behind: %s", names)
		}
	}
}

// TestPollDelta: a follower that is one release behind loads the delta, also after a restart. If that is damaged or
// missing, or leads to another release, it loads the whole file.
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

// around returns the names of the files beside that of a follower.
func around(t *testing.T, f *Follower) (names []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Dir(f.file))
	must(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// TestNotModified: a server is asked with a condition once the file is current, and never before.
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

// TestSameSecond: two releases in one second are both seen, although a web server gives both the same length and time.
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

// TestNewFollower refuses what cannot work.
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
