package s3_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/fakes3"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/publish"
)

// upload builds a set and copies it to a server.
func upload(t *testing.T, f *fakes3.Server, n uint64, c bloomery.Config) *bloomery.Set {
	dir, local := storetest.Build(t, n, c)
	storetest.Copy(t, buckets.Folder(dir), openURL(t, f, "sets/one"))
	f.Counts()
	return local
}

func openSet(t *testing.T, f *fakes3.Server, o buckets.Options) *buckets.Set {
	s, err := buckets.Open(t.Context(), f.Address("sets/one"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestRequests counts the requests of a set of 1,000 shards: two for the manifest, one for each 1,000 objects, and then
// one for each shard or block that a query needs.
func TestRequests(t *testing.T) {
	f := fakes3.New(t)
	local := upload(t, f, 200_000, bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 1000}})
	for _, blocks := range []bool{false, true} {
		s := openSet(t, f, buckets.Options{Blocks: blocks, CacheDir: t.TempDir()})
		if n, _ := f.Counts(); n["HEAD"] != 1 || n["GET"] != 1 || n["LIST"] != 1 {
			t.Errorf("Open: %v", n)
		}
		storetest.Compare(t, s, local, 0, 1, 1)
		storetest.Compare(t, s, local, 0, 1, 1)
		n, sent := f.Counts()
		if want := 1; !blocks && (n["GET"] != want || sent != int64(local.Manifest().Shards[0].Bytes) && sent > 2000) {
			t.Errorf("a query: %v, %d bytes", n, sent)
		}
		if blocks && (n["GET"] != 2 || sent > 768+64) {
			t.Errorf("a query with Blocks: %v, %d bytes", n, sent)
		}
		if _, err := s.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		if n, _ := f.Counts(); n["HEAD"] != 1 || len(n) != 1 {
			t.Errorf("Refresh: %v", n)
		}
	}
}

// TestSetFaults queries from many goroutines with a cache for three of 16 shards, while responses are cut off, late, or
// errors.
func TestSetFaults(t *testing.T) {
	for _, blocks := range []bool{false, true} {
		f := fakes3.New(t)
		local := upload(t, f, 40_000, bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 16}})
		s := openSet(t, f, buckets.Options{
			Blocks: blocks, CacheBytes: int64(local.Manifest().Bytes())/16*3 + 3000, BlockCacheBytes: 30_000,
		})
		var n atomic.Int32
		f.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
			switch n.Add(1) % 20 {
			case 3:
				time.Sleep(3 * time.Millisecond)
			case 7:
				fakes3.Fail(w, http.StatusForbidden, "AccessDenied") // not repeated
				return true
			case 11:
				fakes3.Fail(w, http.StatusNotFound, "NoSuchKey")
				return true
			}
			return false
		}, func(r *http.Request) int {
			if n.Load()%9 == 4 {
				return 20
			}
			return -1
		})
		unknown := storetest.Compare(t, s, local, 38_000, 3000, 8)
		if unknown == 0 || s.Err() == nil {
			t.Errorf("%d unknown, %v: no faults?", unknown, s.Err())
		}
		f.Fault(nil, nil)
		if n := storetest.Compare(t, s, local, 39_500, 1000, 8); n != 0 {
			t.Errorf("%d unknown after the faults: %v", n, s.Err())
		}
	}
}

// TestStalled checks that a query ends after Timeout if the server sends no response or half of one. Close must also
// end such queries.
func TestStalled(t *testing.T) {
	for _, blocks := range []bool{false, true} {
		f := fakes3.New(t)
		local := upload(t, f, 40_000, bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 2}})
		var half atomic.Bool
		stall := func(w http.ResponseWriter, r *http.Request) bool {
			if half.Load() {
				w.Header().Set("Content-Length", "100000")
				_, _ = w.Write(make([]byte, 100))
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
			return true
		}
		s := openSet(t, f, buckets.Options{Blocks: blocks, Timeout: 200 * time.Millisecond})
		f.Fault(stall, nil)
		for _, h := range []bool{false, true} {
			half.Store(h)
			yes, err := s.ContainsContext(t.Context(), storetest.Key(50_000))
			if !yes || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, %v", yes, err)
			}
		}
		f.Fault(nil, nil)
		if n := storetest.Compare(t, s, local, 39_900, 200, 2); n != 0 {
			t.Errorf("%d unknown: %v", n, s.Err())
		}
		s = openSet(t, f, buckets.Options{Blocks: blocks})
		f.Fault(stall, nil)
		time.AfterFunc(50*time.Millisecond, func() { _ = s.Close() })
		yes, err := s.ContainsContext(t.Context(), storetest.Key(50_000))
		if !yes || !errors.Is(err, buckets.ErrClosed) {
			t.Errorf("%v, %v", yes, err)
		}
	}
}

// TestReplaced replaces shards after Open by others of the same size. Until Refresh, the new shards must never be read,
// even if a response is cut off during the replacement.
func TestReplaced(t *testing.T) {
	for _, blocks := range []bool{false, true} {
		f := fakes3.New(t)
		local := upload(t, f, 40_000, bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 4}})
		s := openSet(t, f, buckets.Options{Blocks: blocks})
		for _, e := range local.Manifest().Shards {
			f.Change("sets/one/"+e.File, func(b []byte) []byte { clear(b[len(b)/2:]); return b })
		}
		for i := range uint64(20) {
			yes, err := s.ContainsContext(t.Context(), storetest.Key(i))
			if !yes || err == nil || !strings.Contains(err.Error(), "Refresh") {
				t.Fatalf("%v, %v", yes, err)
			}
		}
		for _, e := range local.Manifest().Shards {
			f.Change("sets/one/"+e.File, func([]byte) []byte { return nil })
		}
		if yes, err := s.ContainsContext(t.Context(), storetest.Key(1)); !yes || err == nil {
			t.Errorf("removed shards: %v, %v", yes, err)
		}
	}
}

// TestFollow follows a published filter in a bucket. It must load the whole file first, send one request without a
// response body if nothing has changed, and load a delta after a change.
func TestFollow(t *testing.T) {
	f := fakes3.New(t)
	dir := filepath.Join(t.TempDir(), "list")
	release := func(key string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "f.bloom")
		keys := slices.Values([]string{key})
		set, err := bloomery.Build(t.Context(), keys, bloomery.Config{Spec: "standard(bytes=100000)"})
		if err == nil {
			err = set.Save(t.Context(), path)
		}
		if err == nil {
			_, err = publish.Publish(t.Context(), dir, path, publish.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		storetest.Copy(t, buckets.Folder(dir), openURL(t, f, "list"))
		f.Counts()
	}
	release("one")
	address := f.Address("list")
	file := filepath.Join(t.TempDir(), "f.bloom")
	follower, err := publish.NewFollower("", file, publish.WithInsecure(),
		publish.WithSource(buckets.Published(openURL(t, f, "list"), address)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"updated", "unchanged", "delta"} {
		if want == "delta" {
			release("two")
		}
		e, err := follower.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n, bytes := f.Counts()
		if (e.Kind == publish.Updated) != (want != "unchanged") || e.Delta != (want == "delta") {
			t.Errorf("%s: %v", want, e)
		}
		if want == "unchanged" && (n["HEAD"] != 1 || n["GET"] != 0 || bytes != 0) {
			t.Errorf("unchanged: %v, %d bytes", n, bytes)
		}
	}
	live, err := buckets.Follow(t.Context(), address, file, publish.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if !live.ContainsString("two") {
		t.Error("the second release")
	}
}

// BenchmarkImitation measures the cost of requests without a network: of opening a set of 1,000 shards, and of querying
// a key whose shard of 1.3 KB or block must be read.
func BenchmarkImitation(b *testing.B) {
	f := fakes3.New(b)
	s, err := buckets.OpenStore(b.Context(), f.Address("sets/one"))
	if err != nil {
		b.Fatal(err)
	}
	dir, _ := storetest.Build(b, 1_000_000, bloomery.Config{Spec: "blocked(bits_per_key=10)",
		Sharding: bloomery.Sharding{Shards: 1000}})
	storetest.Copy(b, buckets.Folder(dir), s)
	for name, o := range map[string]buckets.Options{
		"read=shard": {CacheBytes: 20_000}, "read=block": {Blocks: true, BlockCacheBytes: 1},
	} {
		b.Run("op=open/"+name, func(b *testing.B) {
			for b.Loop() {
				set, err := buckets.Open(b.Context(), f.Address("sets/one"), o)
				if err != nil {
					b.Fatal(err)
				}
				_ = set.Close()
			}
		})
		b.Run("op=contains/"+name, func(b *testing.B) {
			set, err := buckets.Open(b.Context(), f.Address("sets/one"), o)
			if err != nil {
				b.Fatal(err)
			}
			defer set.Close()
			for k := uint64(0); b.Loop(); k++ {
				if _, err := set.ContainsContext(b.Context(), storetest.Key(k)); err != nil {
					b.Fatal(err)
				}
			}
			st := set.Stats()
			b.ReportMetric(float64(st.Bytes)/float64(b.N), "B/key")
		})
	}
}
