package bitvec

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestChains holds what the machine runs against the functions in Go, over tables whose bits are random: an index that fits
// its cells or not, and chains that go beyond them.
func TestChains(t *testing.T) {
	if unsafe.Sizeof(Chains{}) != 16*8 {
		t.Fatalf("Chains has %d bytes; the assembly knows it as 16 words", unsafe.Sizeof(Chains{}))
	}
	r := rand.New(rand.NewPCG(1, 2))
	ends := map[string]int{}
	for range 3000 {
		l := ChainLayout{Buckets: 1 + r.Uint64N(5), Chains: 1 + r.Uint64N(300), Cells: 1 + r.Uint64N(250), Hi: r.Uint64N(4), Lo: 1 + r.Uint64N(20), Payload: r.Uint64N(33)}
		if r.IntN(2) == 0 {
			l.Hi, l.Lo = 0, 1+r.Uint64N(3)
		}
		l.First = l.Chains + l.Cells + r.Uint64N(20)
		l.Stride = (l.First+l.Cells*(l.Hi+l.Lo+l.Payload))/64 + 1
		words := make([]uint64, l.Buckets*l.Stride)
		sparse := r.IntN(3)
		for i := range words {
			words[i] = r.Uint64()
			for range sparse {
				words[i] &= r.Uint64()
			}
		}
		c := NewChains(words, l)
		for range 100 {
			hi, lo := r.Uint64(), r.Uint64()
			// A random index can lead a walk in a circle: a chain must go on at a later cell. Such keys are left out.
			if circles(&c, hi, lo) {
				continue
			}
			got, want := c.Has(hi, lo), c.hasGo(hi, lo)
			at, n, cell, used, end := c.Follow(hi, lo)
			a, b, d, e, f := c.followGo(hi, lo)
			if end == ChainEnd || end == ChainBeyond {
				cell, d = 0, 0
			}
			ends[fmt.Sprint(c.how, got, end)]++
			if got != want || at != a || n != b || cell != d || used != e || end != f {
				t.Fatalf("%+v: Has %d, in Go %d; Follow %d %d %x %d %d, in Go %d %d %x %d %d", l, got, want, at, n, cell, used, end, a, b, d, e, f)
			}
		}
	}
	for _, how := range []int{byGo, byFour, byEight} {
		for _, end := range []string{"0 0", "0 1", "1 1", "2 2"} {
			if n := ends[fmt.Sprint(how, " ", end)]; n < 100 {
				t.Errorf("code %d ended with %s %d times only", how, end, n)
			}
		}
	}
}

// circles reports whether a walk of the key comes to a cell twice.
func circles(c *Chains, hi, lo uint64) bool {
	b, at, _ := c.Locate(hi, lo)
	base := b * (c.stride / 8)
	last := int64(-1)
	for Bit(c.words, 64*base+at)&1 != 0 {
		n := c.Rank(base, at)
		if n >= c.own {
			return false
		}
		if int64(n) <= last {
			return true
		}
		last, at = int64(n), c.chains+n
	}
	return false
}
