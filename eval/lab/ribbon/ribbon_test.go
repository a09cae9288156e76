package ribbon

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/family"
)

// TestSizes requires the sizes that filters report for known keys, and notes with the verdicts of the limits.
func TestSizes(t *testing.T) {
	c := experiment.Config{Quick: true, Trials: 3}
	c.Begin(1)
	got, err := shapes[1].build(t.Context(), c.Hashes(10_000, 1))
	if err != nil || got.bits < 0 || got.bits > 2 || got.file <= got.bits || got.file > got.bits+5 {
		t.Errorf("%+v, %v", got, err)
	}
	rows := shapes[1].rows(10_000, 0, [][]size{{{0, 10}}, {{2, 20}}}, map[string]*figure.Curve{})
	if len(rows) != 3 || !strings.Contains(rows[0].Note, "MISSED") || rows[1].Measured != 2 ||
		math.Abs(rows[2].Measured-15) > 1e-9 {
		t.Errorf("%+v", rows)
	}
}

// TestMedian compares intervals with the ranks of the binomial distribution. For 11 values, the interval extends from
// the second smallest to the second largest value, since P(X <= 1) = 12/2048 and P(X <= 2) = 67/2048 > 2.5%.
func TestMedian(t *testing.T) {
	for _, c := range []struct{ n, rank int }{
		{1, 1}, {3, 1}, {5, 1}, {6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {25, 8},
	} {
		var v []float64
		for i := range c.n {
			v = append(v, float64(i+1))
		}
		slices.Reverse(v)
		got := median("", v)
		if got.Low != float64(c.rank) || got.High != float64(c.n+1-c.rank) || got.Measured != float64(c.n+1)/2 {
			t.Errorf("%d values: %+v, want rank %d", c.n, got, c.rank)
		}
	}
}

func TestBumped(t *testing.T) {
	if got := bumped([]uint64{90, 9, 1}); !slices.Equal(got, []float64{10, 1}) {
		t.Errorf("%v", got)
	}
	if got := bumped([]uint64{7}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestAsk requires that both ways to query cover every key.
func TestAsk(t *testing.T) {
	c := experiment.Config{}
	c.Begin(1)
	hs := c.Hashes(4096, 1)
	for _, spec := range rivals {
		f, err := build(t.Context(), spec, hs)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]bool, 256)
		if n := ask(f, hs, dst, false); n != len(hs) || has(f, hs) != uint64(len(hs)) {
			t.Errorf("%s: %d of %d keys", family.SpecOf(f), n, len(hs))
		}
		if ask(f, hs, dst, true); slices.Contains(dst, false) {
			t.Errorf("%s: a batch lost keys", family.SpecOf(f))
		}
	}
}
