package main

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
)

// TestLive repeatedly replaces a file while queries run. Every answer must be the answer of one complete file.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.bloom")
	always := words("always ", 2000)
	if err := built(t, always, bloomery.Config{}).Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	live := must(bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(2*time.Millisecond)))(t)
	var stop atomic.Bool
	var missing atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			dst, keys := make([]bool, 100), slicesOf(always[:100])
			for i := 0; !stop.Load(); i++ {
				k := always[i%len(always)]
				live.View(func(s *bloomery.Set) { bloomery.Keyed[[]byte](s).ContainsMany(dst, keys) })
				if !live.ContainsString(k) || !live.Contains([]byte(k)) || !dst[i%100] {
					missing.Add(1)
				}
			}
		})
	}
	for i := range 5 {
		next := built(t, append(words("always ", 2000), words("new ", i+1)...), bloomery.Config{Spec: specs[i%3]})
		if err := next.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(30 * time.Second); live.Swaps() <= uint64(i); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("swap %d does not come: %v", i, live.Err())
			}
		}
		live.View(func(s *bloomery.Set) {
			if !s.Equal(next) {
				t.Errorf("the current set is %v, want %v", s, next)
			}
		})
	}
	live.View(func(s *bloomery.Set) {
		if s.Len() != 2005 || live.Err() != nil {
			t.Errorf("%d keys, %v", s.Len(), live.Err())
		}
	})

	if err := os.WriteFile(path+".bad", []byte("no filter"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".bad", path); err != nil {
		t.Fatal(err)
	}
	if err := live.Reload(t.Context()); err == nil || live.Err() == nil || !live.ContainsString("always 1") {
		t.Errorf("a damaged file: Reload %v, Err %v; the old set must stay", err, live.Err())
	}
	again := must(bloomery.New(bloomery.Config{Spec: "rankindexed(fpr=0.01,counting=1)", Keys: 4000}))(t)
	err := errors.Join(bloomery.Keyed[string](again).AddMany(always), bloomery.Keyed[uint64](again).Add(5))
	err = errors.Join(err, again.Save(t.Context(), path), live.Reload(t.Context()), live.Err())
	if err != nil {
		t.Error(err)
	}
	live.View(func(s *bloomery.Set) {
		if n, _, err := s.Count([]byte("always 1")); n != 1 || err != nil || !bloomery.Keyed[uint64](s).Contains(5) {
			t.Errorf("Count: %d, %v", n, err)
		}
		_, _, err = s.Get([]byte("always 1"))
		unsupported(t, "Get", err, "rankindexed")
	})

	if n := missing.Load(); n > 0 {
		t.Errorf("%d queries missed a key that every file has", n)
	}
	closed := make(chan error, 1)
	live.View(func(s *bloomery.Set) { // a running query, for which Close must wait
		go func() { closed <- live.Close() }()
		for live.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		select {
		case <-closed:
			t.Error("Close did not wait for a query")
		case <-time.After(20 * time.Millisecond):
		}
		if !s.ContainsString("always 1") {
			t.Error("a query in flight has lost its set")
		}
	})
	if err := <-closed; err != nil {
		t.Error(err)
	}
	stop.Store(true)
	wg.Wait()
	if !live.ContainsString("no key at all") || live.Err() == nil || live.Close() != nil {
		t.Error("after Close a key is absent, there is no error, or the second Close fails")
	}
	if err := live.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("Reload after Close: %v", err)
	}
	if _, err := bloomery.OpenLive(t.Context(), filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestUpdater runs a Live with a function that replaces its file.
func TestUpdater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.bloom")
	if err := built(t, words("old ", 10), bloomery.Config{}).Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	next := built(t, words("new ", 10), bloomery.Config{})
	offline, ended := errors.New("offline"), make(chan struct{})
	update := func(ctx context.Context, l *bloomery.Live, report func(error)) {
		defer close(ended)
		if err := errors.Join(next.Save(ctx, path), l.Reload(ctx)); err != nil {
			t.Error(err)
		}
		report(offline)
		<-ctx.Done()
	}
	live := must(bloomery.OpenLive(t.Context(), path, bloomery.WithUpdater(update)))(t)
	for end := time.Now().Add(30 * time.Second); !errors.Is(live.Err(), offline); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no error is reported: %v", live.Err())
		}
	}
	if !live.ContainsString("new 1") {
		t.Error("the new file is not there")
	}
	if err := live.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}
