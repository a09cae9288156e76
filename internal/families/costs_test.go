package families

import (
	"math"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
)

// TestCosts checks that the table contains every kind, each with the same number of points.
func TestCosts(t *testing.T) {
	c := Costs()
	for _, k := range Forms() {
		points := c.Kinds[k.String()]
		if len(points) < len(c.Kinds["standard"])/2 || len(points) < 8 {
			t.Errorf("%s has %d points: run go generate ./internal/families", k, len(points))
		}
		for _, p := range points {
			if !(p.Present > 0.3 && p.Present < 5000 && p.Absent > 0.3 && p.Absent < 5000 && p.Build > 1) {
				t.Errorf("%s: %+v", k, p)
			}
		}
	}
	if len(c.Kinds) != len(Forms()) || c.Machine == "" || c.Date == "" || c.Keyed <= 0 {
		t.Errorf("%d kinds of %d, %q, %q, keyed %g", len(c.Kinds), len(Forms()), c.Machine, c.Date, c.Keyed)
	}
}

// TestCostsAt interpolates a table of round numbers.
func TestCostsAt(t *testing.T) {
	s := family.NewSpec("standard")
	c := CostTable{Kinds: map[string][]CostPoint{"standard": {
		{Keys: 100, FPR: 0.1, Present: 10}, {Keys: 100, FPR: 0.001, Present: 30},
		{Keys: 10_000, FPR: 0.1, Present: 20}, {Keys: 10_000, FPR: 0.001, Present: 60},
	}}}
	for _, x := range []struct {
		keys uint64
		fpr  float64
		want float64
	}{
		{100, 0.1, 10}, {100, 0.01, 20}, {1000, 0.1, 15}, {1000, 0.01, 30}, {10_000, 0.001, 60},
		{1, 0.5, 10}, {1e9, 1e-9, 60}, {0, 0.1, 10},
	} {
		p, ok := c.At(s, x.keys, x.fpr)
		if !ok || math.Abs(p.Present-x.want) > 1e-9 {
			t.Errorf("At(%d, %g) = %+v, want %g", x.keys, x.fpr, p, x.want)
		}
	}
	if p, ok := c.OutOfCache(s, 0.01); !ok || p.Present != 40 {
		t.Errorf("OutOfCache = %+v", p)
	}
	if _, ok := c.At(family.NewSpec("fuse"), 10, 0.1); ok {
		t.Error("a kind that is not there has costs")
	}
}
