package publish

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestObjectComesLater: a mirror has release.json before the object that it names. Follow waits for the object.
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
	if err != nil {
		t.Fatal(err)
	}
	if err := live.Close(); err != nil || asked.Load() != 3 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// TestOldStateUpgraded: the first poll with a state of an older version writes which keys its number counts for.
func TestOldStateUpgraded(t *testing.T) {
	s := newSite(t)
	s.publish(filterOf(t, 1000, 0))
	f := s.follower(s.dir)
	mustPoll(t, f)
	path := f.file + stateSuffix
	fields := func() (all map[string]any) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	old := fields()
	delete(old, "seen")
	delete(old, "check")
	b, err := json.Marshal(old)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if e, is := mustPoll(t, f).is(Unchanged); !is {
		t.Errorf("%+v", e)
	}
	if fields()["seen"] == nil {
		t.Error("the state is still the old one")
	}
}

// TestSlowestPace: a least rate of one byte a second and many bytes do not overflow.
func TestSlowestPace(t *testing.T) {
	p := newPace(time.Minute, 1, func(error) {})
	p.start()
	defer p.stop()
	for range 40 {
		if p.loaded(1 << 30); p.left < 24*time.Hour {
			t.Fatalf("%v left", p.left)
		}
	}
}
