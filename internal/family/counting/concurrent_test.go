package counting

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestConcurrentAbsent removes keys from several goroutines, whether the keys were added or not. Keys are lost then, as
// documented, but no counter may underflow or borrow from its neighbours: the sum of the counters must remain k times
// the number of keys, which Decode checks. All goroutines start each removal together. Otherwise they would rarely
// access the same counter at the same time.
func TestConcurrentAbsent(t *testing.T) {
	const rounds, workers, removals = 3000, 4, 2
	hs := filtertest.Hashes(100, 6)
	for round := range rounds {
		c := must(t, Config{Counters: 20, K: 20}).Concurrent().(*Concurrent)
		for i := range 4 {
			_ = c.Add(hs[i])
		}
		var wg sync.WaitGroup
		var arrived atomic.Int64
		for w := range workers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(w)))
				for i := range int64(removals) {
					h := hs[r.IntN(len(hs))]
					for arrived.Add(1); arrived.Load() < (i+1)*workers; {
						runtime.Gosched()
					}
					if err := c.Remove(h); err != nil && !errors.Is(err, filter.ErrNotFound) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		f, err := c.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(f.(*Filter).Encode()); err != nil || f.(*Filter).Stuck() > 0 {
			t.Fatalf("round %d: %d counters stuck, %v", round, f.(*Filter).Stuck(), err)
		}
	}
}

// TestConcurrentStuck adds one key from several goroutines until its counters are stuck, and removes it the same number
// of times. Every removal must succeed, and one more must fail, as in the plain form.
func TestConcurrentStuck(t *testing.T) {
	c := must(t, Config{Keys: 100}).Concurrent().(*Concurrent)
	key := filtertest.Hashes(1, 5)[0]
	const workers, each = 4, 1000
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				_ = c.Add(key)
			}
			for range each {
				if err := c.Remove(key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n, saturated := c.Count(key); n != stuck || !saturated || !c.Has(key) || c.Keys() != 0 {
		t.Errorf("count %d, saturated %t, %d keys", n, saturated, c.Keys())
	}
	if err := c.Remove(key); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("a removal from a filter without keys: %v", err)
	}
	f, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(f.(*Filter).Encode()); err != nil {
		t.Error(err)
	}
}
