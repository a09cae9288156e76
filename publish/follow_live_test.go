package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/publish/transport"
)

// TestRotation checks that a reader that pins the old and the new key follows a publisher from one key to the other. A
// reader that pins only the old key must keep the last release signed by this key.
func TestRotation(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	before, after := testKey(t, "A"), testKey(t, "E")
	old, both := s.follower(web.URL), s.follower(web.URL, WithKeys(after.Public()))
	var last []byte
	for version, keys := range [][]PrivateKey{{before}, {before, after}, {after}} {
		s.keys = keys
		content := filterOf(t, 1000, version)
		s.publish(content)
		mustPoll(t, both)
		holds(t, both, content)
		if version < 2 {
			mustPoll(t, old)
			last = content
		} else if _, err := old.Poll(t.Context()); !errors.Is(err, ErrOtherKey) {
			t.Errorf("the old key only: %v", err)
		}
		holds(t, old, last)
	}
}

// TestInsecure checks that unsigned releases are accepted from folders, from servers only with WithInsecure, and never
// by followers with a key.
func TestInsecure(t *testing.T) {
	s := newSite(t)
	s.keys = nil
	web := s.serve()
	want := filterOf(t, 1000, 0)
	s.publish(want)
	for address, o := range map[string][]FollowOption{s.dir: nil, web.URL: {WithInsecure()}} {
		f := newFollower(t, address, filepath.Join(t.TempDir(), "f"), o...)
		mustPoll(t, f)
		holds(t, f, want)
		f.options.keys = []PublicKey{testKey(t, "A").Public()}
		pollFails(t, f, ErrUnsigned)
	}
}

// TestExpired checks that an expired release is used and reported, even if a server always answers that nothing has
// changed.
func TestExpired(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	now := time.Now()
	f.options.now = func() time.Time { return now }
	first, second := filterOf(t, 1000, 0), filterOf(t, 1000, 1)
	s.publish(first)
	mustPoll(t, f)
	web.hook(func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusNotModified)
		return true
	})
	mustPoll(t, f)
	now = now.Add(48 * time.Hour)
	for range 2 {
		e, err := f.Poll(t.Context())
		if _, ok := e.is(Unchanged); !ok || !errors.Is(err, ErrExpired) ||
			!strings.Contains(err.Error(), "another mirror") {
			t.Errorf("frozen: %v, %v", e, err)
		}
	}
	web.around.Store(nil)
	s.publish(second)
	e, err := f.Poll(t.Context())
	if _, ok := e.is(Updated); !ok || !errors.Is(err, ErrExpired) {
		t.Errorf("newer, but expired: %v, %v", e, err)
	}
	holds(t, f, second)
	s.expires = now.Add(time.Hour)
	s.release(&record{}, 0, func(r *record) { // the same release, renewed
		is, err := parseRecord(s.text())
		must(t, err)
		*r = *is
		r.Expires = s.expires.UTC().Truncate(time.Second)
	})
	if _, ok := mustPoll(t, f).is(Unchanged); !ok {
		t.Error("renewed: not unchanged")
	}
}

// TestFirstNotModified checks that the answer "not modified" is an error for a reader without a file.
func TestFirstNotModified(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	web.hook(func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusNotModified)
		return true
	})
	if _, err := s.follower(web.URL).Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "304") {
		t.Error(err)
	}
}

// TestHistory checks that a reader that is several releases behind finds its delta in the history. If the history is
// damaged, it loads the whole file and reports why.
func TestHistory(t *testing.T) {
	s := newSite(t)
	s.deltas = true
	web := s.serve()
	for _, damaged := range []bool{false, true} {
		f := s.follower(web.URL)
		first, last := filterOf(t, 20000, 0), filterOf(t, 20000, 1)
		s.publish(first)
		mustPoll(t, f)
		from := *s.publishing(t)
		s.publish(filterOf(t, 20000, 2))
		s.forge = func(r *record) {
			h := history{{Number: r.Number - 1, Published: r.Published, object: object{r.Previous.SHA256, r.Bytes}},
				{Number: from.Number, Published: r.Published, object: object{from.SHA256, r.Bytes},
					Delta: s.delta(first, last)}}
			text, err := h.marshal()
			must(t, err)
			if r.History = s.object(text); damaged {
				s.spoil(r.History.SHA256, 20)
			}
		}
		s.publish(last)
		s.forge = nil
		e, ok := mustPoll(t, f).is(Updated)
		if !ok || e.Delta == damaged || (e.Unused != nil) != damaged || e.From != from.Number {
			t.Errorf("%v: %v", damaged, e)
		}
		if damaged && !strings.Contains(e.String(), "history") {
			t.Error(e)
		}
		holds(t, f, last)
	}
}

// publishing returns the current release.
func (s *site) publishing(t *testing.T) *record {
	t.Helper()
	r, err := parseRecord(s.text())
	must(t, err)
	return r
}

// TestResume checks that an interrupted download is resumed. If the loaded part is damaged, it is loaded again, and a
// server without ranges sends the whole file.
func TestResume(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	want := filterOf(t, 1000000, 0)
	s.publish(want)
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(want)))
		_, _ = w.Write(want[:len(want)/2]) // then the server closes the connection
	}
	whole := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(want) }
	var ranges atomic.Int64
	for name, c := range map[string]struct {
		damage bool
		answer func(w http.ResponseWriter, r *http.Request) bool
		bytes  int
	}{
		"ranges":    {bytes: len(want) / 2},
		"damaged":   {damage: true, bytes: len(want) / 2 * 3},
		"no ranges": {answer: at(objectPath, whole), bytes: len(want)},
	} {
		f := s.follower(web.URL)
		web.hook(at(objectPath, cut))
		if _, err := f.Poll(t.Context()); err == nil {
			t.Fatal("a cut body")
		}
		part, err := os.ReadFile(f.partOf(s.publishing(t).SHA256))
		if err != nil || len(part) == 0 {
			t.Fatalf("%s: %d bytes are kept: %v", name, len(part), err)
		}
		if c.damage {
			part[0]++
			write(t, f.partOf(s.publishing(t).SHA256), part, 0o600)
		}
		web.hook(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Range") != "" {
				ranges.Add(1)
			}
			return c.answer != nil && c.answer(w, r)
		})
		e := mustPoll(t, f).must(t, Updated)
		if least, most := int64(c.bytes), int64(c.bytes)+int64(len(want)/2); e.Bytes < least || e.Bytes > most {
			t.Errorf("%s: %d bytes, want %d to %d", name, e.Bytes, least, most)
		}
		holds(t, f, want)
	}
	if ranges.Load() != 3 {
		t.Errorf("%d requests for ranges", ranges.Load())
	}
}

// TestTwoFollowers checks that two followers of one file poll one after the other, and that the second one finds the
// file up to date.
func TestTwoFollowers(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	f := s.follower(web.URL)
	s.publish(filterOf(t, 1000, 0))
	var inside, together, objects atomic.Int64
	web.hook(func(_ http.ResponseWriter, r *http.Request) bool {
		if inside.Add(1) > 1 {
			together.Add(1)
		}
		if strings.Contains(r.URL.Path, objectPath) {
			objects.Add(1)
		}
		time.Sleep(20 * time.Millisecond)
		inside.Add(-1)
		return false
	})
	var all sync.WaitGroup
	for range 4 {
		other := newFollower(t, web.URL, f.file, WithKeys(s.keys[0].Public()))
		all.Go(func() {
			if _, err := other.Poll(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if objects.Load() != 1 || together.Load() != 0 {
		t.Errorf("loaded %d times, %d requests at the same time", objects.Load(), together.Load())
	}
}

// TestFollow checks that a Live loads each release soon after it is published, keeps it during errors, which Err and
// OnEvent report, and starts without a server.
func TestFollow(t *testing.T) {
	s := newSite(t)
	web := s.serve()
	file := filepath.Join(t.TempDir(), "f.bloom")
	events := make(chan Event, 1000)
	follow := func(o ...FollowOption) (*bloomery.Live, error) {
		return Follow(t.Context(), web.URL, file, append(o, WithKeys(s.keys[0].Public()),
			OnEvent(func(e Event) { events <- e }), WithInterval(10*time.Millisecond))...)
	}
	if _, err := follow(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing is published: %v", err)
	}
	s.publish(filterOf(t, 1000, 0))
	web.hook(func(w http.ResponseWriter, _ *http.Request) bool { // the first answers are transient errors
		if len(events) > 2 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	live, err := follow()
	must(t, err)
	if f, ok := (<-events).is(Failed); !ok || f.Retry <= 0 || f.Retry > 200*time.Millisecond {
		t.Errorf("first event: %v", f)
	}
	if !live.ContainsString("key999") || live.Err() != nil {
		t.Errorf("the first release: %v", live.Err())
	}
	s.publish(filterOf(t, 1000, 50))
	eventually(t, "no second release", func() bool { return live.ContainsString("new50-99") })
	web.hook(at("", status(500)))
	eventually(t, "no error", func() bool { return live.Err() != nil && strings.Contains(live.Err().Error(), "500") })
	if !live.ContainsString("new50-99") {
		t.Error("the last good version is gone")
	}
	web.around.Store(nil)
	eventually(t, "it stays", func() bool { return live.Err() == nil })
	if err := live.Close(); err != nil {
		t.Error(err)
	}
	web.Close()
	ctx, cancel := context.WithCancel(t.Context())
	live, err = Follow(ctx, web.URL, file, WithKeys(s.keys[0].Public()), WithInterval(time.Hour))
	must(t, err)
	eventually(t, "no error without a server", func() bool { return live.Err() != nil })
	if !live.ContainsString("new50-99") {
		t.Error("no version without a server")
	}
	cancel()
	if err := live.Close(); err != nil {
		t.Error(err)
	}
}

// TestDelay checks that the times between polls vary and are at most one interval, or after errors at most 10
// intervals.
func TestDelay(t *testing.T) {
	f := newSite(t).follower(t.TempDir(), WithInterval(time.Minute))
	seen := map[time.Duration]bool{}
	for failures := range 80 {
		d := f.nextDelay(failures%20, &transport.StatusError{RetryAfter: 30 * time.Second})
		seen[d] = true
		least, most := 30*time.Second, 10*time.Minute
		if failures%20 == 0 {
			least, most = 54*time.Second, time.Minute
		}
		if d < least || d > most {
			t.Errorf("after %d failures %v", failures%20, d)
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d different times of 80", len(seen))
	}
	late := f.nextDelay(1, &transport.StatusError{RetryAfter: time.Hour})
	if late != 10*time.Minute {
		t.Errorf("the server asks for an hour: %v", late)
	}
}
