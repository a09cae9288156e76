package patch

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFreeNumbers compares with a sorted list.
func TestFreeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 1))
	for _, n := range []int{0, 1, 2, 3, 64, 100, 1000} {
		kept := make([]bool, n)
		var want []uint64
		for i := range kept {
			if kept[i] = r.IntN(4) == 0; !kept[i] {
				want = append(want, uint64(i))
			}
		}
		for f := freeOf(kept); ; {
			if f.left != uint64(len(want)) {
				t.Fatalf("%d numbers left of %d, want %d", f.left, n, len(want))
			}
			if len(want) == 0 {
				break
			}
			rank := r.IntN(len(want))
			if got := f.at(uint64(rank)); got != want[rank] || f.rank(got) != uint64(rank) {
				t.Fatalf("of %d: rank %d is %d of rank %d, want %d", n, rank, got, f.rank(got), want[rank])
			}
			f.remove(want[rank])
			want = slices.Delete(want, rank, rank+1)
		}
	}
}
