package kernel

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// positions calls f with the positions of the probes of a key, by their definition: see package standard.
func (b *Bits) positions(h filter.Hash, f func(at uint64)) {
	x := h.Lo
	for range b.K {
		at, _ := bits.Mul64(x, b.M)
		f(at)
		x = bits.RotateLeft64(9*x, 25) + h.Hi
	}
}

// TestBits compares the code for many keys with the definition of their bits, for all numbers of probes and numbers of
// keys that fill groups or do not.
func TestBits(t *testing.T) {
	if !probes {
		t.Skip("NOT TESTED: there is no assembly here")
	}
	r := rand.New(rand.NewPCG(11, 12))
	for k := uint64(1); k <= 64; k++ {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 67, 128, 1027} {
			m := 1 + r.Uint64N(uint64(n+1)*k*3/2)
			b := &Bits{Words: make([]uint64, (m+63)/64), M: m, K: k}
			hs := make([]filter.Hash, n)
			for i := range hs {
				hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
			}
			want := slices.Clone(b.Words)
			for _, h := range hs {
				b.positions(h, func(at uint64) { want[at/64] |= 1 << (at % 64) })
			}
			if !b.AddMany(hs) || !slices.Equal(b.Words, want) {
				t.Fatalf("k=%d, %d keys: other bits", k, n)
			}
			for i := range hs { // some keys are absent
				if r.IntN(3) > 0 {
					hs[i].Lo = r.Uint64()
				}
			}
			got := make([]bool, n+1)
			got[n] = true
			if !b.HasMany(got, hs) || !got[n] {
				t.Fatalf("k=%d, %d keys: one answer more", k, n)
			}
			for i, h := range hs {
				has := true
				b.positions(h, func(at uint64) { has = has && want[at/64]>>(at%64)&1 == 1 })
				if got[i] != has {
					t.Fatalf("k=%d, key %d of %d: %v, want %v", k, i, n, got[i], has)
				}
			}
		}
	}
}
