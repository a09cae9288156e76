// Package plot draws curves over two axes as SVG and PNG, with error bars, labels and a legend below. It does not
// depend on filters; lab and bench use it. Package internal/plot of the main module implements the axes, and draws the
// plots of bloomery plan, without fonts and pixels.
//
//	plot.go    what is drawn
//	axis.go    the axes of a plot
//	draw.go    the picture: grid, curves, marks, legend
//	diagram.go a picture of boxes and arrows instead
//	theme.go   its colors, on light and dark pages
//	labels.go  where texts beside points are placed
//	canvas.go  the four things that a picture consists of, in SVG; png.go has them in pixels
package plot

import (
	"fmt"
	"math"
	"strings"
)

// Plot is a picture: curves over common axes.
type Plot struct {
	Name   string  `json:"name"` // name of the file, without extension
	Title  string  `json:"title"`
	X      string  `json:"x"`
	Y      string  `json:"y"`
	LogX   bool    `json:"log_x,omitempty"`
	LogY   bool    `json:"log_y,omitempty"`
	Curves []Curve `json:"curves"`
	// Names, if not empty, label x = 1, 2, 3, ... instead of numbers. A name may have several lines.
	Names []string `json:"names,omitempty"`
	// Diagram, if not nil, is drawn instead of the axes and curves.
	Diagram *Diagram `json:"diagram,omitempty"`
}

// Curve is one line of a plot. With Dots it is drawn as points only. With Level it is a horizontal line at the y of its
// only point.
type Curve struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"points"`
	Dots   bool         `json:"dots,omitempty"`
	Level  bool         `json:"level,omitempty"`
	Bound  bool         `json:"bound,omitempty"` // drawn as a line without marks, such as a lower bound
	// Bars holds the interval of the y of each point, low and high, or is nil if no intervals are shown.
	Bars   [][2]float64 `json:"bars,omitempty"`
	Labels []string     `json:"labels,omitempty"` // texts beside the points, or nil
}

// Interval is a measured value with its confidence interval.
type Interval interface {
	Interval() (value, low, high float64)
}

// Add appends a value with its interval at x.
func (c *Curve) Add(x float64, v Interval) { c.AddRatio(x, v, 1) }

// AddRatio appends a value and its interval, both divided by the predicted value, at x.
func (c *Curve) AddRatio(x float64, v Interval, predicted float64) {
	value, low, high := v.Interval()
	c.AddPoint(x, value/predicted)
	c.Bars = append(c.Bars, [2]float64{low / predicted, high / predicted})
}

// AddPoint appends a point without an interval.
func (c *Curve) AddPoint(x, y float64) { c.Points = append(c.Points, [2]float64{x, y}) }

// Level returns a horizontal line at y. Its only point is at x.
func Level(name string, x, y float64) Curve {
	return Curve{Name: name, Level: true, Points: [][2]float64{{x, y}}}
}

// Only returns the curve with the points for which keep returns true.
func (c Curve) Only(keep func(x, y float64) bool) Curve {
	all := c
	c.Points, c.Bars, c.Labels = [][2]float64{}, nil, nil
	for i, q := range all.Points {
		if !keep(q[0], q[1]) {
			continue
		}
		c.Points = append(c.Points, q)
		if all.Bars != nil {
			c.Bars = append(c.Bars, all.Bars[i])
		}
		if all.Labels != nil {
			c.Labels = append(c.Labels, all.Labels[i])
		}
	}
	return c
}

// drawable returns the plot without the points that its axes cannot show, and without curves that have no other points.
func (p Plot) drawable() Plot {
	shown := func(v float64, log bool) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log) }
	curves := p.Curves
	p.Curves = nil
	for _, c := range curves {
		c = c.Only(func(x, y float64) bool { return shown(x, p.LogX) && shown(y, p.LogY) })
		if len(c.Points) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	return p
}

// bar returns the interval of point i, or its y twice if it has no interval. On a logarithmic axis an interval that
// reaches 0 is drawn down to a third of its point. If no point is negative, an interval ends at 0.
func (p Plot) bar(c Curve, i int) (low, high float64) {
	y := c.Points[i][1]
	if c.Bars == nil {
		return y, y
	}
	low, high = c.Bars[i][0], c.Bars[i][1]
	switch {
	case p.LogY && low <= 0:
		low = y / 3
	case low < 0 && !p.negative():
		low = 0
	}
	return low, high
}

// negative reports whether the y of any point is negative.
func (p Plot) negative() bool {
	for _, c := range p.Curves {
		for _, q := range c.Points {
			if q[1] < 0 {
				return true
			}
		}
	}
	return false
}

// Alt returns a text alternative: the title, the axes and the names of the curves.
func (p Plot) Alt() string {
	if p.Diagram != nil {
		return p.Diagram.alt(p.Title)
	}
	var names []string
	for _, c := range p.Curves {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("%s. Plot of %s over %s: %s.", p.Title, p.Y, p.X, strings.Join(names, "; "))
}
