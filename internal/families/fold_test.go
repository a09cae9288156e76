package families

import (
	"fmt"
	"testing"

	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestFold folds filters by all kinds of divisors. The result must be the filter that a direct build of its Spec makes.
func TestFold(t *testing.T) {
	if got, want := fmt.Sprint(With(family.CanFold)), "[standard blocked]"; got != want {
		t.Errorf("families that fold: %s, want %s", got, want)
	}
	hs := filtertest.Hashes(500, 1)
	for text, places := range map[string]string{
		"standard(k=7)": "m", "standard(k=1)": "m", "blocked(k=6)": "blocks", "blocked(k=19)": "blocks",
		"blocked(k=8,layout=split)": "blocks",
	} {
		f, s := parse(t, text)
		for _, n := range []uint64{1, 2, 59, 64, 720} { // places after folding
			for _, d := range []uint64{1, 2, 3, 5, 7, 31, 32, 33, 60, 63, 64, 65, 77, 127, 128, 500, 1001} {
				large := build(t, f, s.With(places, n*d), hs)
				folded := large.(family.Folder).Fold(d)
				if want := build(t, f, s.With(places, n), hs); !equal(folded, want) {
					t.Fatalf("%s with %d places, folded to %d, is not the filter that is built with %d", text, n*d, n, n)
				}
				noFalseNegative(t, folded, hs)
			}
		}
	}
}
