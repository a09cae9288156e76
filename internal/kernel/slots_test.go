package kernel

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestSlots compares the form for this machine and the form in Go with the plain form, for blocks of all shapes in
// which so many bits are set that many keys are present.
func TestSlots(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	present, asked := 0, 0
	for _, block := range []uint64{512, 1024} {
		for k := 1; k <= 40; k++ {
			for width := 1; width <= 5; width++ {
				for _, groups := range []uint64{1, 2, 3, 5, 8} {
					head := groups * uint64(k*width)
					if head+64 > block {
						continue
					}
					words := make([]uint64, 7*block/64)
					for i := range words {
						words[i] = r.Uint64()
						for range k / 3 {
							words[i] |= r.Uint64()
						}
					}
					s := NewSlots(words, block, groups, (block-head)/32*32, k, width)
					for range 100 {
						hi, lo := r.Uint64(), r.Uint64()
						switch r.IntN(16) {
						case 0:
							hi = 0
						case 1:
							hi = 1<<64 - 1
						case 2:
							lo = 0
						case 3:
							lo = 1<<64 - 1
						}
						want := s.hasPlain(hi, lo, 0)
						if got := s.hasGo(hi, lo); got != want {
							t.Fatalf("block %d, k %d, width %d, groups %d: Go says %v, want %v", block, k, width, groups, got, want)
						}
						if got := s.Has(hi, lo); got != want {
							t.Fatalf("block %d, k %d, width %d, groups %d: %v, want %v", block, k, width, groups, got, want)
						}
						number, rest := bits.Mul64(hi, s.blocks)
						from := bytesOf(words[number*block/64:][:block/64], asked%9)
						if got := s.HasIn(from, rest, lo); got != want {
							t.Fatalf("block %d, k %d, width %d, groups %d: from bytes %v, want %v", block, k, width, groups, got, want)
						}
						if got := s.hasInGo(from, rest, lo); got != want {
							t.Fatalf("block %d, k %d, width %d, groups %d: from bytes in Go %v, want %v", block, k, width, groups, got, want)
						}
						asked++
						if want {
							present++
						}
					}
				}
			}
		}
	}
	if present < asked/10 || present > asked*9/10 {
		t.Errorf("%d of %d were present", present, asked)
	}
}

func BenchmarkSlots(b *testing.B) {
	words := make([]uint64, 1<<12)
	s := NewSlots(words, 512, 4, 352, 8, 5)
	for i := range words {
		words[i] = 1<<64 - 1
	}
	for name, has := range map[string]func(hi, lo uint64) bool{"chosen": s.Has, "go": s.hasGo} {
		b.Run(fmt.Sprintf("form=%s", name), func(b *testing.B) {
			for i := uint64(0); b.Loop(); i += 0x9E3779B97F4A7C15 {
				has(i, i)
			}
		})
	}
}
