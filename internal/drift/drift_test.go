package drift

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// rising returns releases whose rate is rate·(1 + growth·i) with a relative scatter.
func rising(n int, rate, growth, scatter float64, rnd *rand.Rand) []Measured {
	r := make([]Measured, n)
	for i := range r {
		r[i] = Measured{
			Release: uint64(i + 1), Keys: 1000,
			FPRPosterior: rate * (1 + growth*float64(i) + scatter*rnd.NormFloat64()),
		}
	}
	return r
}

func TestDriftOfLine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	d := Of(0.01, rising(11, 0.008, 0.01, 0, rnd)) // 0.0088 after ten steps of 0.00008
	if math.Abs(d.Slope-0.00008) > 1e-9 || math.Abs(d.Ratio-0.88) > 1e-9 {
		t.Fatalf("slope %v, ratio %v", d.Slope, d.Ratio)
	}
	if d.Exceeds < 15 || d.Exceeds > 16 || d.Due < 27 || d.Due > 28 { // 0.0012 and 0.0022 are 15 and 27.5 steps
		t.Errorf("%+v", d)
	}
	text := d.String()
	if !strings.Contains(text, "due in 28 releases") || !strings.Contains(text, "below the chosen 1%,") {
		t.Error(text)
	}
}

func TestDriftOfScatterIsNone(t *testing.T) {
	wrong := 0
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(3, seed))
		if Of(0.01, rising(30, 0.0095, 0, 0.003, rnd)).Slope != 0 {
			wrong++
		}
	}
	if wrong > 25 { // 5.5% are expected: 11, and 25 is 4.3 standard deviations above
		t.Errorf("%d of 200 histories without a drift have a slope", wrong)
	}
}

func TestDriftOfFreshBuild(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	releases := rising(40, 0.009, 0.02, 0, rnd)
	for i, r := range rising(5, 0.0085, 0.001, 0, rnd) {
		releases = append(releases, Measured{Release: uint64(41 + i), Keys: 1000, FPRPosterior: r.FPRPosterior})
	}
	if d := Of(0.01, releases); math.Abs(d.Slope-0.0000085) > 1e-9 {
		t.Errorf("the slope is %v: releases before the fresh build count", d.Slope)
	}
}

func TestDriftOfEdges(t *testing.T) {
	for _, c := range []struct {
		name         string
		chosen       float64
		rates        []float64
		exceeds, due uint64
		text         string
	}{
		{"no release", 0.01, nil, Never, Never, "no rate"},
		{"no chosen rate", 0, []float64{0.02, 0.03, 0.04}, Never, Never, "none chosen"},
		{"chosen out of range", math.NaN(), []float64{0.02}, Never, Never, "none chosen"},
		{"one release", 0.01, []float64{0.0101}, 0, Never, "1.01 times the chosen 1%"},
		{"as chosen", 0.01, []float64{0.01003}, 0, Never, ", at the chosen 1%"},
		{"over", 0.01, []float64{0.0111}, 0, 0, "due now"},
		{"next", 0.01, []float64{0.0105, 0.0107, 0.0109}, 0, 1, "next release"},
		{"falling", 0.01, []float64{0.0099, 0.0098, 0.0097}, Never, Never, "falling"},
		{"broken rates", 0.01, []float64{0.009, 0, math.NaN(), 2, -1}, Never, Never, "below the chosen 1%"},
	} {
		var releases []Measured
		for i, r := range c.rates {
			releases = append(releases, Measured{Release: uint64(i), FPRPosterior: r})
		}
		d := Of(c.chosen, releases)
		if d.Exceeds != c.exceeds || d.Due != c.due || !strings.Contains(d.String(), c.text) {
			t.Errorf("%s: %+v: %s", c.name, d, d)
		}
	}
	// Equal numbers of releases, and a range that overflows no difference.
	same := []Measured{{7, 1, 0.01}, {7, 1, 0.01}, {7, 1, 0.0101}}
	if d := Of(0.01, same); d.Slope != 0 {
		t.Errorf("%+v", d)
	}
	far := []Measured{{1, 1, 0.01}, {2, 1, 0.0101}, {math.MaxUint64, 1, 0.0102}}
	if d := Of(0.02, far); math.IsNaN(d.Slope) || d.Due != Never {
		t.Errorf("%+v", d)
	}
}
