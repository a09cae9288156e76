package parallel

import (
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

// TestLine checks that a stripe fills one cache line.
func TestLine(t *testing.T) {
	if size := unsafe.Sizeof(Stripe{}); size != 64 {
		t.Errorf("a stripe has %d bytes, want 64", size)
	}
}

// TestSets locks overlapping sets from several goroutines, with calls of Add in random order. No goroutine may wait
// forever, and only one goroutine at a time may change each number, which the race detector also checks.
func TestSets(t *testing.T) {
	var s Stripes
	var numbers [StripeCount]int
	const workers, rounds, size = 4, 3000, 8
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for range rounds {
				var set StripeSet
				for range size {
					set.Add(uint8(r.Uint32()))
				}
				s.Lock(&set)
				for i := range numbers {
					if set[i/64]>>(i%64)&1 != 0 {
						numbers[i]++
					}
				}
				s.Unlock(&set)
			}
		})
	}
	wg.Wait()
	s.LockAll()
	defer s.UnlockAll()
	var sum int
	for _, n := range numbers {
		sum += n
	}
	// 8 random stripes contain 8 - 28/256 different ones on average, with a standard deviation below 1/3 per set.
	if want := float64(workers*rounds) * (size - 28./StripeCount); float64(sum) < want-300 || float64(sum) > want+300 {
		t.Errorf("%d changes, want about %.0f", sum, want)
	}
}

// TestKeys counts keys from many goroutines. With one key that is never removed, the number must never be 0.
func TestKeys(t *testing.T) {
	var s Stripes
	s.Start(1)
	var wg sync.WaitGroup
	for w := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w, 2))
			for range 20_000 {
				s.Of(filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}).Added()
				s[uint8(r.Uint32())].Removed()
			}
		})
	}
	for range 2000 {
		if s.Keys() == 0 {
			t.Error("no keys, but one was never removed")
			break
		}
	}
	wg.Wait()
	if n := s.Keys(); n != 1 {
		t.Errorf("%d keys, want 1", n)
	}
	s[3].Removed()
	s[4].Removed()
	if n := s.Keys(); n != 0 {
		t.Errorf("%d keys after more removals than additions, want 0", n)
	}
}
