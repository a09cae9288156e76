// Package figure represents the results of measurements as tables with intervals and plots, and writes them as text,
// CSV, JSON and HTML pages. It does not depend on filters. Package eval/plot draws the plots.
package figure

import (
	"cmp"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/eval/plot"
	"github.com/bloomery/bloomery/internal/stat"
)

// Result is the result of an experiment: rows of numbers and plots.
type Result struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Seed   uint64 `json:"seed"`
	Trials int    `json:"trials"`
	Rows   []Row  `json:"rows"`
	Plots  []Plot `json:"plots"`
	// Compared is the heading of the column of the values that rows are compared with. Empty: "published".
	Compared string `json:"-"`
	// Notes apply to the whole result. They describe, for example, the replacement of an unavailable input, or an error
	// in a paper.
	Notes []string `json:"notes,omitempty"`
}

// Heading returns the heading of the column of the values that rows are compared with.
func (r Result) Heading() string { return cmp.Or(r.Compared, "published") }

// Add appends rows.
func (r *Result) Add(rows ...Row) { r.Rows = append(r.Rows, rows...) }

// DropNonFinite removes every point with a NaN or infinite coordinate from all curves.
func (r *Result) DropNonFinite() {
	for _, p := range r.Plots {
		for i, c := range p.Curves {
			p.Curves[i] = c.Only(func(x, y float64) bool { return !math.IsNaN(x+y) && !math.IsInf(x+y, 0) })
		}
	}
}

// Row is one number of a table. Its JSON keys are the names of the fields in lower case; see MarshalJSON.
type Row struct {
	Label     string
	Published *float64 // nil if there is no published value
	Measured  float64
	Low       float64 // the 95% confidence interval of the mean
	High      float64
	Tolerance float64 // largest difference from Published that counts as agreement, in the unit of Published
	Agrees    *bool   // whether Published lies within Tolerance of Measured; nil without Published
	Note      string
	// Misprint is true if the published value is a misprint; Note gives the reason. JSON and CSV contain only the note.
	Misprint bool
}

// Mean returns the row of the mean of measured, which has one value per trial, with its 95% interval.
func Mean(label string, measured []float64) Row {
	mean, low, high := MeanInterval(measured)
	return Row{Label: label, Measured: mean, Low: low, High: high}
}

// MeanInterval returns the mean of the values and its 95% confidence interval by Student's t distribution. For one
// value, both ends are equal to the value. v must not be empty.
func MeanInterval(v []float64) (mean, low, high float64) {
	n := float64(len(v))
	for _, x := range v {
		mean += x / n
	}
	if len(v) < 2 {
		return mean, mean, mean
	}

	var squares float64
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	half := StandardErrors(len(v)) * math.Sqrt(squares/(n-1)/n)
	return mean, mean - half, mean + half
}

// StandardErrors returns how many standard errors MeanInterval of n values, n at least 2, reaches to each side.
func StandardErrors(n int) float64 { return stat.StudentErrors(n, 0.95) }

// Exact returns the row of a value without a statistical error, such as one that is computed.
func Exact(label string, v float64) Row { return Row{Label: label, Measured: v, Low: v, High: v} }

// Against returns the row compared with a published value. The tolerance is in the unit of the value.
func (r Row) Against(published, tolerance float64) Row {
	agrees := math.Abs(r.Measured-published) <= tolerance
	r.Published, r.Tolerance, r.Agrees = &published, tolerance, &agrees
	return r
}

// Interval returns the measured value and its interval, for a curve.
func (r Row) Interval() (value, low, high float64) { return r.Measured, r.Low, r.High }

// Noted returns the row with a note.
func (r Row) Noted(format string, args ...any) Row {
	r.Note = fmt.Sprintf(format, args...)
	return r
}

// Misprinted returns the row with the reason why its published value is a misprint.
func (r Row) Misprinted(format string, args ...any) Row {
	r = r.Noted(format, args...)
	r.Misprint = true
	return r
}

// noise is the reason why a row of a quick run may disagree.
const noise = "a quick run measures fewer keys and trials"

// noisy reports whether the row has a statistical error. A computed row differs in a full run as well.
func (r Row) noisy() bool { return r.Low != r.High }

// ExplainNoise adds a note to each row that disagrees and has a statistical error. The note says that the run was
// quick.
func (r *Result) ExplainNoise() {
	for i, row := range r.Rows {
		if row.Agrees == nil || *row.Agrees || row.Misprint || !row.noisy() {
			continue
		}
		if row.Note != "" {
			row.Note += "; "
		}
		r.Rows[i].Note = row.Note + noise
	}
}

// Plot is a picture, and Curve one of its lines.
type (
	Plot  = plot.Plot
	Curve = plot.Curve
)

// Level returns a horizontal line at y. Its only point is at x.
func Level(name string, x, y float64) Curve { return plot.Level(name, x, y) }
