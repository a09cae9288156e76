package experiment

import (
	"fmt"

	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/internal/stat"
)

// Tally is a number of absent keys and of the false positives among them.
type Tally struct{ Hits, Of uint64 }

// Plus returns the sum of two tallies.
func (t Tally) Plus(d Tally) Tally { return Tally{t.Hits + d.Hits, t.Of + d.Of} }

// Interval returns the exact 95% interval of the rate (Clopper and Pearson).
func (t Tally) Interval() (low, high float64) { return stat.Interval(t.Hits, t.Of, 0.95) }

// Judges reports whether the tally can test a predicted rate: whether that expects at least 3 hits.
func (t Tally) Judges(rate float64) bool { return rate*float64(t.Of) >= 3 }

// Row returns the row of the observed rate. Its note compares it with rate, the predicted p_a.
func (t Tally) Row(label string, rate float64) figure.Row {
	r := figure.Row{Label: label, Measured: float64(t.Hits) / float64(t.Of)}
	r.Low, r.High = t.Interval()
	switch {
	case !t.Judges(rate):
		return r.Noted("%d of %d, where p_a expects %.2g: too few to see it", t.Hits, t.Of, rate*float64(t.Of))
	case r.Low <= rate && rate <= r.High:
		return r.Noted("%d of %d, p_a lies in the interval", t.Hits, t.Of)
	}
	return r.Noted("%d of %d, p_a lies outside of the interval", t.Hits, t.Of)
}

// AddTo appends the observed rate and its interval to a curve, unless there is no hit or rate expects less than one.
func (t Tally) AddTo(curve *figure.Curve, x, rate float64) {
	if t.Hits > 0 && rate*float64(t.Of) >= 1 {
		low, high := t.Interval()
		curve.Add(x, figure.Row{Measured: float64(t.Hits) / float64(t.Of), Low: low, High: high})
	}
}

// AtMost returns the row with a note whether its value keeps a limit, in the unit of the value.
func AtMost(r figure.Row, limit float64) figure.Row {
	verdict := "kept"
	if !(r.Measured <= limit) {
		verdict = "MISSED"
	}
	if r.Note != "" {
		r.Note += "; "
	}
	r.Note += fmt.Sprintf("limit %.4g: %s", limit, verdict)
	return r
}
