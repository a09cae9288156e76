package rankindexed

import (
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestFullAbove holds the table of docs/rankindexed.md: how many keys fit above the capacity.
func TestFullAbove(t *testing.T) {
	for _, x := range []struct {
		keys, filters int
		least, most   float64 // shares of the capacity
	}{
		{1000, 20, 0.15, 0.45}, {10_000, 4, 0.05, 0.12}, {100_000, 2, 0.015, 0.04}, {1_000_000, 1, 0.004, 0.015},
	} {
		if testing.Short() && x.keys > 10_000 {
			continue
		}
		for seed := range x.filters {
			f := made(t, Config{Keys: uint64(x.keys), Size: family.Sizing{FPR: 0.01}})
			n := 0
			for _, h := range filtertest.Hashes(2*x.keys, uint64(seed)) {
				if f.Add(h) != nil {
					break
				}
				n++
			}
			over := float64(n)/float64(x.keys) - 1
			t.Logf("%d keys: full at %+.1f%%", x.keys, 100*over)
			if over < x.least || over > x.most {
				t.Errorf("%d keys, seed %d: full at %+.1f%%, docs/rankindexed.md says about %.0f%%", x.keys, seed, 100*over, 100*x.least)
			}
		}
	}
}
