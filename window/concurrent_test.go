package window

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestOneNew adds the same keys from many goroutines at the same time, while other goroutines query and describe the
// filter and move the time by less than ttl. Exactly one goroutine must see each key as new.
func TestOneNew(t *testing.T) {
	const goroutines = 6
	keys := uint64(20_000)
	if testing.Short() {
		keys = 4_000
	}
	for _, refresh := range []bool{false, true} {
		f := mustNew[uint64](t, Config{Keys: 2 * keys, TTL: time.Hour, FPR: 1e-9, EventTime: true, Refresh: refresh})
		fresh := make([]atomic.Int32, keys)
		var done atomic.Bool
		var wg, others sync.WaitGroup
		for w := range uint64(goroutines) {
			wg.Go(func() {
				for i := range keys {
					key := (i + w*16) % keys
					present, err := f.TestAndAdd(key)
					if err != nil {
						t.Error(err)
						return
					}
					if !present {
						fresh[key].Add(1)
					}
					if !f.Contains(key) {
						t.Errorf("key %d is missing", key)
						return
					}
				}
			})
		}
		others.Go(func() {
			for i := 0; !done.Load(); i++ {
				f.Advance(at(time.Duration(min(i, 3_599_000)) * time.Millisecond))
				if i%1000 == 0 && f.Info().Keys > keys {
					t.Error("too many keys")
				}
				f.Contains(uint64(i) + keys)
			}
		})
		wg.Wait()
		done.Store(true)
		others.Wait()
		for key := range fresh {
			if n := fresh[key].Load(); n != 1 {
				t.Fatalf("key %d was new to %d goroutines", key, n)
			}
		}
		if n := f.Len(); n != keys {
			t.Errorf("%d keys, want %d", n, keys)
		}
	}
}

// TestPromise adds and queries keys from several goroutines that all move the clock, through many windows and with
// jumps. A key that any goroutine added must be present for all goroutines for ttl, and absent after 8/7 of ttl.
func TestPromise(t *testing.T) {
	const goroutines, ttl = 4, int64(time.Hour)
	keys, operations := uint64(3_000), 60_000
	if testing.Short() {
		operations = 10_000
	}
	var now atomic.Int64
	f := mustNew[uint64](t, Config{
		Keys: keys, TTL: time.Duration(ttl), FPR: 1e-9, Clock: func() time.Time { return time.Unix(0, now.Load()) },
	})
	pace := 2 * ttl / int64(keys) // of all
	var wg sync.WaitGroup
	seed := rand.Uint64()
	var missing, late, asked atomic.Uint64
	for w := range uint64(goroutines) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, w))
			type sight struct{ before, after int64 }
			mine := map[uint64]sight{}
			next := w << 40
			for range operations {
				switch {
				case rng.IntN(20_000) == 0: // the other goroutines still use earlier times
					now.Add(rng.Int64N(3 * ttl))
				case rng.IntN(2) == 0:
					now.Add(rng.Int64N(pace))
				}
				if rng.IntN(3) == 0 {
					next++
					s := sight{before: now.Load()}
					if present, err := f.TestAndAdd(next); err != nil {
						t.Errorf("seed %d: %v, %+v", seed, err, f.Info())
						return
					} else if !present {
						s.after = now.Load()
						mine[next] = s
					}
					continue
				}
				key := max(w<<40+1, next-min(next-w<<40, rng.Uint64N(2*keys)))
				s, ok := mine[key]
				if !ok {
					continue
				}
				before := now.Load()
				present := f.Contains(key)
				after := now.Load()
				asked.Add(1)
				if !present && after <= s.before+ttl {
					missing.Add(1)
				}
				if present && before > s.after+ttl*stamps/epochs {
					late.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if missing.Load() > 0 || late.Load() > 0 {
		t.Errorf("seed %d: of %d answers %d too early, %d too late", seed, asked.Load(), missing.Load(), late.Load())
	}
	t.Logf("%d answers, %d laps", asked.Load(), f.ring.laps+f.ring.skipped)
}

// TestLock checks that a lock excludes other goroutines, even if they wait for a long time.
func TestLock(t *testing.T) {
	var l lock
	n := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 300 {
				l.lock()
				n++
				if i%100 == 0 {
					time.Sleep(time.Millisecond)
				}
				l.unlock()
			}
		})
	}
	wg.Wait()
	if n != 1200 || l.v.Load() != 2400 {
		t.Errorf("%d, %d", n, l.v.Load())
	}
}

// TestReaders queries keys that are always present, and keys that are never present, in a filter of few buckets. At the
// same time, another goroutine adds keys, renews some, and moves the time, so that buckets are swept.
func TestReaders(t *testing.T) {
	const keys, always = 300, 40
	const ttl = time.Second
	queries := 400_000
	if testing.Short() {
		queries = 50_000
	}
	f := mustNew[uint64](t, Config{Keys: keys, TTL: ttl, FPR: 1e-9, EventTime: true})
	for i := range uint64(always) {
		check(t, f.Add(i))
	}
	var done atomic.Bool
	var writer, readers sync.WaitGroup
	writer.Go(func() {
		for i := uint64(0); !done.Load(); i++ {
			f.Advance(at(time.Duration(i) * 3 * ttl / keys))
			if err := f.Add(1<<32 + i); err != nil {
				t.Error(err)
				return
			}
			if err := f.Add(i % always); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for w := range uint64(2) {
		readers.Go(func() {
			for i := range uint64(queries) {
				if !f.Contains((i + w*7) % always) {
					t.Errorf("key %d is missing", (i+w*7)%always)
					return
				}
				if f.Contains(1<<33 + i) {
					t.Errorf("key %d is there", 1<<33+i)
					return
				}
			}
		})
	}
	readers.Wait()
	done.Store(true)
	writer.Wait()
}
