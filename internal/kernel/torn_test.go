package kernel

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestTorn queries buckets of random bits, in which chains go anywhere, while another goroutine writes others: Has
// ends.
func TestTorn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	all := 0
	for range 200 {
		l := ChainLayout{Buckets: 2, Chains: 1 + r.Uint64N(300), Cells: 1 + r.Uint64N(200), Lo: 1 + r.Uint64N(9), Payload: 3}
		l.First = l.Chains + l.Cells
		l.Stride = (l.First+l.Cells*(l.Lo+l.Payload))/64 + 1
		words := make([]uint64, l.Buckets*l.Stride)
		c := NewChains(words, l)
		if !c.Tears() {
			continue
		}
		all++
		seed := r.Uint64()
		var wg sync.WaitGroup
		wg.Go(func() {
			w := rand.New(rand.NewPCG(1, seed))
			for range 200 {
				for i := range words {
					words[i] = w.Uint64() & w.Uint64() >> w.UintN(2)
				}
			}
		})
		ends := [3]int{}
		for range 2000 {
			ends[c.Has(r.Uint64(), r.Uint64())]++
		}
		wg.Wait()
	}
	if all == 0 {
		t.Skip("no assembly on this machine")
	}
}
