package main

import (
	"slices"
	"testing"

	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/plot"
	"github.com/bloomery/bloomery/plan"
)

// TestCurves checks that the plot shows each family that meets the needs, for any limits of the size, and the bounds.
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

// TestCurveStyles checks that every family that the planner compares has a distinct style.
func TestCurveStyles(t *testing.T) {
	for _, f := range families.All() {
		if len(f.Forms) > 0 && !slices.Contains(familyStyles, f.Name) {
			t.Errorf("%s has no style", f.Name)
		}
	}
	if len(familyStyles) > plot.Styles {
		t.Errorf("%d styles for %d families", plot.Styles, len(familyStyles))
	}
}

// TestCurveRates checks that the rates of a curve decrease and include the requested rate.
func TestCurveRates(t *testing.T) {
	for _, asked := range []float64{0, 0.5, 0.01, 0.00001, 1e-9} {
		rates := curveRates(asked)
		for i := range rates[1:] {
			if rates[i+1] >= rates[i] {
				t.Errorf("asked %g: %g", asked, rates)
				break
			}
		}
		if asked > 0 && (asked > rates[0] || asked < rates[len(rates)-1]) || len(rates) < 10 {
			t.Errorf("asked %g: %g", asked, rates)
		}
	}
}
