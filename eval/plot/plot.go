// Package plot draws curves over two axes as SVG and PNG, with error bars, labels and a legend below. It does not
// depend on filters; lab and bench use it. Package internal/plot of the main module implements the axes, and draws the
// plots of bloomery plan, without fonts and pixels.
//
//	plot.go    what is drawn
//	axis.go    the axes of a plot
//	draw.go    the picture: grid, curves, marks, legend
//	theme.go   its colors, for light and dark pages
//	labels.go  where texts beside points are placed
//	canvas.go  the four things that a picture consists of, in SVG; png.go has them in pixels
package plot

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// Plot is a picture: curves over common axes.
type Plot struct {
	Name   string  `json:"name"` // of the file, without extension
	Title  string  `json:"title"`
	X      string  `json:"x"`
	Y      string  `json:"y"`
	LogX   bool    `json:"log_x,omitempty"`
	LogY   bool    `json:"log_y,omitempty"`
	Curves []Curve `json:"curves"`
	// Names, if not empty, label x = 1, 2, 3, ... instead of numbers. A name may have several lines.
	Names []string `json:"names,omitempty"`
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
// reaches 0 is drawn down to a third of its point.
func (p Plot) bar(c Curve, i int) (low, high float64) {
	y := c.Points[i][1]
	if c.Bars == nil {
		return y, y
	}
	if low, high = c.Bars[i][0], c.Bars[i][1]; p.LogY && low <= 0 {
		low = y / 3
	}
	return low, high
}

// Alt returns a text alternative: the title, the axes and the names of the curves.
func (p Plot) Alt() string {
	var names []string
	for _, c := range p.Curves {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("%s. Plot of %s over %s: %s.", p.Title, p.Y, p.X, strings.Join(names, "; "))
}

// theme lists the colors of a picture.
type theme struct {
	back   color.RGBA
	ink    color.RGBA // texts and axes
	soft   color.RGBA // levels and bounds
	grid   color.RGBA
	curves []color.RGBA
}

// light is for white pages. Its curves have a contrast of at least 3:1, as WCAG 2.2 requires of graphics, and are
// distinguishable with red-green color blindness. The first four are colors of Okabe and Ito (2008), whose other colors
// are too bright.
var light = theme{
	back: color.RGBA{255, 255, 255, 255},
	ink:  color.RGBA{A: 255},
	soft: color.RGBA{90, 90, 90, 255},
	grid: color.RGBA{225, 225, 225, 255},
	curves: []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255},
		{204, 121, 167, 255}, {70, 30, 110, 255}, {100, 70, 0, 255},
	},
}

// dark is for dark pages. Its curves have a contrast of at least 4.5:1, as WCAG 2.2 requires of small texts.
var dark = theme{
	back: color.RGBA{29, 36, 40, 255},
	ink:  color.RGBA{228, 233, 236, 255},
	soft: color.RGBA{163, 176, 184, 255},
	grid: color.RGBA{54, 66, 74, 255},
	curves: []color.RGBA{
		{80, 160, 255, 255}, {255, 126, 60, 255}, {40, 190, 145, 255},
		{232, 150, 196, 255}, {150, 218, 250, 255}, {242, 192, 84, 255},
	},
}

// curve returns the color of curve i.
func (t theme) curve(i int) color.RGBA { return t.curves[i%len(t.curves)] }
