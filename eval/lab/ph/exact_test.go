package ph

import (
	"math"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
)

// TestMoments compares moments, upTo and deviation with closed forms.
func TestMoments(t *testing.T) {
	two := []float64{0.25, 0.5, 0.25} // heads of two coins
	if mean, sd := moments(two); mean != 1 || sd != math.Sqrt(0.5) {
		t.Errorf("mean %v, standard deviation %v", mean, sd)
	}
	if p := upTo(two, 0); p != 0.25 {
		t.Errorf("no heads with probability %v", p)
	}
	if p := upTo(two, 1); p != 0.75 {
		t.Errorf("at most one with probability %v", p)
	}

	got, sd := deviation("", []float64{1, 2, 3, 4}), math.Sqrt(5./3)
	if got.Measured != sd || math.Abs(got.High+got.Low-2*sd) > 1e-12 ||
		math.Abs(got.High-sd-1.96*sd/math.Sqrt(6)) > 1e-12 {
		t.Errorf("%+v, want %v", got, sd)
	}
	if one := deviation("", []float64{7}); one.Measured != 0 {
		t.Errorf("one value: %+v", one)
	}
}

// TestSubsets checks the order and the number of subsets, and choiceBits, the logarithm of their number.
func TestSubsets(t *testing.T) {
	if got := subsets([]uint64{1, 2, 4}, 2); !slices.Equal(got, []uint64{3, 5, 6}) {
		t.Errorf("%v", got)
	}
	if got := subsets([]uint64{1, 2}, 3); len(got) != 0 {
		t.Errorf("3 of 2: %v", got)
	}
	for _, c := range [][4]int{{1, 1, 1, 1}, {1, 2, 5, 10}, {3, 2, 5, 1000}, {2, 6, 16, 8008 * 8008}} {
		g, k, h, want := c[0], c[1], c[2], math.Log2(float64(c[3]))
		if got := choiceBits(g, k, h); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d groups, %d of %d: %v bits, want %v", g, k, h, got, want)
		}
	}
	if one := choiceBits(1, 6, 16); len(subsets(make([]uint64, 16), 6)) != int(math.Round(math.Exp2(one))) {
		t.Errorf("6 of 16 in %v bits", one)
	}
}

// TestFewestOnAverage requires the exact mean where there is one choice, and a lower bound with more choices.
func TestFewestOnAverage(t *testing.T) {
	mean, _ := moments(paper.NewBits(tinyBits, 0, tinyKeys*tinyK))
	last := fewestOnAverage(tinyK)
	if math.Abs(last-mean) > 1e-9 {
		t.Errorf("one choice: %v, the mean is %v", last, mean)
	}
	for h := tinyK + 1; h <= tinyK+6; h++ {
		if next := fewestOnAverage(h); next >= last || next < 0 {
			t.Errorf("%d functions: %v after %v", h, next, last)
		} else {
			last = next
		}
	}
}

// TestConstructionBits compares the room beside the choices with a count by hand.
func TestConstructionBits(t *testing.T) {
	o := construction{n: 100, groups: 4, name1: 5}
	for _, c := range []struct {
		ks    []int
		named bool
		want  uint64
	}{
		{[]int{6, 6, 6, 6}, false, 800 - 24*5},
		{[]int{6, 6, 6, 6}, true, 800 - 24*5}, // equal k need no names
		{[]int{5, 5, 7, 7}, false, 800 - 24*5},
		{[]int{5, 5, 7, 7}, true, 800 - 24*5 - 4}, // a bit per group
		{[]int{4, 5, 6, 7}, true, 800 - 22*5 - 8}, // two
	} {
		if got := o.bits(c.ks, c.named); got != c.want {
			t.Errorf("%v, named %v: %d bits, want %d", c.ks, c.named, got, c.want)
		}
	}
}

// TestShare counts the bits of three keys by hand. Key 1 is alone in its group, which has two functions.
func TestShare(t *testing.T) {
	at := [][]uint64{{0}, {0, 1}, {2}}
	got := share(3, 2, 8, []int{1, 2}, func(key int) int { return key % 2 },
		func(key, l int) uint64 { return at[key][l] })
	if got.fill != 3./8 || !slices.Equal(got.sizes, []float64{2, 1}) || !slices.Equal(got.alone, []float64{1, 0.5}) {
		t.Errorf("%+v", got)
	}
}

// TestSettledPass checks the first pass that leaves three digits, and the rates after passes.
func TestSettledPass(t *testing.T) {
	f := found{published{k: 2}, paper.GreedyChoice{Fills: []float64{0.5, 0.4504, 0.4496, 0.4491, 0.4}}}
	if got := f.settled(); got != 2 {
		t.Errorf("settled in pass %d", got)
	}
	if f.rateAfter(0) != 0.25 || f.rateAfter(9) != f.rate() || math.Abs(f.rate()-0.16) > 1e-15 {
		t.Errorf("rates %v, %v, %v", f.rateAfter(0), f.rateAfter(9), f.rate())
	}
	if f.Fills = []float64{0.5}; f.settled() != 0 {
		t.Errorf("one pass: settled in %d", f.settled())
	}
}

// TestCells picks the first cell with the lowest rate, and formats numbers.
func TestCells(t *testing.T) {
	cells := make([]cell, 3)
	for i, rate := range []float64{0.2, 0.1, 0.1} {
		cells[i] = cell{published{k: i}, figure.Row{Measured: rate}}
	}
	if got := lowest(cells); got.k != 1 {
		t.Errorf("lowest: cell %d", got.k)
	}
	got := only(cells, func(p published) bool { return p.k != 1 })
	if len(got) != 2 || got[1].k != 2 || len(cells) != 3 {
		t.Errorf("%v", got)
	}
	if got := numbers([]int{1, 20, 3}); got != "1, 20, 3" {
		t.Error(got)
	}
}
