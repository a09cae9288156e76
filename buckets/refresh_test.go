package buckets_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestRefresh repeatedly replaces the set by one with more keys while queries run. Keys of the first set must always be
// present, and after Refresh also the keys of the new set.
func TestRefresh(t *testing.T) {
	build := func(n uint64, seed uint64) string {
		dir, _ := storetest.Build(t, n, bloomery.Config{Spec: "blocked(bits_per_key=10)",
			Sharding: bloomery.Sharding{Shards: 8}, Hashing: bloomery.Hashing{Seed: seed}})
		return dir
	}
	dir := t.TempDir()
	install := func(from string, n int) { t.Helper(); install(t, from, dir, n) }
	install(build(2000, 0), 0)
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
		install(build(2000+uint64(n)*100, 0), n)
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
	install(build(2000, 9), 6)
	if _, err := s.Refresh(t.Context()); !errors.Is(err, filter.ErrMismatch) {
		t.Errorf("another seed: %v", err)
	}
	if s.Len() != 2500 {
		t.Errorf("%d keys after a failed Refresh", s.Len())
	}
}

// TestRefreshMeanwhile replaces the set and removes an old shard while a query waits for the shard. The new set must
// answer the query.
func TestRefreshMeanwhile(t *testing.T) {
	c := bloomery.Config{Spec: "blocked(bits_per_key=10)", Sharding: bloomery.Sharding{Shards: 8}}
	old, _ := storetest.Build(t, 2000, c)
	renewed, _ := storetest.Build(t, 2500, c)
	dir := t.TempDir()
	install(t, old, dir, 0)
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
		install(t, renewed, dir, 1)
		if changed, err := s.Refresh(t.Context()); !changed || err != nil {
			t.Errorf("%v, %v", changed, err)
		}
		close(f.Block)
		wg.Wait()
		install(t, old, dir, 0)
	}
}

// install writes the set in the folder from into dir, its files with a suffix of n, and then removes the files of n-1.
func install(t *testing.T, from, dir string, n int) {
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
		m.Shards[i].File = shardset.Name(i, len(m.Shards), suffix)
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
