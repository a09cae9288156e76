package bitvec

import (
	"math/rand/v2"
	"testing"
)

// TestSlots holds the vector form against the plain one, for payloads of every number of words.
func TestSlots(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for first := range uint64(15) {
		for width := 1; width <= 8; width++ {
			var salts [8]uint32
			for l := range salts {
				salts[l] = r.Uint32() | 1
			}
			c := NewSlots(salts, first, 512-32*first, width)
			for range 300 {
				var line [8]uint64
				for i := range line {
					line[i] = r.Uint64()
				}
				x, shifts := r.Uint64(), r.Uint64()
				switch r.IntN(8) {
				case 0:
					x = 0
				case 1:
					x = 1<<64 - 1
				}
				if got, want := slots(&line, x, shifts, c), slotsGo(&line, x, shifts, c); got != want {
					t.Fatalf("first %d, width %d: %08b, want %08b", first, width, got, want)
				}
			}
		}
	}
}

func BenchmarkSlots(b *testing.B) {
	c := NewSlots([8]uint32{1, 3, 5, 7, 9, 11, 13, 15}, 5, 352, 5)
	var line [8]uint64
	for b.Loop() {
		line[0] += uint64(slots(&line, line[0], line[1], c))
	}
}
