package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestBestLanes compares both forms of BestLanes with the plain one: groups of all sizes, windows at both ends of the
// cells, excluded lanes, and sums up to 255.
func TestBestLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	forms := map[string]func([]byte, []uint32, *[4]uint64, *[4]uint64) uint32{"chosen": BestLanes, "go": bestLanesGo}
	for _, size := range []int{Lanes, Lanes + 1, Lanes + 7, 500} {
		for n := range 49 {
			for range 20 {
				cells := make([]byte, size)
				share := r.Float64()
				for i := range cells {
					if r.Float64() < share {
						cells[i] = byte(r.IntN(32)<<3 | r.IntN(6))
					}
				}
				at := make([]uint32, n)
				for i := range at {
					at[i] = r.Uint32N(uint32(size - Lanes + 1))
				}
				var start, keep [4]uint64
				width := []int{1, 2, 4, 8, 16, 32}[r.IntN(6)]
				for i := range width {
					start[i/8] |= r.Uint64N(16) << (i % 8 * 8)
					keep[i/8] |= 7 << (i % 8 * 8)
				}
				want := bestLanesPlain(cells, at, &start, &keep)
				for name, f := range forms {
					if got := f(cells, at, &start, &keep); got != want {
						t.Fatalf("%s: %d positions of %d cells, %d lanes: %#x, want %#x", name, n, size, width, got, want)
					}
				}
			}
		}
	}
}

// bestLanesPlain is a simple implementation of BestLanes.
func bestLanesPlain(cells []byte, at []uint32, start, keep *[4]uint64) (best uint32) {
	var sums [Lanes]uint64
	var top uint64
	for i := range sums {
		sums[i] = start[i/8] >> (i % 8 * 8) & 255
		for _, a := range at {
			sums[i] += uint64(cells[int(a)+i]) & (keep[i/8] >> (i % 8 * 8))
		}
		top = max(top, sums[i])
	}
	for i, s := range sums {
		if s == top {
			best |= 1 << i
		}
	}
	return best
}

func BenchmarkBestLanes(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	cells := make([]byte, 1<<12)
	at := make([]uint32, 14)
	for i := range at {
		at[i] = r.Uint32N(1<<12 - Lanes)
	}
	keep := [4]uint64{7 * eachByte, 7 * eachByte, 7 * eachByte, 7 * eachByte}
	var start [4]uint64
	for name, f := range map[string]func([]byte, []uint32, *[4]uint64, *[4]uint64) uint32{
		"chosen": BestLanes, "go": bestLanesGo, "plain": bestLanesPlain,
	} {
		b.Run("form="+name, func(b *testing.B) {
			for b.Loop() {
				start[0] += uint64(f(cells, at, &start, &keep) & 1)
				start[0] &= 7
			}
		})
	}
}
