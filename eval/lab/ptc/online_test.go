package ptc

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/bloomery/bloomery/eval/lab/experiment"
)

// TestExtremes draws 1000 normal numbers many times, and compares the lowest numbers with the constants and with the
// estimate from 200 numbers.
func TestExtremes(t *testing.T) {
	const runs, mean, sigma = 4000, 100, 2
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = mean + sigma*r.NormFloat64()
		}
		return v
	}
	lowest := make([]float64, runs)
	for i := range lowest {
		lowest[i] = math.Inf(1)
		for _, x := range draw(1000) {
			lowest[i] = min(lowest[i], (x-mean)/sigma)
		}
	}
	// The mean of the runs has a standard error of 0.0055, their standard deviation has a standard error of about
	// 0.006.
	if z, s := stat.MeanStdDev(lowest, nil); math.Abs(z+extremeOf1000) > 0.025 || math.Abs(s-extremeSigma) > 0.025 {
		t.Errorf("the lowest is %.3f ± %.3f", z, s)
	}
	c := experiment.Config{}
	want := [2]float64{mean - extremeOf1000*sigma, mean + extremeOf1000*sigma}
	for i, r := range extremes(c, "", draw(extremeTrials), want) {
		if r.Agrees == nil || !*r.Agrees || r.Low > r.Measured || r.High < r.Measured {
			t.Errorf("%+v, want %g", r, want[i])
		}
	}
	for _, r := range extremes(c, "", draw(extremeTrials), [2]float64{want[0] - 3, want[1] + 3}) {
		if *r.Agrees {
			t.Errorf("%+v agrees", r)
		}
	}
	if rows := extremes(c, "", draw(extremeTrials-1), want); rows[0].Agrees != nil {
		t.Error("too few trials are compared")
	}
	if rows := extremes(c, "", draw(1), want); rows != nil {
		t.Errorf("one trial has %+v", rows)
	}
}
