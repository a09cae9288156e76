package main

import (
	"testing"

	"github.com/bloomery/bloomery/plan"
)

// TestCurves draws each family that meets the needs, for any limits of size, and the bounds behind the curves.
func TestCurves(t *testing.T) {
	for _, c := range []struct {
		n    plan.Needs
		want string
	}{
		{plan.Needs{Keys: 1000, Later: 500, Remove: true, BitsPerKey: 2}, "rankindexed counting"},
		{plan.Needs{Keys: 1000, ValueBits: 4}, "rankindexed(value_bits=1)"},
		{plan.Needs{Keys: 1000, ValueBits: 4, Merge: true}, ""},
	} {
		var last float64
		got, err := curves(t.Context(), c.n, func(done float64) { last = done })
		must(t, err)
		names := ""
		for _, curve := range got {
			if !curve.Bound {
				names += " " + curve.Name
			}
			if len(curve.Points) < 5 {
				t.Errorf("%+v: %s has %d points", c.n, curve.Name, len(curve.Points))
			}
		}
		if names != " "+c.want && names != c.want || len(got) < 2 || !got[len(got)-1].Bound || last < 0.5 {
			t.Errorf("%+v: %q, want %q; progress %g", c.n, names, c.want, last)
		}
	}
}
