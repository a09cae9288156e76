package parallel

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 5, 1000} {
		for _, workers := range []int{0, 1, 3, 2000} {
			seen := make([]atomic.Int32, n)
			Each(workers, n, func(worker, i int) {
				if worker < 0 || worker >= max(workers, 1) {
					t.Errorf("worker %d of %d", worker, workers)
				}
				seen[i].Add(1)
			})
			for i := range seen {
				if seen[i].Load() != 1 {
					t.Errorf("%d of %d was called %d times", i, n, seen[i].Load())
				}
			}
		}
	}
}

// TestDo requires the error with the lowest number, no calls after it, and the cause of a context that ended.
func TestDo(t *testing.T) {
	low, high := errors.New("low"), errors.New("high")
	var both sync.WaitGroup
	both.Add(2)
	err := Do(t.Context(), 1000, 2, func(ctx context.Context, i int) error {
		if i > 1 {
			t.Errorf("a call of %d after an error", i)
			return nil
		}
		both.Done()
		both.Wait()
		if i == 1 {
			return high
		}
		<-ctx.Done()
		return low
	})
	if err != high {
		t.Errorf("%v, want the error that ended the others", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(low)
	if err := Do(ctx, 3, 2, func(context.Context, int) error { return high }); err != low {
		t.Errorf("%v, want the cause of the context", err)
	}
	if err := Do(t.Context(), 100, 3, func(_ context.Context, i int) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestFeed sends numbers until a worker fails.
func TestFeed(t *testing.T) {
	stop := errors.New("stop")
	for _, ahead := range []int{0, 4} {
		for _, fails := range []int{-1, 10} {
			var sum atomic.Int64
			sent := 0
			err := Feed(3, ahead, func(worker int) func(int) error {
				if worker < 0 || worker > 2 {
					t.Errorf("worker %d", worker)
				}
				return func(v int) error {
					if v == fails {
						return stop
					}
					sum.Add(int64(v))
					return nil
				}
			}, func(send func(int) error) error {
				for v := range 10_000 {
					if err := send(v); err != nil {
						return err
					}
					sent++
				}
				return nil
			})
			if fails < 0 && (err != nil || sum.Load() != 9999*5000 || sent != 10_000) || fails >= 0 && err != stop {
				t.Errorf("ahead %d, fails at %d: sum %d, sent %d, %v", ahead, fails, sum.Load(), sent, err)
			}
		}
	}
}

// TestMemo requires that a Memo computes a result once, and again after it has computed as many other results as it
// keeps.
func TestMemo(t *testing.T) {
	var m Memo[int, int]
	calls := 0
	double := func(key int) int { return m.Get(key, func() int { calls++; return 2 * key }) }
	for range 2 {
		for key := range memoSize {
			if got := double(key); got != 2*key {
				t.Fatalf("%d for %d", got, key)
			}
		}
	}
	if calls != memoSize {
		t.Errorf("%d results were computed %d times", memoSize, calls)
	}
	if double(memoSize); double(0) != 0 || calls != memoSize+2 || len(m.results) != 2 {
		t.Errorf("%d results after %d calls", len(m.results), calls)
	}
}
