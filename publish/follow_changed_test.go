package publish

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// addTo adds a key to a filter or set, as bloomery add does.
func addTo(t *testing.T, path, key string) {
	t.Helper()
	l, err := bloomery.Lock(t.Context(), path)
	if err != nil {
		t.Error(err)
		return
	}
	err = l.AddString(key)
	if err == nil {
		err = l.Commit(t.Context())
	}
	if err = errors.Join(err, l.Close()); err != nil {
		t.Error(err)
	}
}

// TestSetChangedDuringPoll checks that a set that is changed locally during a poll remains readable, and that the next
// poll restores the release, even if shards of the release are missing.
func TestSetChangedDuringPoll(t *testing.T) {
	for _, way := range []string{"delta", "whole", "no shards"} {
		delta := way == "delta"
		s := newSite(t)
		web := s.serve()
		f := s.follower(web.URL)
		s.publishSet(1)
		mustPoll(t, f)
		r := s.publishSet(2).record
		if !delta {
			s.drop(r.Previous.Delta.SHA256)
		}
		when := fmt.Sprintf("%s/%s", ObjectsName, map[bool]shard.Sum{true: r.Previous.Delta.SHA256, false: r.SHA256}[delta])
		changed := 0
		web.hook(func(w http.ResponseWriter, q *http.Request) bool {
			if strings.HasSuffix(q.URL.Path, when) && changed == 0 {
				changed++
				addTo(t, f.file, "local")
			}
			missing := way == "no shards" && changed > 0 && !strings.HasSuffix(q.URL.Path, when)
			if missing {
				w.WriteHeader(http.StatusBadGateway)
			}
			return missing
		})
		if e, err := f.Poll(t.Context()); !errors.Is(err, filter.ErrChanged) || changed != 1 {
			t.Errorf("%v, %v, %d changes", e, err, changed)
		}
		set, err := bloomery.Open(t.Context(), f.file)
		if err != nil {
			t.Fatalf("%s: the set is destroyed: %v", way, err)
		}
		if err := set.Check(t.Context(), nil); err != nil || !set.ContainsString("local") ||
			!set.ContainsString("version1") {
			t.Errorf("%s: the local set has other keys: %v", way, err)
		}
		_ = set.Close()
		web.around.Store(nil)
		mustPoll(t, f)
		s.holdsSet(f, 2, true)
	}
}

// TestFileChangedDuringPoll checks that a poll does not touch a file that appears, changes or disappears during the
// poll, and that the next poll restores the release.
func TestFileChangedDuringPoll(t *testing.T) {
	first, second := filterOf(t, 1000, 0), filterOf(t, 1000, 1)
	for name, change := range map[string]func(t *testing.T, path string){
		"changed": func(t *testing.T, path string) { addTo(t, path, "local") },
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		},
		"made": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			web := s.serve()
			f := s.follower(web.URL)
			if name != "made" {
				s.publish(first)
				mustPoll(t, f)
			} else {
				change = func(t *testing.T, path string) {
					if err := os.WriteFile(path, first, 0o600); err != nil {
						t.Error(err)
					}
				}
			}
			s.publish(second)
			var local []byte
			web.hook(at(objectPath, func(w http.ResponseWriter, _ *http.Request) {
				if local == nil {
					change(t, f.file)
					local, _ = os.ReadFile(f.file)
				}
				_, _ = w.Write(second)
			}))
			if e, err := f.Poll(t.Context()); !errors.Is(err, filter.ErrChanged) {
				t.Errorf("%v, %v", e, err)
			}
			if now, _ := os.ReadFile(f.file); !bytes.Equal(now, local) {
				t.Errorf("%d bytes, want %d", len(now), len(local))
			}
			web.around.Store(nil)
			mustPoll(t, f)
			holds(t, f, second)
		})
	}
}
