package saha

import (
	"slices"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

// TestSolutions compares solutions with functions written out, and requires that the pair 0 and 1 stands for all pairs.
func TestSolutions(t *testing.T) {
	want := make([]int, 4)
	for a := 1; a < 5; a++ {
		for b := range 5 {
			want[(3*a+b)%5%2*2+(4*a+b)%5%2]++
		}
	}
	f := polynomials{p: 5, places: 2, degree: 1, leastA: 1}
	if got := f.solutions([]int{3, 4}); !slices.Equal(got, want) || f.functions() != 20 {
		t.Errorf("%v of %d functions, want %v of 20", got, f.functions(), want)
	}
	for _, f := range []polynomials{{7, 3, 1, 1}, {5, 3, 2, 1}} {
		fewest, most, _ := f.extremes()
		if low, high, _ := f.extremes(0, 1); low != fewest || high != most {
			t.Errorf("%+v: %d to %d, all keys %d to %d", f, low, high, fewest, most)
		}
	}
}

// TestCounted requires one solution of every system of equations.
func TestCounted(t *testing.T) {
	r, err := counting.Do(t.Context(), experiment.Config{})
	if err != nil || r.Count().Agree != 6 || r.Count().Disagree != 0 {
		t.Errorf("%+v, %v", r.Count(), err)
	}
}
