package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/publish/transport"
	"github.com/bloomery/bloomery/shard"
)

// evil is a proxy between a follower and its publisher that attacks the follower without having a key.
type evil struct {
	own, other, stranger string   // folders: the list, another list with the same key, one with another key
	texts                [][]byte // all versions of release.json of the list

	mu     sync.Mutex
	rand   *rand.Rand
	mode   conduct
	stalls int            // since the last poll
	served map[string]int // by the name of the fault
}

// conduct is the current behaviour of the proxy.
type conduct int

const (
	faulty conduct = iota
	honest
	silent
)

// fault answers a request for a file of the list, given its content, and returns true if the answer stalls.
type fault struct {
	name   string
	serve  func(e *evil, w http.ResponseWriter, r *http.Request, content []byte)
	stalls bool
}

var faults = []fault{
	{name: "no answer", stalls: true, serve: func(_ *evil, _ http.ResponseWriter, r *http.Request, _ []byte) {
		<-r.Context().Done()
	}},
	{name: "stall", stalls: true, serve: func(e *evil, w http.ResponseWriter, r *http.Request, b []byte) {
		body(int64(len(b)), string(b[:e.int(len(b))]), hang)(w, r)
	}},
	{name: "drip", stalls: true, serve: func(_ *evil, w http.ResponseWriter, r *http.Request, b []byte) {
		for i := 0; i < len(b) && r.Context().Err() == nil; i++ {
			_, _ = w.Write(b[i : i+1])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}},
	{name: "cut", serve: func(e *evil, w http.ResponseWriter, r *http.Request, b []byte) {
		body(int64(len(b)), string(b[:e.int(len(b))]), abort)(w, r)
	}},
	{name: "redirect with a silent body", serve: func(_ *evil, w http.ResponseWriter, r *http.Request, _ []byte) {
		w.Header().Set("Content-Length", "2")
		w.Header().Set("Location", r.URL.Path+"?right")
		w.WriteHeader(http.StatusFound)
		_, _ = w.Write([]byte("1"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}},
	{name: "redirect to another host", serve: func(_ *evil, w http.ResponseWriter, r *http.Request, _ []byte) {
		to("http://127.0.0.1:1/")(w, r)
	}},
	{name: "redirect in a circle", serve: func(_ *evil, w http.ResponseWriter, r *http.Request, _ []byte) {
		to(r.URL.Path+"?circle")(w, r)
	}},
	replay,
	{name: "another list", serve: func(e *evil, w http.ResponseWriter, r *http.Request, _ []byte) {
		e.mix(w, r, e.other)
	}},
	{name: "another key", serve: func(e *evil, w http.ResponseWriter, r *http.Request, _ []byte) {
		e.mix(w, r, e.stranger)
	}},
	{name: "flip", serve: func(e *evil, w http.ResponseWriter, _ *http.Request, b []byte) {
		b[e.int(len(b))] ^= 1 << e.int(8)
		_, _ = w.Write(b)
	}},
	{name: "shorter", serve: func(e *evil, w http.ResponseWriter, _ *http.Request, b []byte) {
		_, _ = w.Write(b[:e.int(len(b))])
	}},
	{name: "endless", serve: func(_ *evil, w http.ResponseWriter, r *http.Request, b []byte) {
		body(-1, string(b), endless)(w, r)
	}},
	{name: "status", serve: func(e *evil, w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.WriteHeader([]int{204, 206, 304, 400, 403, 404, 416, 500, 503}[e.int(9)])
	}},
	{name: "web page", serve: func(_ *evil, w http.ResponseWriter, _ *http.Request, _ []byte) {
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Welcome")
	}},
	{name: "gzip", serve: func(_ *evil, w http.ResponseWriter, r *http.Request, _ []byte) { zip(w, r) }},
}

// replay is the most dangerous fault, because it serves signed releases.
var replay = fault{name: "replay", serve: func(e *evil, w http.ResponseWriter, r *http.Request, _ []byte) {
	if strings.HasSuffix(r.URL.Path, ReleaseName) {
		_, _ = w.Write(e.oldRelease())
		return
	}
	_, _ = w.Write(e.anyObject(e.own))
}}

func (e *evil) int(n int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rand.IntN(n)
}

// oldRelease returns an earlier release.json of the list, often one whose objects still exist.
func (e *evil) oldRelease() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	from := e.texts
	if e.rand.IntN(4) > 0 {
		from = from[max(0, len(from)-4):]
	}
	return from[e.rand.IntN(len(from))]
}

// anyObject returns an object of a folder.
func (e *evil) anyObject(dir string) []byte {
	all, err := os.ReadDir(filepath.Join(dir, ObjectsName))
	if err != nil || len(all) == 0 {
		return nil
	}
	b, _ := os.ReadFile(filepath.Join(dir, ObjectsName, all[e.int(len(all))].Name()))
	return b
}

// mix serves release.json, or an object, of another folder.
func (e *evil) mix(w http.ResponseWriter, r *http.Request, dir string) {
	if strings.HasSuffix(r.URL.Path, ReleaseName) {
		b, _ := os.ReadFile(filepath.Join(dir, ReleaseName))
		_, _ = w.Write(b)
		return
	}
	_, _ = w.Write(e.anyObject(dir))
}

func (e *evil) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := os.ReadFile(filepath.Join(e.own, filepath.FromSlash(r.URL.Path)))
	e.mu.Lock()
	mode := e.mode
	f := faults[e.rand.IntN(len(faults))]
	if strings.HasSuffix(r.URL.Path, ReleaseName) && e.rand.IntN(3) == 0 {
		f = replay
	}
	if mode == faulty && (e.rand.IntN(2) == 0 || r.URL.RawQuery == "right") {
		mode = honest
	}
	if mode == silent {
		f = faults[0]
	}
	if err == nil && mode != honest {
		e.served[f.name]++
		if f.stalls {
			e.stalls++
		}
	}
	e.mu.Unlock()
	if err != nil || mode == honest {
		http.FileServer(http.Dir(e.own)).ServeHTTP(w, r)
		return
	}
	f.serve(e, w, r, content)
}

// proxied is a list behind the proxy.
type proxied struct {
	*evil
	t       *testing.T
	set     bool
	key     PrivateKey
	shift   atomic.Int64         // shift of the clock of publisher and reader, in nanoseconds
	numbers map[shard.Sum]uint64 // numbers of the releases
	content map[uint64][]byte    // content of the files
	expires map[uint64]time.Time
	newest  uint64
}

func (p *proxied) now() time.Time { return time.Now().Add(time.Duration(p.shift.Load())) }

// publish publishes the next version of a list.
func (p *proxied) publish(dir string, version int, key PrivateKey) Report {
	p.t.Helper()
	keys := func(yield func(string) bool) {
		for i := range 20000 {
			name := fmt.Sprint("key", i)
			if i < 100 {
				name = fmt.Sprintf("%s-%d-%d", filepath.Base(dir), version, i)
			}
			if !yield(name) {
				return
			}
		}
	}
	path := filepath.Join(p.t.TempDir(), "next")
	c := bloomery.Config{Spec: "standard(bytes=25000)"}
	var err error
	if p.set {
		c.Sharding.Shards = 4
		_, err = settest.BuildShards(p.t.Context(), keys, path, c)
	} else {
		var set *bloomery.Set
		if set, err = bloomery.Build(p.t.Context(), keys, c); err == nil {
			err = set.Save(p.t.Context(), path)
		}
	}
	must(p.t, err)
	r, err := Publish(p.t.Context(), dir, path, Options{Sign: []PrivateKey{key}, Name: filepath.Base(dir), Keep: 4,
		Now: p.now()})
	must(p.t, err)
	return r
}

// next publishes the next release of the list.
func (p *proxied) next() {
	p.newest++
	r := p.publish(p.own, int(p.newest), p.key).Release
	text, err := os.ReadFile(filepath.Join(p.own, ReleaseName))
	if err != nil || r.Number != p.newest {
		p.t.Fatalf("release %d: %v", r.Number, err)
	}
	p.mu.Lock()
	p.texts = append(p.texts, text)
	p.mu.Unlock()
	p.numbers[r.SHA256], p.expires[r.Number] = r.Number, r.Expires
	if p.content[r.Number], err = os.ReadFile(filepath.Join(p.own, ObjectsName, r.SHA256.String())); err != nil {
		p.t.Fatal(err)
	}
}

// held returns the number of the release whose content equals the file.
func (p *proxied) held(path string) (uint64, error) {
	main := path
	if p.set {
		main = filepath.Join(path, shard.ManifestName)
	}
	b, err := os.ReadFile(main)
	if err != nil {
		return 0, err
	}
	n, ok := p.numbers[sha256.Sum256(b)]
	if !ok || !bytes.Equal(b, p.content[n]) {
		return 0, fmt.Errorf("%s is no release of the list: %d bytes", main, len(b))
	}
	if !p.set {
		return n, nil
	}
	m, err := shard.ReadManifest(bytes.NewReader(b))
	if err != nil {
		return 0, err
	}
	for _, e := range m.Shards {
		b, err := os.ReadFile(filepath.Join(path, e.File))
		if err == nil {
			err = object{e.SHA256, e.Bytes}.matches(b)
		}
		if err != nil {
			return 0, fmt.Errorf("release %d: %s: %w", n, e.File, err)
		}
	}
	return n, nil
}

// TestTrialProxy follows a list through a proxy that cuts, stalls, redirects, replays, and mixes releases and lists.
// After each poll the file must equal a release of the list and must not be older than before. Within the stated time,
// the Live must report each stall as an error or as the reason why a delta was not used. When the clock passes the
// expiry, this must be reported within seconds, even while the proxy does not answer.
func TestTrialProxy(t *testing.T) {
	polls := 60
	if *longTrial {
		polls = 1000
	}
	for _, set := range []bool{false, true} {
		t.Run(fmt.Sprint("set=", set), func(t *testing.T) {
			t.Parallel() // it mostly waits
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			dir := t.TempDir()
			p := &proxied{t: t, set: set, key: testKey(t, "A"), numbers: map[shard.Sum]uint64{},
				content: map[uint64][]byte{}, expires: map[uint64]time.Time{}, evil: &evil{own: filepath.Join(dir, "list"),
					other: filepath.Join(dir, "other"), stranger: filepath.Join(dir, "stranger"),
					rand: rand.New(rand.NewPCG(seed, 1)), served: map[string]int{}, mode: honest}}
			p.publish(p.other, 1, p.key)
			p.publish(p.stranger, 1, testKey(t, "I"))
			p.next()
			p.follow(polls)
		})
	}
}

// follow follows the list for the given number of polls, and then up to the newest release.
func (p *proxied) follow(polls int) {
	t := p.t
	web := httptest.NewServer(p)
	defer web.Close()
	const stall = 50 * time.Millisecond
	const slack = 15 * time.Second // slack for a slow machine
	file := filepath.Join(t.TempDir(), "f")
	var live atomic.Pointer[bloomery.Live]
	ended := make(chan struct{})
	var (
		done, updates, failures, expiries int
		last                              uint64
		told                              = time.Now()
		freezes                           time.Time // when the clock passed the expiry, or zero
	)
	check := func(e Event) {
		l := live.Load()
		if l == nil || done > polls {
			return
		}
		n, err := p.held(file)
		if err != nil || n < last {
			t.Errorf("poll %d: release %d after %d: %v; event %v", done, n, last, err, e)
		}
		last = n
		took := time.Since(told)
		told = time.Now()
		if took > 2*stall+slack {
			t.Errorf("poll %d took %v: %v", done, took, e)
		}
		p.mu.Lock()
		stalls := p.stalls
		p.stalls = 0
		p.mu.Unlock()
		seen := false
		switch e.Kind {
		case Failed:
			failures++
			seen = l.Err() != nil && errors.Is(l.Err(), e.Err)
		case Updated:
			updates++
			seen = e.Unused != nil
		case Expired:
			if !errors.Is(l.Err(), ErrExpired) {
				t.Errorf("poll %d: expired, and Err is %v", done, l.Err())
			}
			if p.now().Before(p.expires[n]) {
				t.Errorf("poll %d: release %d is good until %v", done, n, p.expires[n])
			}
			if freezes.IsZero() {
				return // the error of a replay, until the next release arrives
			}
			if late := time.Since(freezes); late > lookEvery+slack {
				t.Errorf("poll %d: expired, seen after %v", done, late)
			}
			expiries++
			freezes = time.Time{}
			p.next() // with a new expiry
			p.behave(faulty)
			return
		}
		if stalls > 0 && !seen {
			t.Errorf("poll %d: %d stalls that nobody sees: %v, %v", done, stalls, e, l.Err())
		}
		switch done++; {
		case done > polls:
			close(ended)
		case done == polls:
			p.behave(honest)
		case !freezes.IsZero():
			done-- // until the expiry is reported
		case done%250 == 30:
			freezes = time.Now()
			p.shift.Add(int64(DefaultLifetime) + int64(time.Hour))
			p.behave(silent)
		case done%3 == 0:
			p.next()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, err := Follow(ctx, web.URL, file, WithKeys(p.key.Public()), WithInterval(time.Millisecond), OnEvent(check),
		WithTransport(transport.Config{Stall: stall, Answer: stall}), func(o *followOptions) { o.now = p.now })
	must(t, err)
	live.Store(l)
	p.behave(faulty)
	select {
	case <-ended:
	case <-time.After(time.Duration(polls) * time.Second):
		t.Error("it does not end")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if n, err := p.held(file); err != nil || n != p.newest {
		t.Errorf("release %d at the end, want %d: %v", n, p.newest, err)
	}
	t.Logf("%d polls: %d updates, %d failures, %d expiries, %d releases; faults %v",
		polls, updates, failures, expiries, p.newest, p.served)
	if updates < polls/20 || failures < polls/5 || expiries == 0 {
		t.Error("the trial has not tried enough")
	}
}

func (e *evil) behave(m conduct) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = m
}
