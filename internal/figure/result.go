// Package figure holds the results of measurements, tables with intervals and plots, and writes them as text, CSV,
// JSON, SVG, PNG and as one HTML page. It does not depend on filters: the lab, the planner's plots and the bench module
// use it.
package figure

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/internal/stat"
)

// Result is what an experiment found: rows of numbers and plots.
type Result struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Seed   uint64 `json:"seed"`
	Trials int    `json:"trials"`
	Rows   []Row  `json:"rows"`
	Plots  []Plot `json:"plots"`
	// Notes apply to the whole result, such as what replaces an input that is not available, or an error in a paper.
	Notes []string `json:"notes,omitempty"`
}

// DropNonFinite removes all points of all curves that have a coordinate which is NaN or infinite.
func (r *Result) DropNonFinite() {
	for _, p := range r.Plots {
		for i, c := range p.Curves {
			p.Curves[i] = c.only(func(x, y float64) bool { return !math.IsNaN(x+y) && !math.IsInf(x+y, 0) })
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
}

// Mean returns the row of the mean of measured, one value a trial, with its 95% interval.
func Mean(label string, measured []float64) Row {
	mean, low, high := stat.MeanInterval(measured)
	return Row{Label: label, Measured: mean, Low: low, High: high}
}

// Exact returns the row of a value without a statistical error, such as one that is computed.
func Exact(label string, v float64) Row { return Row{Label: label, Measured: v, Low: v, High: v} }

// Against returns the row compared with a published value. The tolerance is in the unit of the value.
func (r Row) Against(published, tolerance float64) Row {
	agrees := math.Abs(r.Measured-published) <= tolerance
	r.Published, r.Tolerance, r.Agrees = &published, tolerance, &agrees
	return r
}

// Noted returns the row with a note.
func (r Row) Noted(format string, args ...any) Row {
	r.Note = fmt.Sprintf(format, args...)
	return r
}

// Plot is a picture: curves over common axes.
type Plot struct {
	Name   string  `json:"name"` // of the file, without extension
	Title  string  `json:"title"`
	X      string  `json:"x"`
	Y      string  `json:"y"`
	LogX   bool    `json:"log_x,omitempty"`
	LogY   bool    `json:"log_y,omitempty"`
	Curves []Curve `json:"curves"`
	// Names, if there are any, label x = 1, 2, 3, ... instead of numbers.
	Names []string `json:"names,omitempty"`
}

// Curve is one line of a plot. With Dots it is drawn as points only. With Level it is a horizontal line at the y of its
// only point.
type Curve struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"`
	Dots   bool         `json:"dots,omitempty"`
	Level  bool         `json:"level,omitempty"`
	Bound  bool         `json:"bound,omitempty"` // a limit of what is possible: a line without marks
	// the interval of the y of each point, low and high, if it is to be shown
	Bars   [][2]float64 `json:"bars,omitempty"`
	Labels []string     `json:"labels,omitempty"` // a text beside each point, if there is any
}

// Add appends the mean of a row, with its interval, at x.
func (c *Curve) Add(x float64, r Row) {
	c.Points = append(c.Points, [2]float64{x, r.Measured})
	c.Bars = append(c.Bars, [2]float64{r.Low, r.High})
}

// AddRatio appends the mean of a row and its interval, both divided by the predicted value, at x.
func (c *Curve) AddRatio(x float64, r Row, predicted float64) {
	c.Add(x, Row{Measured: r.Measured / predicted, Low: r.Low / predicted, High: r.High / predicted})
}

// One returns a horizontal line at y = 1: where measurements are as predicted.
func One(name string) Curve { return Curve{Name: name, Level: true, Points: [][2]float64{{1, 1}}} }

// only returns the curve with the points for which keep returns true.
func (c Curve) only(keep func(x, y float64) bool) Curve {
	points, bars, labels := c.Points, c.Bars, c.Labels
	c.Points, c.Bars, c.Labels = [][2]float64{}, nil, nil
	for i, q := range points {
		if !keep(q[0], q[1]) {
			continue
		}
		c.Points = append(c.Points, q)
		if bars != nil {
			c.Bars = append(c.Bars, bars[i])
		}
		if labels != nil {
			c.Labels = append(c.Labels, labels[i])
		}
	}
	return c
}
