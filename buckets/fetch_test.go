package buckets_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/buckets"
	"github.com/bloomery/bloomery/buckets/internal/storetest"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/shard"
)

// TestFetchOnce starts many queries for one shard, and checks that it is fetched once. One query gives up; the others
// continue.
func TestFetchOnce(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 1}})
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

// TestAbandoned cancels the only waiting query and then repeats it.
func TestAbandoned(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 1}})
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

// TestClose closes a set while queries wait for a shard that never arrives.
func TestClose(t *testing.T) {
	dir, _ := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)", Sharding: bloomery.Sharding{Shards: 4}})
	for _, o := range []buckets.Options{{}, {Blocks: true}, {CacheDir: t.TempDir()}} {
		f := &storetest.Faulty{Store: buckets.Folder(dir)}
		s := openSet(t, f, o)
		f.Block = make(chan struct{})
		f.Opens.Store(0)
		var wg sync.WaitGroup
		for i := range uint64(20) {
			wg.Go(func() {
				yes, err := s.ContainsContext(t.Context(), storetest.Key(i))
				if !yes || !errors.Is(err, buckets.ErrClosed) {
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

// TestDownload copies a set into a folder, and repeats this after a shard was damaged. Verify must find the damage. A
// folder that contains another set must be refused.
func TestDownload(t *testing.T) {
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 16}})
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
		set, err := bloomery.Open(t.Context(), to)
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
	other := t.TempDir() // a folder that Download makes would be removed if it stays empty
	if err := s.Download(t.Context(), other, nil); !errors.Is(err, shard.ErrChanged) {
		t.Error(err)
	}
	if _, err := bloomery.Open(t.Context(), other); !errors.Is(err, filter.ErrNoManifest) {
		t.Errorf("a set without a shard opens: %v", err)
	}
	foreign, _ := storetest.Build(t, 100, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 2}})
	if err := s.Download(t.Context(), foreign, nil); err == nil || !strings.Contains(err.Error(), "another set") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Verify(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDownloadLock checks that Download refuses a folder that a build has locked, holds the lock while it fetches, and
// removes the files of a killed writer.
func TestDownloadLock(t *testing.T) {
	t.Parallel()
	dir, local := storetest.Build(t, keys, bloomery.Config{Spec: "blocked(fpr=0.01)",
		Sharding: bloomery.Sharding{Shards: 4}})
	f := &storetest.Faulty{Store: buckets.Folder(dir)}
	s := openSet(t, f, buckets.Options{})
	to := t.TempDir()
	build, err := shardset.LockFolder(t.Context(), to, shardset.Locking{Wait: shardset.NoWait})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Download(t.Context(), to, nil); !errors.Is(err, filter.ErrLocked) {
		t.Fatalf("while a build has the folder: %v", err)
	}
	if all, err := os.ReadDir(to); err != nil || len(all) > 0 {
		t.Errorf("%v in the folder of the build, %v", all, err)
	}
	leftover := filepath.Join(to, shardset.Name(1, 3, ""))
	if err := errors.Join(build.Unlock(), os.WriteFile(leftover, []byte("x"), 0o666)); err != nil {
		t.Fatal(err)
	}
	f.Block = make(chan struct{})
	f.Opens.Store(0)
	done := make(chan error)
	go func() { done <- s.Download(t.Context(), to, nil) }()
	for f.Opens.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	folder, err := shardset.LockFolder(t.Context(), to, shardset.Locking{Wait: shardset.NoWait})
	if !errors.Is(err, filter.ErrLocked) {
		t.Errorf("a build begins in the folder of a download: %v", errors.Join(err, folder.Unlock()))
	}
	close(f.Block)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadDir(to)
	if want := len(local.Manifest().Shards) + 1; err != nil || len(all) != want {
		t.Errorf("%d files, want %d, %v", len(all), want, err)
	}
	set, err := bloomery.Open(t.Context(), to)
	if err == nil {
		err = errors.Join(set.Check(t.Context(), nil), set.Close())
	}
	if err != nil {
		t.Error(err)
	}
}
