package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestRank compares rank4 and rank8 with a sum of bits.
func TestRank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]uint64, 32)
	for range 20_000 {
		for i := range words {
			words[i] = r.Uint64() & r.Uint64()
		}
		count := func(from, n uint64) (sum uint64) {
			for at := from; at < from+n; at++ {
				sum += words[at/64] >> (at % 64) & 1
			}
			return sum
		}
		i := r.Uint64N(20)
		at4, at8 := r.Uint64N(256), r.Uint64N(512)
		if got, want := rank4(words, i, at4), count(64*i, at4); got != want {
			t.Fatalf("rank4(%d, %d) = %d, want %d", i, at4, got, want)
		}
		if got, want := rank8(words, i, at8), count(64*i, at8); got != want {
			t.Fatalf("rank8(%d, %d) = %d, want %d", i, at8, got, want)
		}
	}
}
