package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// list is a filter that stores the Lo of its keys.
type list struct {
	los   []uint64
	count uint64
}

func (l *list) Has(filter.Hash) bool { panic("not used") }
func (l *list) Info() filter.Info    { return filter.Info{Keys: l.count} }
func (l *list) Merge(other family.Filter, _ func([]uint64)) error {
	l.los = append(l.los, other.(*list).los...)
	return nil
}

// world is a Filler of a list whose calls the test observes. Add blocks if its first key is hold.
type world struct {
	*Filler[*list]
	whole *list

	mu             sync.Mutex
	copies, shared int
	noMemory       bool
	holding, done  chan bool
}

const hold = 1 << 40

func newWorld(small bool) *world {
	w := &world{whole: &list{}, holding: make(chan bool), done: make(chan bool)}
	c := FillConfig[*list]{
		Add: func(l *list, hs []filter.Hash) {
			if hs[0].Lo == hold {
				w.holding <- true
				<-w.done
			}
			for _, h := range hs {
				l.los = append(l.los, h.Lo)
			}
		},
		Share: func(hs []filter.Hash) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.shared++
			for _, h := range hs {
				w.whole.los = append(w.whole.los, h.Lo)
			}
		},
		Count: func(l *list, keys uint64) { l.count = keys },
	}
	if small {
		c.Empty = func() (*list, error) {
			if w.noMemory {
				return nil, filter.ErrTooLarge
			}
			w.copies++
			return &list{}, nil
		}
	}
	w.Filler = NewFiller(w.whole, 0, c)
	return w
}

// add starts to add n keys from lo on, and returns a channel that reports when it is done.
func (w *world) add(lo, n uint64) chan bool {
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i].Lo = lo + uint64(i)
	}
	added := make(chan bool, 1)
	go func() {
		_ = w.AddMany(hs)
		added <- true
	}()
	return added
}

// check builds and compares the filter with the keys that were added.
func (w *world) check(t *testing.T, want map[uint64]bool) {
	t.Helper()
	f, err := w.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := f.(*list)
	if l != w.whole || l.Info().Keys != uint64(len(want)) || len(l.los) != len(want) {
		t.Errorf("Build returned %d keys and counts %d, want %d", len(l.los), l.count, len(want))
	}
	for _, lo := range l.los {
		if !want[lo] {
			t.Errorf("key %#x is there twice or was not added", lo)
		}
		delete(want, lo)
	}
}

// keys returns n consecutive keys from each of the given first numbers.
func keys(n uint64, from ...uint64) map[uint64]bool {
	set := map[uint64]bool{}
	for _, lo := range from {
		for i := range n {
			set[lo+i] = true
		}
	}
	return set
}

func TestAlone(t *testing.T) {
	for _, small := range []bool{false, true} {
		w := newWorld(small)
		const n = 2*turn + 5
		<-w.add(0, n)
		<-w.add(n, n)
		if w.copies+w.shared > 0 {
			t.Errorf("small=%v: one goroutine made %d copies and shared %d times", small, w.copies, w.shared)
		}
		w.check(t, keys(2*n, 0))
	}
}

// TestCopies holds the lock of a small filter. Other goroutines must not wait while more copies are allowed, and must
// wait otherwise.
func TestCopies(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	w := newWorld(true)
	first := w.add(hold, 3)
	<-w.holding
	<-w.add(0, 3)
	<-w.add(10, 3) // uses the same copy
	if w.copies != 1 {
		t.Errorf("%d copies, want 1", w.copies)
	}
	second := w.add(hold, 3)
	<-w.holding
	third := w.add(hold, 3)
	<-w.holding
	fourth := w.add(20, 3) // three goroutines are working, so the filter and both copies are in use
	select {
	case <-fourth:
		t.Error("a goroutine added keys although there was no copy for it")
	case <-time.After(20 * time.Millisecond):
	}
	for range 3 {
		w.done <- true
	}
	<-first
	<-second
	<-third
	<-fourth
	if w.copies != 2 {
		t.Errorf("%d copies, want 2", w.copies)
	}
	f, err := w.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if l := f.(*list); len(l.los) != 18 || l.count != 18 {
		t.Errorf("%d keys, %d counted, want 18", len(l.los), l.count)
	}
}

func TestCopiesWithoutMemory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	w := newWorld(true)
	w.noMemory = true
	first := w.add(hold, 3)
	<-w.holding
	second := w.add(0, 3)
	w.done <- true
	<-first
	<-second
	w.check(t, keys(3, hold, 0))
}

// TestShared holds the lock of a large filter. Another goroutine must wait, and then all must share the filter.
func TestShared(t *testing.T) {
	w := newWorld(false)
	first := w.add(hold, 3)
	<-w.holding
	second := w.add(0, 3)
	select {
	case <-second:
		t.Error("a goroutine shared the filter with one that writes as if it were alone")
	case <-time.After(20 * time.Millisecond):
	}
	w.done <- true
	<-first
	<-second
	<-w.add(10, 3)
	if w.shared != 2 {
		t.Errorf("shared %d times, want 2", w.shared)
	}
	w.check(t, keys(3, hold, 0, 10))
}

func TestBuildCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newWorld(true).Build(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
