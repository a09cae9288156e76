package ph

import (
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

// TestRates requires a rate for each pass of a search, the last near the rate of published filters and below the first.
func TestRates(t *testing.T) {
	const passes = 24
	got, err := rates(t.Context(), passes, (&experiment.Config{Seed: 1}).Hashes(2000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != passes {
		t.Fatalf("%d rates of %d passes", len(got), passes)
	}
	if first, last := got[0], got[passes-1]; last >= first || last < 0.006 || last > 0.009 {
		t.Errorf("rates from %g to %g", first, last)
	}
}
