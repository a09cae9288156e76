package plank

import (
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/internal/probe"
)

// TestServe requires the numbers of objects and downloads of the workload and the rate of the full filter.
func TestServe(t *testing.T) {
	w := worked(1000)
	c := experiment.Config{}
	c.Begin(1)
	s, err := w.serve(t.Context(), c.Work(1), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}

	var first experiment.Tally
	for _, part := range s.filling {
		if part.Of != uint64(w.objects()/downloadParts) {
			t.Errorf("a part of %d objects, want %d", part.Of, w.objects()/downloadParts)
		}
		first = first.Plus(part)
	}
	if first.Of != 80_000 || s.keptOnce > float64(first.Hits) || s.bytes != 100_000 {
		t.Errorf("%d objects, %d found, %g of them downloaded once; %d bytes", first.Of, first.Hits, s.keptOnce, s.bytes)
	}

	full := probe.FPR(80_000, 800_000, downloadsK)
	off := float64(s.full.Hits) - full*float64(s.full.Of)
	if limit := 4.5 * experiment.Sigma(float64(s.full.Of), full, 1); off > limit || off < -limit {
		t.Errorf("%d of %d absent objects found, which is %.0f from the formula", s.full.Hits, s.full.Of, off)
	}
}
