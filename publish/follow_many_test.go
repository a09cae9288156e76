package publish

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
)

var longTrial = flag.Bool("long", false, "200 followers with a filter of 2 million keys, and limits of time")

// TestManyFollowers runs many followers of one publisher, each with its own file, over HTTP. All of them must get each
// new release; the bytes of all bodies must be at most 1.05 times their deltas, and 0 without a release. The followers
// must not poll at the same moment.
func TestManyFollowers(t *testing.T) {
	many, keys, interval := 20, 2_000_000, 300*time.Millisecond
	switch {
	case *longTrial:
		many, interval = 200, 10*time.Second
	case testing.Short():
		many = 5
	}
	dir := t.TempDir()
	versions := make([][]byte, 2)
	for v := range versions {
		versions[v] = filterOf(t, keys, v)
		write(t, filepath.Join(dir, fmt.Sprint(v)), versions[v], 0o666)
	}
	s := newSite(t)
	// A follower keeps the validators of a release.json that is older than 2 s. Then it loads each release.json only
	// once. Instead of waiting, the test sets the time of the file back before a request sees it.
	var publishing sync.RWMutex
	publish := func(v int) Report {
		publishing.Lock()
		defer publishing.Unlock()
		r, err := Publish(t.Context(), s.dir, filepath.Join(dir, fmt.Sprint(v)), Options{Sign: s.keys, Name: "list"})
		if err == nil {
			past := time.Now().Add(time.Duration(v-10) * time.Second)
			err = os.Chtimes(filepath.Join(s.dir, "release.json"), past, past)
		}
		must(t, err)
		return r
	}
	publish(0)
	web := s.serve()
	const bins = 10
	var asked [bins]atomic.Int64
	start := time.Now()
	web.hook(func(_ http.ResponseWriter, _ *http.Request) bool {
		asked[int(time.Since(start)*bins/interval)%bins].Add(1)
		publishing.RLock() // wait for a release that is being published
		defer publishing.RUnlock()
		return false
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running, ready, current sync.WaitGroup
	var deltas atomic.Int64
	last := make(chan time.Time, many)
	ready.Add(many)
	current.Add(many)
	followers := make([]*Follower, many)
	for i := range followers {
		file := filepath.Join(dir, fmt.Sprintf("f%d.bloom", i))
		write(t, file, versions[0], 0o666)
		f := newFollower(t, web.URL, file, WithKeys(s.keys[0].Public()), WithInterval(interval))
		var once sync.Once
		f.options.notify = func(e Event) {
			switch e.Kind {
			case Unchanged:
				once.Do(ready.Done)
			case Updated:
				if e.Delta {
					deltas.Add(1)
				}
				last <- time.Now()
				current.Done()
			default:
				t.Error(e)
			}
		}
		followers[i] = f
		running.Go(func() { _ = f.Run(ctx) })
	}
	ready.Wait()
	time.Sleep(interval) // so that their polls are spread
	for i := range asked {
		asked[i].Store(0)
	}
	loaded := -web.bytes.Load()
	time.Sleep(interval)
	if loaded += web.bytes.Load(); loaded > 0 {
		t.Errorf("%d bytes in an interval without a new release", loaded)
	}
	var most int64
	for i := range asked {
		most = max(most, asked[i].Load())
	}
	before := web.bytes.Load()
	r := publish(1)
	published := time.Now()
	current.Wait()
	loaded = web.bytes.Load() - before
	var slowest time.Duration
	for range many {
		slowest = max(slowest, (<-last).Sub(published))
	}
	cancel()
	running.Wait()
	d := int64(r.record.Previous.Delta.Bytes)
	ratio := float64(loaded) / float64(int64(many)*d)
	t.Logf("%d followers, interval %v: all current after %v; %d bytes, %.4f of %d deltas of %d bytes "+
		"(release.json: %d); at most %d requests in a tenth of an interval",
		many, interval, slowest, loaded, ratio, many, d, len(s.text()), most)
	if deltas.Load() != int64(many) || ratio > 1.05 {
		t.Errorf("%d deltas of %d, %.4f of their bytes", deltas.Load(), many, ratio)
	}
	for _, f := range followers {
		if got, err := os.ReadFile(f.file); err != nil || !bytes.Equal(got, versions[1]) {
			t.Errorf("%s: another file, %v", f.file, err)
		}
	}
	if *longTrial && (slowest > interval+5*time.Second || most > int64(many)/4) {
		t.Errorf("the last one after %v; %d requests in a tenth of an interval", slowest, most)
	}
	set, err := bloomery.Open(t.Context(), followers[0].file)
	must(t, err)
	_ = set.Close()
}
