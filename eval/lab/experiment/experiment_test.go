package experiment

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/standard"
)

// TestDo requires the name, the source and only finite points in a result, and the default number of trials.
func TestDo(t *testing.T) {
	var got Config
	e := Experiment{Name: "name", Source: "source", Run: func(_ context.Context, c Config) (figure.Result, error) {
		r := c.Begin(7)
		got = c
		r.Plots = []figure.Plot{{Curves: []figure.Curve{{Points: [][2]float64{{1, 2}, {math.NaN(), 1}, {1, math.Inf(1)}}}}}}
		c.Progress(1)
		return r, nil
	}}
	r, err := e.Do(t.Context(), Config{})
	if err != nil || r.Name != "name" || r.Source != "source" || r.Trials != 7 || r.Seed != 1 || got.Trials != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	if p := r.Plots[0].Curves[0].Points; len(p) != 1 || p[0] != [2]float64{1, 2} {
		t.Errorf("points %v", p)
	}
	for _, c := range []struct {
		c    Config
		want int
	}{{Config{Quick: true}, 2}, {Config{Quick: true, Trials: 3}, 3}, {Config{Trials: 9}, 9}} {
		if r, _ := e.Do(t.Context(), c.c); r.Trials != c.want {
			t.Errorf("%+v: %d trials, want %d", c.c, r.Trials, c.want)
		}
	}
}

// TestEach requires all results in their order, progress up to 1, and the error of a call.
func TestEach(t *testing.T) {
	last := 0.0
	c := Config{Progress: func(done float64) { last = max(last, done) }}
	c.Begin(1)
	got, err := Each(t.Context(), c.Work(20), 2, 10, func(_ context.Context, i int) (int, error) { return i * i, nil })
	if err != nil || !slices.Equal(got, []int{0, 1, 4, 9, 16, 25, 36, 49, 64, 81}) || last != 1 {
		t.Errorf("%v, %v, progress %g", got, err, last)
	}
	bad := errors.New("bad")
	_, err = Each(t.Context(), nil, 0, 100, func(ctx context.Context, i int) (int, error) {
		if i == 3 {
			return 0, bad
		}
		return i, ctx.Err()
	})
	if !errors.Is(err, bad) {
		t.Error(err)
	}
}

// TestObserved compares the observed rate of a filter with its prediction, and the hashes of trials with each other.
func TestObserved(t *testing.T) {
	const n, absent = 10_000, 100_000
	c := Config{Seed: 3}
	hs := c.Hashes(n+absent, 1)
	if !slices.Equal(hs[:10], c.Hashes(10, 1)) || slices.Equal(hs[:10], c.Hashes(10, 2)) {
		t.Error("hashes do not depend on the trial alone")
	}
	f, err := standard.New(standard.Config{Keys: n, Size: family.Sizing{FPR: 0.02}})
	rate, err := Observed(f, err, hs, n)
	if want := f.Info().FPRPosterior; err != nil || math.Abs(rate-want) > 4.5*math.Sqrt(want/absent) {
		t.Errorf("rate %g, want %g: %v", rate, want, err)
	}
	if Count(f, hs[:n]) != n {
		t.Error("a key is lost")
	}
}

// TestTally requires a note on the position of p_a, and no point for a rate that is too low to be observed.
func TestTally(t *testing.T) {
	for _, c := range []struct {
		t      Tally
		rate   float64
		note   string
		points int
	}{
		{Tally{10, 1000}, 0.01, "p_a lies in the interval", 1}, {Tally{10, 1000}, 0.1, "p_a lies outside", 1},
		{Tally{1, 1000}, 0.002, "too few", 1}, {Tally{0, 1000}, 0.002, "too few", 0}, {Tally{1, 1000}, 0.0001, "too few", 0},
	} {
		var curve figure.Curve
		c.t.AddTo(&curve, 1, c.rate)
		r := c.t.Row("label", c.rate)
		if !strings.Contains(r.Note, c.note) || len(curve.Points) != c.points || !(r.Low <= r.Measured && r.Measured <= r.High) {
			t.Errorf("%+v at %g: %+v, %d points", c.t, c.rate, r, len(curve.Points))
		}
	}
	if sum := (Tally{1, 2}).Plus(Tally{3, 4}); sum != (Tally{4, 6}) {
		t.Errorf("%+v", sum)
	}
}

// TestAtMost requires that the verdict is appended to an earlier note.
func TestAtMost(t *testing.T) {
	for v, want := range map[float64]string{1: "seen; limit 1: kept", 1.1: "seen; limit 1: MISSED"} {
		if got := AtMost(figure.Exact("label", v).Noted("seen"), 1).Note; got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
	if got := AtMost(figure.Exact("label", math.NaN()), 1).Note; got != "limit 1: MISSED" {
		t.Error(got)
	}
}

// TestColumns transposes a table and fills slices of any length.
func TestColumns(t *testing.T) {
	if got := Columns([][]float64{{1, 2}, {3, 4}, {5, 6}}); len(got) != 2 || !slices.Equal(got[1], []float64{2, 4, 6}) {
		t.Errorf("%v", got)
	}
	for random, want := range map[uint32]uint64{0: 0, 1 << 31: 5, math.MaxUint32: 9} {
		if got := Throw(random, 10); got != want {
			t.Errorf("Throw(%d) = %d, want %d", random, got, want)
		}
	}
}
