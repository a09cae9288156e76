package anneal

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
)

// TestLoop checks the position of each pass in its schedule by number, by time, after a stop, and after ErrEnough.
func TestLoop(t *testing.T) {
	none := func() float64 { return 0 }
	for passes, want := range map[int][]float64{1: {1}, 2: {0, 1}, 5: {0, 0.25, 0.5, 0.75, 1}} {
		var got []float64
		NewPart(passes).Loop(none, func(at float64) bool { got = append(got, at); return true })
		if !slices.Equal(got, want) {
			t.Errorf("%d passes stand at %v, want %v", passes, got, want)
		}
	}
	n := 0
	NewPart(10).Loop(none, func(float64) bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("%d passes, wanted to end after 3", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var got []float64
	p := newPace(ctx, nil, filter.Effort{Passes: 100}, time.Time{}, 1, 1)
	p.Take(1).Loop(none, func(at float64) bool {
		if got = append(got, at); len(got) == 2 {
			cancel()
		}
		return true
	})
	if len(got) != 3 || got[2] != 1 || p.Done() != 1 {
		t.Errorf("stopped after 2 passes: %v, done %g", got, p.Done())
	}
	got = nil
	clock := NewClock(5 * time.Millisecond)
	newPace(t.Context(), clock, filter.Effort{Budget: 20 * time.Millisecond}, clock.Now(), 1, 1).Take(1).Loop(none, func(at float64) bool {
		got = append(got, at)
		return true
	})
	if want := []float64{0, 0.25, 0.5, 0.75, 1}; !slices.Equal(got, want) {
		t.Errorf("20 ms with passes of 5 ms stand at %v, want %v", got, want)
	}
}

// TestEach checks that each part runs once for any number of workers, that errors are returned, and that the rest is
// skipped when it is not needed.
func TestEach(t *testing.T) {
	keys := hashes.NewSorted(hashes.Config{})
	for i := range uint64(1000) {
		_ = keys.AddMany([]filter.Hash{{Hi: i << 54}})
	}
	if _, err := keys.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	part := func(h filter.Hash) uint64 { return h.Hi >> 57 }
	broken := errors.New("broken")
	for _, workers := range []int{1, 2, 7} {
		for _, fault := range []error{nil, broken} {
			var seen, made atomic.Int64
			err := newPace(t.Context(), nil, filter.Effort{Passes: 1}, time.Time{}, 1000, workers).eachPart(keys, part, func() func(uint64, []filter.Hash) error {
				made.Add(1)
				return func(p uint64, hs []filter.Hash) error {
					seen.Add(int64(len(hs)))
					if p == 3 {
						return fault
					}
					return nil
				}
			})
			if !errors.Is(err, fault) || fault == nil && seen.Load() != 1000 || made.Load() != int64(workers) {
				t.Errorf("%d workers, fault %v: %v, %d keys, %d workers made", workers, fault, err, seen.Load(), made.Load())
			}
		}
	}
	for _, cause := range []error{context.Canceled, filter.ErrEnough} {
		ctx, cancel := context.WithCancelCause(t.Context())
		seen := 0
		err := newPace(ctx, nil, filter.Effort{Passes: 1}, time.Time{}, 1000, 1).eachPart(keys, part, func() func(uint64, []filter.Hash) error {
			return func(_ uint64, hs []filter.Hash) error {
				cancel(cause)
				seen += len(hs)
				return nil
			}
		})
		if keep := cause == filter.ErrEnough; keep != (err == nil) || keep != (seen == 1000) {
			t.Errorf("%v: %v, %d keys", cause, err, seen)
		}
	}
	if workerCount(5, 3) != 3 || workerCount(2, 100) != 2 || workerCount(0, 1) != 1 {
		t.Error("workers")
	}
	lost := Verify(holder{1}, []filter.Hash{{Hi: 1}, {Hi: 2}})
	if lost == nil || Verify(holder{1}, []filter.Hash{{Hi: 1}}) != nil {
		t.Errorf("a lost key: %v", lost)
	}
}

// holder is a filter of one key.
type holder struct{ key uint64 }

func (h holder) Has(x filter.Hash) bool { return x.Hi == h.key }

func (h holder) Info() filter.Info { return filter.Info{} }

// TestRateSoFar searches three parts. The reported rate must decrease from part to part, and never return to the rate
// at the start of a search.
func TestRateSoFar(t *testing.T) {
	p := newPace(t.Context(), nil, filter.Effort{Passes: 10}, time.Time{}, 30, 1)
	p.reports.Store(true)
	var got []float64
	for part := range 3 {
		left := 1.
		rate := func() float64 { return left / float64(part+1) }
		p.Take(10).Loop(rate, func(float64) bool {
			left *= 0.5
			p.ask.Store(true)
			got = append(got, p.meanRate())
			return true
		})
	}
	for i, r := range got[2:] {
		if r > got[i+1] {
			t.Fatalf("the rate rises: %v", got)
		}
	}
	if want := 1. / 1024 * (1 + 1./2 + 1./3) / 3; math.Abs(p.meanRate()/want-1) > 1e-12 {
		t.Errorf("rate %g of all parts, want %g", p.meanRate(), want)
	}
}

// TestWatch requires the function of Watch from its context, and nil from other contexts. The lab tests that searches
// call the function.
func TestWatch(t *testing.T) {
	calls := 0
	if each := watcher(Watch(t.Context(), func(*State) { calls++ })); each == nil {
		t.Error("the function is lost")
	} else if each(nil); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	if watcher(t.Context()) != nil {
		t.Error("a function without Watch")
	}
}
