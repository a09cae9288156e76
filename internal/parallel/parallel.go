// Package parallel helps to divide work among goroutines. Each and Do divide a range of numbers, Feed divides values
// that one goroutine produces. A Filler adds keys from many goroutines to one filter, and Stripes are the locks of
// filters that many goroutines change.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns n, or GOMAXPROCS if n is 0 or less.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Each calls f for all i below n, in at most workers goroutines, which it numbers from 0 on. Worker 0 is the goroutine
// of the caller.
func Each(workers, n int, f func(worker, i int)) {
	var next atomic.Int64
	work := func(worker int) {
		for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
			f(worker, i-1)
		}
	}

	var wg sync.WaitGroup
	for worker := 1; worker < min(workers, n); worker++ {
		wg.Go(func() { work(worker) })
	}
	work(0)
	wg.Wait()
}

// Do calls f(ctx, i) for all i below n, workers at a time. After an error it starts no more calls and cancels ctx. It
// returns the error with the lowest i among the errors that the cancellation did not cause.
func Do(ctx context.Context, n, workers int, f func(ctx context.Context, i int) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var first error
	failed := n
	Each(workers, n, func(_, i int) {
		mu.Lock()
		stop := first != nil || inner.Err() != nil
		mu.Unlock()
		if stop {
			return
		}
		if err := f(inner, i); err != nil {
			mu.Lock()
			// After the first error inner is canceled, and later errors may come from that.
			if first == nil || i < failed && inner.Err() == nil {
				first, failed = err, i
			}
			mu.Unlock()
			cancel()
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return first
}

// Feed calls produce once. A function in one of workers goroutines receives each value that produce sends; each
// goroutine calls worker once, with its number, to get its function. Up to ahead values may wait for a goroutine. After
// an error of a function, send returns this error, and so does Feed; otherwise Feed returns the error of produce.
func Feed[T any](
	workers, ahead int, worker func(i int) func(T) error, produce func(send func(T) error) error,
) error {
	values := make(chan T, ahead)
	failed := make(chan struct{})
	var first error
	var once sync.Once
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			work := worker(i)
			for v := range values {
				if err := work(v); err != nil {
					once.Do(func() {
						first = err
						close(failed)
					})
				}
			}
		})
	}

	err := produce(func(v T) error {
		select {
		case values <- v:
			return nil
		case <-failed:
			return first
		}
	})
	close(values)
	if wg.Wait(); first != nil {
		return first
	}
	return err
}

// Memo caches results of a slow function for up to memoSize keys. It is safe for concurrent use.
type Memo[K comparable, V any] struct {
	mu      sync.Mutex
	results map[K]V
}

// memoSize is the largest number of results of a Memo. Beyond it, a Memo forgets all of them.
const memoSize = 512

// Get returns the cached result for a key, or a new one from compute.
func (m *Memo[K, V]) Get(key K, compute func() V) V {
	m.mu.Lock()
	v, known := m.results[key]
	m.mu.Unlock()
	if known {
		return v
	}

	v = compute() // without the lock, so that other keys do not wait
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results == nil || len(m.results) >= memoSize {
		m.results = map[K]V{}
	}
	m.results[key] = v
	return v
}
