//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/delta"
	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/publish"
	"github.com/bloomery/bloomery/shard"
)

// trialSite publishes releases and serves them slowly and unreliably.
type trialSite struct {
	t        *testing.T
	dir      string
	shards   int // 0: a filter file; exactSite: an exact set
	set      *exact.Set
	key      publish.PrivateKey
	mu       sync.Mutex
	releases map[shard.Sum]uint64 // the numbers of all published releases, by the hash of the file or manifest
	newest   uint64
}

func newTrialSite(t *testing.T, shards int) *trialSite {
	key, err := publish.NewKey()
	must(t, err)
	return &trialSite{t: t, dir: filepath.Join(t.TempDir(), "list"), shards: shards, key: key,
		releases: map[shard.Sum]uint64{}}
}

// publish publishes the next release.
func (s *trialSite) publish() error {
	ctx := context.Background()
	path := filepath.Join(s.t.TempDir(), "next")
	keys := func(yield func(string) bool) {
		for i := range 50000 {
			key := fmt.Sprint("key-", i)
			if i < 100 {
				key = fmt.Sprintf("release-%d-%d", s.newest+1, i)
			}
			if !yield(key) {
				return
			}
		}
	}
	var err error
	if c := (bloomery.Config{Spec: "standard(bytes=65536)",
		Sharding: bloomery.Sharding{Shards: s.shards}}); s.shards == exactSite {
		err = s.saveExact(ctx, path)
	} else if s.shards > 0 {
		_, err = settest.BuildShards(ctx, keys, path, c)
	} else {
		var set *bloomery.Set
		if set, err = bloomery.Build(ctx, keys, c); err == nil {
			err = set.Save(ctx, path)
		}
	}
	if err != nil {
		return err
	}
	s.mu.Lock() // a follower may see the release before Publish returns
	defer s.mu.Unlock()
	r, err := publish.Publish(ctx, s.dir, path, publish.Options{Sign: []publish.PrivateKey{s.key}, Keep: 3})
	if err != nil {
		return err
	}
	s.releases[r.Release.SHA256], s.newest = r.Release.Number, r.Release.Number
	return os.RemoveAll(path)
}

// exactSite is the number of shards of a site that publishes an exact set.
const exactSite = -1

// saveExact writes the next exact set: an update of the set before, or every fifth time a new build.
func (s *trialSite) saveExact(ctx context.Context, path string) (err error) {
	keys := func(from, to uint64) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for i := from; i < to && yield(fmt.Append(nil, "key-", i)); i++ {
			}
		}
	}
	members, universe := keys(10*s.newest, 10*s.newest+3000), keys(0, 20_000)
	if s.newest%5 == 0 {
		s.set = nil
	}
	if s.set, err = exact.Build(ctx, members, universe, exact.Config{Base: s.set}); err == nil {
		err = s.set.Save(ctx, path)
	}
	return err
}

// ServeHTTP serves the site slowly. A third of the deltas are missing, so that whole files are loaded as well.
func (s *trialSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b, err := os.ReadFile(filepath.Join(s.dir, r.URL.Path)); err == nil && rand.IntN(3) == 0 {
		if _, err := delta.Read(b); err == nil {
			http.NotFound(w, r)
			return
		}
	}
	http.FileServer(http.Dir(s.dir)).ServeHTTP(slow{w}, r)
}

type slow struct{ http.ResponseWriter }

func (s slow) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		var one int
		one, err = s.ResponseWriter.Write(b[:min(len(b), 8<<10)])
		time.Sleep(time.Millisecond)
		n, b = n+one, b[one:]
	}
	return n, err
}

// held returns the number of the release in a file or folder. The release must have been published and be complete.
func (s *trialSite) held(path string) (uint64, error) {
	manifest := path
	if s.shards > 0 {
		manifest = filepath.Join(path, shard.ManifestName)
	}
	b, err := os.ReadFile(manifest)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	n, ok := s.releases[sha256.Sum256(b)]
	s.mu.Unlock()
	if !ok {
		return 0, fmt.Errorf("%s is no release that was published: %d bytes", path, len(b))
	}
	if s.shards == exactSite {
		set, err := exact.FromBytes(b)
		if err == nil && !set.Contains(fmt.Append(nil, "key-", 10*n+2980)) {
			err = fmt.Errorf("release %d lacks its members", n)
		}
		return n, err
	}
	set, err := bloomery.Open(context.Background(), path)
	if err != nil {
		return 0, err
	}
	defer set.Close()
	if !set.ContainsString(fmt.Sprintf("release-%d-7", n)) {
		return 0, fmt.Errorf("release %d lacks its keys", n)
	}
	return n, set.Check(context.Background(), nil)
}

// TestTrialKillFollow kills followers at random moments while a publisher continues. The file must always be a complete
// release and never older than before. A last run must load the newest release and leave no other files.
func TestTrialKillFollow(t *testing.T) {
	want := 7 // kills of a follower that had not ended
	if *long {
		want = 100
	}
	for _, shards := range []int{0, 4, exactSite} {
		t.Run(fmt.Sprint(shards, " shards"), func(t *testing.T) {
			s := newTrialSite(t, shards)
			must(t, s.publish())
			web := httptest.NewServer(s)
			defer web.Close()
			stop, done := make(chan struct{}), make(chan error, 1)
			go func() {
				for {
					select {
					case <-stop:
						done <- nil
						return
					case <-time.After(20 * time.Millisecond):
					}
					if err := s.publish(); err != nil {
						done <- err
						return
					}
				}
			}()
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			last, kills, steps := uint64(0), 0, 0
			for round := 0; kills < want; round++ {
				if round > 10*want {
					t.Fatalf("%d kills in %d rounds", kills, round)
				}
				args := []string{"follow", web.URL, "-o", path, "--key", s.key.Public().String(), "--interval", "20ms"}
				if round%3 == 0 {
					args = append(args, "--once")
				}
				if killed(t, program("", args...), 250*time.Millisecond, true) {
					kills++
				}
				now, err := s.held(path)
				if err != nil || now < last {
					t.Fatalf("kill %d: release %d after %d: %v", round, now, last, err)
				}
				if now > last {
					steps++
				}
				last = now
			}
			close(stop)
			must(t, <-done)
			if out, err := program("", "follow", web.URL, "-o", path, "--key", s.key.Public().String(), "--once").
				CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if now, err := s.held(path); err != nil || now != s.newest {
				t.Errorf("release %d at the end, want %d: %v", now, s.newest, err)
			}
			if left := entriesOf(t, dir); len(left) != 3 {
				t.Errorf("left behind: %q", left)
			}
			if shards > 0 {
				if left := entriesOf(t, path); len(left) != shards+1 {
					t.Errorf("left behind: %q", left)
				}
			}
			t.Logf("%d releases, %d kills, %d times a newer release after a round", s.newest, kills, steps)
		})
	}
}

// TestTrialFullDiskFollow follows with too little disk space. The old file must remain, with exit code 2 and a message
// that names the cause.
func TestTrialFullDiskFollow(t *testing.T) {
	for _, shards := range []int{0, 4} {
		s := newTrialSite(t, shards)
		must(t, s.publish())
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		args := []string{"follow", s.dir, "-o", path, "--once"}
		mustProgram(t, "", args...)
		for range 2 { // the delta from the first release is missing at times
			must(t, s.publish())
		}
		for _, limit := range []int{0, 100, 1000, 10000} {
			out, err := limited(t, limit, change{args, ""})
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != exitError || !strings.Contains(out, "file too large") {
				t.Errorf("%d bytes: %v, %s", limit, err, out)
			}
			if now, err := s.held(path); now != 1 || err != nil {
				t.Errorf("%d bytes: release %d, %v", limit, now, err)
			}
		}
		if out, err := program("", args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if now, err := s.held(path); now != 3 || err != nil {
			t.Errorf("with room: release %d, %v", now, err)
		}
	}
}
