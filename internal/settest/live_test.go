package settest_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// TestLive replaces files while queries run.
func TestLive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	settest.Large(t, path, 0)
	l, err := bloomery.OpenLive(t.Context(), path, bloomery.WithInterval(time.Millisecond))
	settest.Check(t, err)
	var stop atomic.Bool
	var queries atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			dst := make([]bool, 2)
			for !stop.Load() {
				runtime.Gosched() // on js, goroutines are not preempted
				// Key 999 is in every generation from 0 to 999.
				if !settest.HasUint64(l, 999) {
					t.Error("a key is lost")
					return
				}
				l.View(func(s *bloomery.Set) {
					bloomery.Keyed[[]byte](s).ContainsMany(dst, [][]byte{{231, 3, 0, 0, 0, 0, 0, 0}, nil})
				})
				if !dst[0] {
					t.Error("a batch lost a key")
					return
				}
				queries.Add(1)
			}
		})
	}
	for i := range uint64(20) {
		settest.Large(t, path, i+1)
		settest.Check(t, l.Reload(t.Context()))
		if settest.HasUint64(l, i+1000) != true {
			t.Fatalf("generation %d was not swapped in", i+1)
		}
	}
	if l.Swaps() < 20 || l.Err() != nil || settest.InfoOf(l).Keys != 1000 {
		t.Errorf("%d swaps, %v, %v", l.Swaps(), l.Err(), l)
	}
	// A damaged file must not be swapped in; the next valid one must be.
	settest.Check(t, os.WriteFile(path+".new", []byte("damaged"), 0o600))
	settest.Check(t, container.Rename(path+".new", path))
	err = l.Reload(t.Context())
	if !errors.Is(err, filter.ErrMagic) || !errors.Is(l.Err(), filter.ErrMagic) || !settest.HasUint64(l, 999) {
		t.Errorf("damaged: %v, %v", err, l.Err())
	}
	settest.Check(t, untrusted.WhileBusy(func() error { return os.Remove(path) })) // l may have it open for a moment
	if err := l.Reload(t.Context()); !errors.Is(err, os.ErrNotExist) || !settest.HasUint64(l, 999) {
		t.Errorf("removed: %v", err)
	}
	settest.Large(t, path, 500)
	for end := time.Now().Add(time.Minute); !settest.HasUint64(l, 1499) && time.Now().Before(end); { // by the ticker
		time.Sleep(time.Millisecond)
	}
	if err := l.Err(); err != nil || !settest.HasUint64(l, 1499) {
		t.Errorf("came back: %v", err)
	}
	stop.Store(true)
	wg.Wait()
	if queries.Load() == 0 {
		t.Error("no query ran")
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	if !settest.HasUint64(l, 1<<40) || l.Err() == nil || l.Reload(t.Context()) == nil {
		t.Error("a closed Live says that a key is absent, or has no error")
	}
}

// TestLiveCloseWaits calls Close while a query runs.
func TestLiveCloseWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bloom")
	settest.Large(t, path, 0)
	l := settest.Must(bloomery.OpenLive(t.Context(), path))
	inside, leave, closed := make(chan bool), make(chan bool), make(chan error)
	go l.View(func(s *bloomery.Set) {
		inside <- true
		<-leave
		if !bloomery.Keyed[uint64](s).Contains(1) {
			t.Error("the set was closed under a query")
		}
	})
	<-inside
	go func() { closed <- l.Close() }()
	select {
	case <-closed:
		t.Fatal("Close did not wait")
	case <-time.After(30 * time.Millisecond):
	}
	close(leave)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestFollow changes Sets whose first change replaces the filter, by every method, and queries the new key.
func TestFollow(t *testing.T) {
	key, spec := []byte("a new key"), "rankindexed(capacity=100000,value_bits=8)"
	empty := settest.Must(bloomery.New(bloomery.Config{Spec: spec}))
	file := settest.Must(empty.MarshalBinary())
	path := filepath.Join(t.TempDir(), "f.bloom")
	big := settest.Must(bloomery.New(bloomery.Config{Spec: "rankindexed(capacity=1000000,value_bits=8)"}))
	settest.Check(t, big.Save(t.Context(), path))
	forms := map[string]func() (*bloomery.Set, error){
		"borrowed": func() (*bloomery.Set, error) { return bloomery.FromBytes(bytes.Clone(file)) },
		"mapped":   func() (*bloomery.Set, error) { return bloomery.Open(t.Context(), path) },
		"writers":  func() (*bloomery.Set, error) { return bloomery.FromBytes(file, bloomery.WithConcurrent()) },
	}
	ways := map[string]func(s *bloomery.Set) error{
		"Add":     func(s *bloomery.Set) error { return s.Add(key) },
		"AddMany": func(s *bloomery.Set) error { return bloomery.Keyed[[]byte](s).AddMany([][]byte{key}) },
		"AddHashes": func(s *bloomery.Set) error {
			return bloomery.Keyed[filter.Hash](s).AddMany([]filter.Hash{s.Hasher().Sum(key)})
		},
		"TestAndAdd": func(s *bloomery.Set) error { _, err := s.TestAndAdd(key); return err },
		"AddValue":   func(s *bloomery.Set) error { return s.AddValue(key, 1) },
		"Upsert":     func(s *bloomery.Set) error { return s.Upsert(key, 1) },
		"Remove":     func(s *bloomery.Set) error { _ = s.Remove([]byte("absent")); return s.Add(key) },
		"Reset":      func(s *bloomery.Set) error { return firstOf(s.Reset(), s.Add(key)) },
		"Addition": func(s *bloomery.Set) error {
			a, err := s.Addition(bloomery.JobConfig{})
			if err != nil {
				return err
			}
			return firstOf(a.AddMany([][]byte{key}), a.Commit(t.Context()), a.Close())
		},
		"UnmarshalBinary": func(s *bloomery.Set) error {
			o, err := empty.Clone()
			if err != nil {
				return err
			}
			err = o.Add(key)
			b, err2 := o.MarshalBinary()
			return firstOf(err, err2, s.UnmarshalBinary(b))
		},
	}
	for form, open := range forms {
		for way, change := range ways {
			s := settest.Must(open())
			if s.Contains(key) {
				t.Fatalf("%s: the key is present", form)
			}
			if err := change(s); err != nil {
				t.Fatalf("%s of %s: %v", way, form, err)
			}
			if !s.Contains(key) || !s.ContainsHash(s.Hasher().Sum(key)) {
				t.Errorf("%s of %s: the key is absent", way, form)
			}
			settest.Check(t, s.Close())
		}
	}
}

// firstOf returns the first error.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
