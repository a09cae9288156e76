package rankindexed_test

import (
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// TestPlanOverflow requires that geometries keep the bound of the paper on an overflow.
func TestPlanOverflow(t *testing.T) {
	for _, c := range []rankindexed.Config{
		{Keys: 1e5}, {Keys: 1e5, Size: family.Sizing{FPR: 1e-4}}, {Keys: 5000, Counting: true}, {Keys: 7},
		{Keys: 1e5, Overflow: 1e-3},
	} {
		limit := c.Overflow
		if limit == 0 {
			limit = rankindexed.DefaultOverflow
		}
		g, err := c.Plan()
		if bound := g.OverflowBound(); err != nil || bound > limit*(1+1e-9) {
			t.Errorf("%+v: bound %g, want at most %g: %v", g, bound, limit, err)
		}
	}
}
