package stat

import "testing"

// TestBins compares Bins with Occupancy, to the last bit.
func TestBins(t *testing.T) {
	for _, m := range []int{1, 2, 7, 512} {
		bins := NewBins(m)
		for _, k := range []int{1, 3, 16} {
			want, pow := Occupancy(m, k), Powers(m, k)
			for j := range uint64(1000) {
				x := want(j)
				if got := bins.Mean(int(j)*k, pow); got != x && !(x == 1 && got > 1-1e-12) {
					t.Fatalf("%d bins, %d throws: %g, want %g", m, int(j)*k, got, x)
				}
			}
		}
	}
}
