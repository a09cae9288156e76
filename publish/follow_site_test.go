package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/patch"
)

// site is a publisher whose bytes the test controls. Its first key is testKey("A").
type site struct {
	t       *testing.T
	dir     string
	keys    []PrivateKey
	number  uint64
	writes  int
	last    []byte
	deltas  bool
	expires time.Time
	forge   func(*record) // changes a release before it is signed
}

func newSite(t *testing.T) *site {
	s := &site{t: t, dir: t.TempDir(), keys: []PrivateKey{testKey(t, "A")}, expires: time.Now().Add(24 * time.Hour)}
	must(t, os.Mkdir(filepath.Join(s.dir, "objects"), 0o777))
	return s
}

// object stores an object.
func (s *site) object(b []byte) *object {
	o := object{sha256.Sum256(b), uint64(len(b))}
	write(s.t, filepath.Join(s.dir, "objects", o.SHA256.String()), b, 0o666)
	return &o
}

// publish publishes the bytes of a filter file as the next release.
func (s *site) publish(b []byte) *record {
	s.t.Helper()
	s.number++
	r := &record{Release: Release{Name: "list", Number: s.number, Kind: File,
		Published: time.Unix(1.7e9+int64(s.number), 0).UTC(), Total: uint64(len(b)), Spec: "standard", Keys: 1,
		FPRPosterior: 0.01}}
	r.set(*s.object(b))
	r.Expires = s.expires.UTC().Truncate(time.Second)
	if s.last != nil {
		r.Previous = &previous{Number: s.number - 1, SHA256: sha256.Sum256(s.last)}
		if s.deltas {
			r.Previous.Delta = s.delta(s.last, b)
		}
	}
	s.last = b
	s.write(r)
	return r
}

// delta stores a delta.
func (s *site) delta(from, to []byte) *object {
	s.t.Helper()
	d, err := patch.Diff(s.t.Context(), patch.Version{File: from}, patch.Version{File: to})
	must(s.t, err)
	return s.object(d)
}

// write replaces release.json.
func (s *site) write(r *record) {
	s.t.Helper()
	if s.forge != nil {
		s.forge(r)
	}
	text, err := r.marshal(s.keys...)
	must(s.t, err)
	s.put(text)
}

func (s *site) put(text []byte) {
	s.t.Helper()
	tmp := filepath.Join(s.dir, "next")
	write(s.t, tmp, text, 0o666)
	// Set old and distinct times, so that web servers distinguish releases.
	old := time.Now().Add(-time.Hour + 10*time.Duration(s.writes)*time.Second)
	s.writes++
	must(s.t, os.Chtimes(tmp, old, old))
	must(s.t, os.Rename(tmp, filepath.Join(s.dir, ReleaseName)))
}

// filterOf returns a filter file of n keys. Each version changes the first keys.
func filterOf(t *testing.T, n, version int) []byte {
	t.Helper()
	keys := func(yield func(string) bool) {
		for i := range n {
			key := fmt.Sprintf("key%d", i)
			if i < version*n/500 {
				key = fmt.Sprintf("new%d-%d", version, i)
			}
			if !yield(key) {
				return
			}
		}
	}
	set, err := bloomery.Build(t.Context(), keys, bloomery.Config{Spec: fmt.Sprintf("standard(k=7,m=%d)", 10*n)})
	must(t, err)
	return encoded(t, set)
}

// server serves a site over HTTP. around may answer a request instead and reports whether it did.
type server struct {
	*httptest.Server
	around atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
	bytes  atomic.Int64 // bytes of bodies
}

func (s *site) serve() *server {
	out := new(server)
	files := http.FileServer(http.Dir(s.dir))
	out.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := out.around.Load(); f != nil && (*f)(w, r) {
			return
		}
		files.ServeHTTP(&counting{w, &out.bytes}, r)
	}))
	s.t.Cleanup(out.Close)
	return out
}

func (s *server) hook(f func(w http.ResponseWriter, r *http.Request) bool) { s.around.Store(&f) }

// counting counts the bytes of bodies. It has no ReadFrom, which would bypass the count.
type counting struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// follower returns a follower of an address with the key of a site.
func (s *site) follower(address string, o ...FollowOption) *Follower {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "f.bloom")
	return newFollower(s.t, address, file, append([]FollowOption{WithKeys(s.keys[0].Public())}, o...)...)
}

// mustPoll polls and returns the event.
func mustPoll(t *testing.T, f *Follower) Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := f.Poll(ctx)
	must(t, err)
	return e
}

// pollFails fails the test unless a poll ends with an error that wraps want.
func pollFails(t *testing.T, f *Follower, want error) {
	t.Helper()
	if e, err := f.Poll(t.Context()); e.Kind != "" || !errors.Is(err, want) {
		t.Errorf("%v, %v; want %v", e, err, want)
	}
}

// eventually waits until is returns true. It ends the test after 20 s.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// holds fails the test unless the file of a follower is equal to want.
func holds(t *testing.T, f *Follower, want []byte) {
	t.Helper()
	got, err := os.ReadFile(f.file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file has %d bytes, want %d: %v", len(got), len(want), err)
	}
}
