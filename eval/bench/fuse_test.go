package main

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/internal/family/fuse"
)

// TestBelowFuse checks that partitioned, with its longest search, has a lower false-positive rate than a binary fuse
// filter of the same size with fingerprints of 8 bits.
func TestBelowFuse(t *testing.T) {
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		if n > 10_000 && !*full {
			continue
		}
		keys := randomKeys(n, 3)
		bytes := builtOf(t, "fuse(width=8)", keys).Info().Bits / 8
		i := builtOf(t, fmt.Sprintf("partitioned(bytes=%d,effort=max)", bytes), keys).Info()
		t.Logf("%d keys in %d bytes, %.3f bits per key: partitioned %.5f, fuse %.5f", n, bytes, i.BitsPerKey(), i.FPRPosterior, fuse.FPR(8))
		if i.Bits > 8*bytes || i.FPRPosterior >= fuse.FPR(8) {
			t.Errorf("%d keys: %.5f in %d bits, fuse %.5f in %d", n, i.FPRPosterior, i.Bits, fuse.FPR(8), 8*bytes)
		}
	}
}
