package dleft

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

func TestConcurrent(t *testing.T) {
	for _, c := range []Config{
		{}, {Counting: true}, {Remainder: MinRemainder, Counting: true}, {Remainder: MinRemainder}, {Remainder: 7},
		{Remainder: MaxRemainder, Counting: true},
	} {
		t.Run(fmt.Sprintf("remainder=%d,counting=%t", c.Remainder, c.Counting), func(t *testing.T) {
			filtertest.Concurrent(t, func(keys uint64) family.Filter {
				c := c
				c.Keys = keys
				return must(t, c)
			}, func(e family.Encoded) (family.Filter, error) { return Decode(e) })
		})
	}
}

// TestConcurrentMoves moves the only copy of a key from subtable 3 to subtable 0, by an addition and a removal, while
// goroutines ask for the key: it must never look absent. There are more of them than processors, so that most are
// suspended at the time of the move, many between reading the two subtables.
func TestConcurrentMoves(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	readers := 3 * runtime.GOMAXPROCS(0)
	hs := filtertest.Hashes(subtables, 3)
	key, others := hs[0], hs[1:]
	for range rounds {
		c := must(t, Config{Buckets: 1, Capacity: cells}).Concurrent().(*Concurrent) // all keys share their buckets
		for _, h := range others {
			_ = c.Add(h) // to subtables 0, 1, 2
		}
		_ = c.Add(key)
		for _, h := range others {
			_ = c.Remove(h)
		}
		p := c.f.place(key)
		if c.f.match(p.at[3], p.remainder) != 1 || c.Keys() != 1 {
			t.Fatal("the key is not in subtable 3")
		}
		var moved atomic.Bool
		var asking atomic.Int64
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				asking.Add(1)
				for last := false; !last; {
					last = moved.Load()
					if !c.Has(key) {
						t.Error("the key was absent for a moment")
						return
					}
				}
			})
		}
		for asking.Load() < int64(readers) {
			runtime.Gosched()
		}
		_ = c.Add(key)
		if err := c.Remove(key); err != nil {
			t.Fatal(err)
		}
		moved.Store(true)
		wg.Wait()
		if c.f.match(p.at[0], p.remainder) != 1 || c.Keys() != 1 {
			t.Fatal("the key is not in subtable 0")
		}
	}
}

// TestConcurrentFull has goroutines add more keys than there is room for: those that were added stay, the others change
// nothing.
func TestConcurrentFull(t *testing.T) {
	c := must(t, Config{Keys: 480, Remainder: 20}).Concurrent().(*Concurrent)
	hs := filtertest.Hashes(2000, 8)
	in := make([]bool, len(hs))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := w; i < len(hs); i += 4 {
				present, err := c.TestAndAdd(hs[i])
				if err != nil && (!errors.Is(err, filter.ErrFull) || present) {
					t.Errorf("present %t, %v", present, err)
				}
				in[i] = err == nil
			}
		})
	}
	wg.Wait()
	n := uint64(0)
	for i, h := range hs {
		if in[i] && !c.Has(h) {
			t.Fatal("a key is lost")
		}
		n += uint64(btoi(in[i]))
	}
	if used := c.Keys(); used > n || used < 480 || n == uint64(len(hs)) { // less than n by false positives
		t.Errorf("%d keys were taken, Keys says %d", n, used)
	}
}

func BenchmarkConcurrent(b *testing.B) {
	filtertest.BenchmarkConcurrent(b, func(keys uint64) family.Filter { return must(b, Config{Keys: keys}) })
}
