package buckets_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

const keys = 40_000

// caches are the options of a cache in memory and in a folder, for that number of bytes.
func caches(t *testing.T, bytes int64) map[string]buckets.Options {
	return map[string]buckets.Options{
		"memory": {CacheBytes: bytes},
		"folder": {CacheBytes: bytes, CacheDir: filepath.Join(t.TempDir(), "cache")},
	}
}

func openSet(t *testing.T, s buckets.Store, o buckets.Options) *buckets.Set {
	t.Helper()
	set, err := buckets.OpenSet(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	return set
}

// TestSet compares all answers with those of the local folder, with a cache of all shards and of three.
func TestSet(t *testing.T) {
	secret := bloomery.NewSecret()
	for _, c := range []bloomery.Config{
		{Spec: "blocked(fpr=0.01)", Shards: 16, Seed: 7},
		{Spec: "fuse(width=8)", Shards: 16, Secret: secret},
		{Spec: "ribbon(fpr=0.003)", Shards: 16},
		{Spec: "standard(bits_per_key=8)", Shards: 1},
	} {
		dir, local := storetest.Build(t, keys, c)
		m := local.Manifest()
		for name, o := range caches(t, int64(m.Bytes())/int64(c.Shards)*3+3000) {
			o.Secret = c.Secret
			s, err := buckets.Open(t.Context(), "file://"+dir, o)
			if err != nil {
				t.Fatal(err)
			}
			if n := storetest.Compare(t, s, local, keys-500, 1000, 1); n != 0 || s.Err() != nil {
				t.Errorf("%s, %s: %d answers unknown: %v", c.Spec, name, n, s.Err())
			}
			st := s.Stats()
			if st.CacheBytes > o.CacheBytes || st.Hits == 0 || (st.Evictions == 0) != (c.Shards == 1) ||
				st.Bytes == 0 || st.Fetches != st.Misses {
				t.Errorf("%s, %s: %+v", c.Spec, name, st)
			}
			want, got := local.Info(), s.Info()
			if got.Keys != want.Keys || got.FPRPrior != want.FPRPrior || got.FPRPosterior != want.FPRPosterior ||
				got.FPRChosen != want.FPRChosen || s.Len() != keys {
				t.Errorf("%s: %+v, want %+v", c.Spec, got, want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if yes, err := s.ContainsContext(t.Context(), storetest.Key(keys+1)); !yes || !errors.Is(err, buckets.ErrClosed) {
				t.Errorf("after Close: %v, %v", yes, err)
			}
		}
	}
}

// TestFaults asks from many goroutines, with room for three shards, while a third of the reads fail or are damaged.
func TestFaults(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 16})
	bytes := int64(local.Manifest().Bytes()) / 16 * 3
	for name, o := range caches(t, bytes+3000) {
		t.Run(name, func(t *testing.T) {
			f := &storetest.Faulty{Store: buckets.Folder(dir), Refuse: 0.1, Cut: 0.15, Flip: 0.1, Slow: 0.1}
			f.Off.Store(true)
			s := openSet(t, f, o)
			f.Off.Store(false)
			defer watch(t, s, o.CacheBytes)()
			unknown := storetest.Compare(t, s, local, keys-3000, 6000, 16)
			st := s.Stats()
			if unknown == 0 || s.Err() == nil || st.Evictions < 10 || st.Failures == 0 || st.CacheBytes > o.CacheBytes {
				t.Errorf("%d unknown, %v, %+v: no faults?", unknown, s.Err(), st)
			}
			f.Off.Store(true)
			if n := storetest.Compare(t, s, local, keys-500, 1000, 4); n != 0 {
				t.Errorf("%d unknown after the faults: %v", n, s.Err())
			}
		})
	}
}

// TestMapped has shards that are large enough to be mapped, and room for two of four: none is unmapped while it is
// read.
func TestMapped(t *testing.T) {
	const n = 3_800_000
	dir, local := storetest.Build(t, n, bloomery.Config{Spec: "blocked(bits_per_key=10)", Shards: 4})
	if local.Manifest().Shards[0].Bytes < 1<<20 {
		t.Fatal("the shards are too small")
	}
	o := buckets.Options{CacheDir: t.TempDir(), CacheBytes: 2_500_000}
	s := openSet(t, buckets.Folder(dir), o)
	defer watch(t, s, o.CacheBytes)()
	if unknown := storetest.Compare(t, s, local, n-700, 1400, 8); unknown != 0 || s.Err() != nil {
		t.Errorf("%d unknown: %v", unknown, s.Err())
	}
	if st := s.Stats(); st.Evictions < 20 {
		t.Errorf("%+v", st)
	}
}

// watch looks at the size of the cache until stop is called.
func watch(t *testing.T, s *buckets.Set, limit int64) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for most := limit; ; time.Sleep(100 * time.Microsecond) {
			if n := s.Stats().CacheBytes; n > most {
				t.Errorf("the cache has %d bytes, over its limit of %d", n, limit)
				most = n
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// TestFetchOnce starts many queries for one shard: it is fetched once. One of them gives up; the others go on.
func TestFetchOnce(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 1})
	f := &storetest.Faulty{Store: buckets.Folder(dir)}
	s := openSet(t, f, buckets.Options{})
	f.Block = make(chan struct{})
	f.Opens.Store(0)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if yes, err := s.ContainsContext(ctx, storetest.Key(keys+1)); !yes || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", yes, err)
		}
	})
	for f.Opens.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		wg.Go(func() { storetest.Compare(t, s, local, keys-5, 10, 1) })
	}
	for s.Stats().Misses < 21 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	close(f.Block)
	wg.Wait()
	if n := f.Opens.Load(); n != 1 || s.Err() != nil {
		t.Errorf("fetched %d times, %v", n, s.Err())
	}
}

// TestAbandoned cancels the only query that waits, and then asks again.
func TestAbandoned(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 1})
	f := &storetest.Faulty{Store: buckets.Folder(dir)}
	s := openSet(t, f, buckets.Options{})
	f.Block = make(chan struct{})
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if yes, err := s.ContainsContext(ctx, storetest.Key(1)); !yes || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", yes, err)
		}
		cancel()
	}
	if s.Err() != nil {
		t.Errorf("the end of the context of a query: %v", s.Err())
	}
	short := openSet(t, f, buckets.Options{Timeout: 50 * time.Millisecond})
	if !short.Contains(storetest.Key(keys+1)) || !errors.Is(short.Err(), context.DeadlineExceeded) {
		t.Errorf("after Timeout: %v", short.Err())
	}
	close(f.Block)
	storetest.Compare(t, s, local, keys-5, 10, 1)
}

// TestClose closes a set while queries wait for a shard that does not come.
func TestClose(t *testing.T) {
	dir, _ := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 4})
	for _, o := range []buckets.Options{{}, {Blocks: true}, {CacheDir: t.TempDir()}} {
		f := &storetest.Faulty{Store: buckets.Folder(dir)}
		s := openSet(t, f, o)
		f.Block = make(chan struct{})
		f.Opens.Store(0)
		var wg sync.WaitGroup
		for i := range uint64(20) {
			wg.Go(func() {
				if yes, err := s.ContainsContext(t.Context(), storetest.Key(i)); !yes || !errors.Is(err, buckets.ErrClosed) {
					t.Errorf("%v, %v", yes, err)
				}
			})
		}
		for f.Opens.Load() < 4 {
			time.Sleep(time.Millisecond)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

// TestRestart opens a cache folder again: nothing is fetched, except what was damaged meanwhile. Files that do not
// belong there are removed, others stay.
func TestRestart(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 16})
	o := buckets.Options{CacheDir: t.TempDir()}
	s := openSet(t, buckets.Folder(dir), o)
	storetest.Compare(t, s, local, 0, 2000, 1)
	_, err := buckets.OpenSet(t.Context(), buckets.Folder(dir), o)
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second Set with the folder: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(o.CacheDir, "*.bloom"))
	if err != nil || len(files) != 16 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	damage(t, files[3], func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	damage(t, files[4], func(b []byte) []byte { return b[:len(b)-1] })
	stray := filepath.Join(o.CacheDir, strings.Repeat("0", 64)+".bloom")
	temporary := filepath.Join(o.CacheDir, "."+filepath.Base(files[5])+".tmp-0123456789abcdef")
	other := filepath.Join(o.CacheDir, "notes.txt")
	for _, path := range []string{stray, temporary, other} {
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s = openSet(t, buckets.Folder(dir), o)
	storetest.Compare(t, s, local, keys-1000, 2000, 4)
	if st := s.Stats(); st.Fetches != 2 || s.Err() != nil {
		t.Errorf("%+v, %v", st, s.Err())
	}
	for path, stays := range map[string]bool{stray: false, temporary: false, other: true} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o.CacheBytes = int64(local.Manifest().Bytes() / 4)
	s = openSet(t, buckets.Folder(dir), o)
	if files, _ := filepath.Glob(filepath.Join(o.CacheDir, "*.bloom")); len(files) < 3 || len(files) > 4 {
		t.Errorf("%d files remain in a smaller cache", len(files))
	}
	storetest.Compare(t, s, local, keys-1000, 2000, 4)
}

func damage(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamagedSet damages the set in the bucket in every way: Open or the first use finds it, and names the file.
func TestDamagedSet(t *testing.T) {
	good, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 4})
	other, _ := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 4, Seed: 5})
	name := local.Manifest().Shards[2].File
	for what, c := range map[string]struct {
		change func(dir string)
		open   bool // Open finds it
		want   error
	}{
		"no manifest": {func(d string) { _ = os.Remove(filepath.Join(d, "manifest.json")) }, true, bloomery.ErrNoManifest},
		"missing":     {func(d string) { _ = os.Remove(filepath.Join(d, name)) }, true, fs.ErrNotExist},
		"short": {func(d string) {
			damage(t, filepath.Join(d, name), func(b []byte) []byte { return b[:len(b)-64] })
		}, true, shard.ErrChanged},
		"bit": {func(d string) {
			damage(t, filepath.Join(d, name), func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		}, false, shard.ErrChanged},
		"other manifest": {func(d string) {
			b, _ := os.ReadFile(filepath.Join(other, "manifest.json"))
			damage(t, filepath.Join(d, "manifest.json"), func([]byte) []byte { return b })
		}, true, shard.ErrChanged},
		"no text": {func(d string) {
			damage(t, filepath.Join(d, "manifest.json"), func([]byte) []byte { return []byte("{}") })
		}, true, shard.ErrManifest},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			storetest.Copy(t, buckets.Folder(good), buckets.Folder(dir))
			c.change(dir)
			s, err := buckets.Open(t.Context(), dir, buckets.Options{})
			if (err != nil) != c.open {
				t.Fatalf("Open: %v", err)
			}
			if err == nil {
				defer s.Close()
				for i := range uint64(200) {
					if !s.Contains(storetest.Key(i)) {
						t.Fatalf("key %d is not there", i)
					}
				}
				err = s.Err()
			}
			var named *shard.Error
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), dir) && !errors.As(err, &named) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := buckets.Open(t.Context(), good, buckets.Options{CacheBytes: 100}); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("a cache that no shard fits in: %v", err)
	}
}

// TestForeign has a manifest with the size and SHA-256 of a shard of another seed.
func TestForeign(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "standard(bits_per_key=10)", Shards: 1})
	other, foreign := storetest.Build(t, keys, bloomery.Config{Spec: "standard(bits_per_key=10)", Shards: 1, Seed: 5})
	m := local.Manifest()
	m.Shards[0].SHA256 = foreign.Manifest().Shards[0].SHA256
	b, err := os.ReadFile(filepath.Join(other, m.Shards[0].File))
	if err != nil {
		t.Fatal(err)
	}
	damage(t, filepath.Join(dir, m.Shards[0].File), func([]byte) []byte { return b })
	err = buckets.Folder(dir).Write(t.Context(), shard.ManifestName, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range caches(t, 1<<20) {
		s := openSet(t, buckets.Folder(dir), o)
		if yes, err := s.ContainsContext(t.Context(), storetest.Key(5)); !yes || !errors.Is(err, shard.ErrForeign) {
			t.Errorf("%s: %v, %v", name, yes, err)
		}
	}
}

// TestReplacedShard replaces a shard after Open by one with the same size: it is never read.
func TestReplacedShard(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 4})
	s := openSet(t, buckets.Folder(dir), buckets.Options{})
	for _, e := range local.Manifest().Shards {
		path := filepath.Join(dir, e.File)
		b, err := os.ReadFile(path)
		if err == nil {
			err = errors.Join(os.Remove(path), os.WriteFile(path, b, 0o666))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	yes, err := s.ContainsContext(t.Context(), storetest.Key(keys+5))
	if !yes || !errors.Is(err, buckets.ErrReplaced) || !strings.Contains(err.Error(), "Refresh") {
		t.Errorf("%v, %v", yes, err)
	}
}

// TestRefresh replaces the set again and again, each time with more keys, while others ask: keys of the first set are
// always there, and after Refresh those of the new one.
func TestRefresh(t *testing.T) {
	build := func(n uint64, seed uint64) string {
		dir, _ := storetest.Build(t, n, bloomery.Config{Spec: "blocked(bits_per_key=10)", Shards: 8, Seed: seed})
		return dir
	}
	dir := t.TempDir()
	publish := func(from string, n int) { t.Helper(); publish(t, from, dir, n) }
	publish(build(2000, 0), 0)
	s := openSet(t, buckets.Folder(dir), buckets.Options{CacheBytes: 3000})
	if changed, err := s.Refresh(t.Context()); changed || err != nil {
		t.Errorf("nothing has changed: %v, %v", changed, err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := range uint64(4) {
		wg.Go(func() {
			dst := make([]bool, 50)
			for i := w; ; i += 4 {
				select {
				case <-done:
					return
				default:
				}
				batch := make([][]byte, 50)
				for j := range batch {
					batch[j] = storetest.Key((i*50 + uint64(j)) % 2000)
				}
				s.ContainsMany(dst, batch)
				for j, yes := range dst {
					if !yes || !s.Contains(batch[j]) {
						t.Errorf("key %x is gone", batch[j])
					}
				}
			}
		})
	}
	for n := 1; n <= 5; n++ {
		publish(build(2000+uint64(n)*100, 0), n)
		if changed, err := s.Refresh(t.Context()); !changed || err != nil {
			t.Errorf("%v, %v", changed, err)
		}
		if s.Len() != 2000+uint64(n)*100 || !s.Contains(storetest.Key(s.Len()-1)) {
			t.Errorf("%d keys", s.Len())
		}
	}
	close(done)
	wg.Wait()
	if yes, err := s.ContainsContext(t.Context(), storetest.Key(1<<40)); err != nil {
		t.Errorf("%v, %v", yes, err)
	}
	publish(build(2000, 9), 6)
	if _, err := s.Refresh(t.Context()); !errors.Is(err, filter.ErrMismatch) {
		t.Errorf("another seed: %v", err)
	}
	if s.Len() != 2500 {
		t.Errorf("%d keys after a failed Refresh", s.Len())
	}
}

// TestRefreshMeanwhile replaces the set while a query waits for a shard of the old one, which disappears: the query is
// answered by the new set.
func TestRefreshMeanwhile(t *testing.T) {
	c := bloomery.Config{Spec: "blocked(bits_per_key=10)", Shards: 8}
	old, _ := storetest.Build(t, 2000, c)
	renewed, _ := storetest.Build(t, 2500, c)
	dir := t.TempDir()
	publish(t, old, dir, 0)
	for _, o := range []buckets.Options{{}, {Blocks: true}} {
		f := &storetest.Faulty{Store: buckets.Folder(dir)}
		s := openSet(t, f, o)
		f.Block = make(chan struct{})
		f.Opens.Store(0)
		var wg sync.WaitGroup
		wg.Go(func() {
			if yes, err := s.ContainsContext(t.Context(), storetest.Key(2400)); !yes || err != nil {
				t.Errorf("%v, %v", yes, err)
			}
		})
		wg.Go(func() {
			dst, batch := make([]bool, 100), make([][]byte, 100)
			for i := range batch {
				batch[i] = storetest.Key(2400 + uint64(i))
			}
			if err := s.ContainsManyContext(t.Context(), dst, batch); err != nil || slices.Contains(dst, false) {
				t.Errorf("%v, %v", dst, err)
			}
		})
		for f.Opens.Load() < 8 {
			time.Sleep(time.Millisecond)
		}
		publish(t, renewed, dir, 1)
		if changed, err := s.Refresh(t.Context()); !changed || err != nil {
			t.Errorf("%v, %v", changed, err)
		}
		close(f.Block)
		wg.Wait()
		publish(t, old, dir, 0)
	}
}

// publish writes the set in the folder from into dir, its files with a suffix of n, and then removes the files of n-1.
func publish(t *testing.T, from, dir string, n int) {
	suffix := fmt.Sprintf("r%d", n)
	src := buckets.Folder(from)
	r, err := src.Open(t.Context(), shard.ManifestName, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := shard.ReadManifest(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	to := buckets.Folder(dir)
	for i := range m.Shards {
		b, err := os.ReadFile(filepath.Join(from, m.Shards[i].File))
		if err != nil {
			t.Fatal(err)
		}
		m.Shards[i].File = shard.Name(i, len(m.Shards), suffix)
		storetest.Put(t, to, m.Shards[i].File, string(b))
	}
	err = to.Write(t.Context(), shard.ManifestName, func(w io.Writer) error { _, err := m.WriteTo(w); return err })
	if err != nil {
		t.Fatal(err)
	}
	old, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("*.r%d.bloom", n-1)))
	for _, path := range old {
		_ = os.Remove(path)
	}
}

// TestDownload copies a set into a folder, again over a damaged shard, and refuses a folder with another set. Verify
// finds the damage.
func TestDownload(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 16})
	s := openSet(t, buckets.Folder(dir), buckets.Options{})
	var most atomic.Int64
	if err := s.Verify(t.Context(), func(n int64) { most.Store(max(most.Load(), n)) }); err != nil || most.Load() == 0 {
		t.Errorf("%d bytes, %v", most.Load(), err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	name := local.Manifest().Shards[7].File
	for range 2 {
		if err := s.Download(t.Context(), to, nil); err != nil {
			t.Fatal(err)
		}
		set, err := bloomery.Open(to)
		if err == nil {
			err = errors.Join(set.Check(t.Context(), nil), set.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		damage(t, filepath.Join(to, name), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	}
	damage(t, filepath.Join(dir, name), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	s = openSet(t, buckets.Folder(dir), buckets.Options{})
	var named *shard.Error
	err := s.Verify(t.Context(), nil)
	if !errors.Is(err, shard.ErrChanged) || !errors.As(err, &named) || named.File != name {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := s.Download(t.Context(), other, nil); !errors.Is(err, shard.ErrChanged) {
		t.Error(err)
	}
	if _, err := bloomery.Open(other); !errors.Is(err, bloomery.ErrNoManifest) {
		t.Errorf("a set without a shard opens: %v", err)
	}
	foreign, _ := storetest.Build(t, 100, bloomery.Config{Spec: "blocked(fpr=0.01)", Shards: 2})
	if err := s.Download(t.Context(), foreign, nil); err == nil || !strings.Contains(err.Error(), "another set") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Verify(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
