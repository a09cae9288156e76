package publish

import (
	"net/http"
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
	must(t, err)
	if err := live.Close(); err != nil || asked.Load() != 3 {
		t.Errorf("%v after %d requests", err, asked.Load())
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
