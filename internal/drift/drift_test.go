package drift

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// rising returns releases whose rate is rate·(1 + growth·i) with a relative scatter.
func rising(n int, rate, growth, scatter float64, rnd *rand.Rand) []Measured {
	r := make([]Measured, n)
	for i := range r {
		r[i] = Measured{
			Release:      uint64(i + 1),
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
	if d.Due < 27 || d.Due > 28 { // 0.0022 is 27.5 steps
		t.Errorf("%+v", d)
	}
	text := d.String()
	if !strings.Contains(text, "due in 28 releases") || !strings.Contains(text, "below the planned 1%,") {
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
		releases = append(releases, Measured{Release: uint64(41 + i), FPRPosterior: r.FPRPosterior})
	}
	if d := Of(0.01, releases); math.Abs(d.Slope-0.0000085) > 1e-9 {
		t.Errorf("the slope is %v: releases before the fresh build count", d.Slope)
	}
}

func TestDriftOfEdges(t *testing.T) {
	for _, c := range []struct {
		name    string
		planned float64
		rates   []float64
		due     uint64
		text    string
	}{
		{"no release", 0.01, nil, Never, "no rate"},
		{"no planned rate", 0, []float64{0.02, 0.03, 0.04}, Never, "none planned"},
		{"planned out of range", math.NaN(), []float64{0.02}, Never, "none planned"},
		{"one release", 0.01, []float64{0.0101}, Never, "1.01 times the planned 1%"},
		{"as planned", 0.01, []float64{0.01003}, Never, ", at the planned 1%"},
		{"over", 0.01, []float64{0.0111}, 0, "due now"},
		{"next", 0.01, []float64{0.0105, 0.0107, 0.0109}, 1, "next release"},
		{"falling", 0.01, []float64{0.0099, 0.0098, 0.0097}, Never, "falling"},
		{"broken rates", 0.01, []float64{0.009, 0, math.NaN(), 2, -1}, Never, "below the planned 1%"},
	} {
		var releases []Measured
		for i, r := range c.rates {
			releases = append(releases, Measured{Release: uint64(i), FPRPosterior: r})
		}
		d := Of(c.planned, releases)
		if d.Due != c.due || !strings.Contains(d.String(), c.text) {
			t.Errorf("%s: %+v: %s", c.name, d, d)
		}
	}
	// Equal numbers of releases, and a range whose differences do not overflow.
	same := []Measured{{7, 0.01}, {7, 0.01}, {7, 0.0101}}
	if d := Of(0.01, same); d.Slope != 0 {
		t.Errorf("%+v", d)
	}
	far := []Measured{{1, 0.01}, {2, 0.0101}, {math.MaxUint64, 0.0102}}
	if d := Of(0.02, far); math.IsNaN(d.Slope) || d.Due != Never {
		t.Errorf("%+v", d)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		before, after uint64
		allowed       float64
		ok            bool
	}{
		{0, 0, 0, true}, {0, 5, 0, true}, {5, 5, 0, true}, {5, 6, 0, true}, {5, 4, 0, false},
		{100, 50, ShrinkOfList, true}, {100, 49, ShrinkOfList, false}, {100, 0, ShrinkOfList, false},
		{1, 0, ShrinkOfList, false},
		{100, 90, ShrinkOfMembers, true}, {100, 89, ShrinkOfMembers, false},
		{100, 0, 0.999, false}, {100, 0, AnyShrink, true}, {math.MaxUint64, 1, 0.99, false},
	} {
		err := CheckShrink("keys", c.before, c.after, c.allowed)
		var e *ShrinkError
		if (err == nil) != c.ok || !c.ok && (!errors.As(err, &e) || !errors.Is(err, filter.ErrShrunk)) {
			t.Errorf("%d keys after %d with %v: %v", c.after, c.before, c.allowed, err)
		}
	}
	err := CheckShrink("members", 60000, 9736, ShrinkOfMembers)
	if want := "members: 9736, and 60000 before: 50264 are lost, and at most 10% may be"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAllowed(t *testing.T) {
	for _, wrong := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := AllowedShrink(wrong, ShrinkOfList); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for option, want := range map[float64]float64{0: ShrinkOfList, 0.2: 0.2, 1: AnyShrink} {
		if got, err := AllowedShrink(option, ShrinkOfList); got != want || err != nil {
			t.Errorf("%v: %v, %v; want %v", option, got, err, want)
		}
	}
}
