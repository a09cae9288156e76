package plot

import (
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"

	base "github.com/bloomery/bloomery/internal/plot"
)

// Sizes of a picture, in points of 1/72 inch.
const (
	width  = 504.0
	height = 316.8 // without the legend

	titleSize  = 12.0
	axisSize   = 12.0 // of the names of axes
	tickSize   = 10.0
	legendSize = 10.5

	tickLength   = 4.0
	inset        = 5.0 // from the axes to the points
	legendRow    = 17.0
	legendThumb  = 26.0
	legendGap    = 16.0 // between two entries
	legendMargin = 14.0
	legendSpace  = 8.0 // above it
)

// dashes are the patterns of lines without marks: levels and bounds.
var dashes = [][]float64{{5, 3}, {1.5, 2}}

// Draw writes the picture, with its legend below, in the format "svg" or "png". It omits points that the axes cannot
// show, such as 0 on a logarithmic axis, and returns an error if no point is left.
func (p Plot) Draw(w io.Writer, format string) error { return p.paint(w, format, light) }

// DrawDark writes the same picture for dark pages, in light colors on dark gray.
func (p Plot) DrawDark(w io.Writer, format string) error { return p.paint(w, format, dark) }

func (p Plot) paint(w io.Writer, format string, colors theme) error {
	d := drawing{Plot: p.drawable(), theme: colors}
	var ok bool
	if d.x, d.y, ok = d.axes(); !ok {
		return fmt.Errorf("%s: no point can be drawn", p.Name)
	}
	lines := d.lines()
	rows := legendRows(lines)
	bottom := height + legendRow*float64(len(rows)) + legendSpace
	switch format {
	case "svg":
		var s svg
		d.canvas = &s
		s.begin(width, bottom, d.Alt())
		d.draw(lines, rows, bottom)
		s.put("</svg>")
		_, err := s.WriteTo(w)
		return err
	case "png":
		r := newRaster(width, bottom)
		d.canvas = r
		d.draw(lines, rows, bottom)
		return png.Encode(w, r)
	}
	return fmt.Errorf("%s: no format %q; there are svg and png", p.Name, format)
}

// line is a curve with its style.
type line struct {
	Curve
	stroke        // of width 0: no line
	mark    shape // of radius 0: no marks
	markers color.RGBA
}

// lines returns the curves with their styles.
func (d *drawing) lines() (lines []line) {
	levels := 0
	for i, c := range d.Curves {
		l := line{Curve: c, markers: d.curve(i), mark: shapes[i%len(shapes)]}
		l.stroke = stroke{color: l.markers, width: 1.6}
		l.mark.radius = 2.2
		switch {
		case c.Level, c.Bound:
			l.stroke = stroke{color: d.soft, width: map[bool]float64{true: 1, false: 1.2}[c.Level]}
			l.dash = dashes[levels%len(dashes)]
			l.mark.radius = 0
			levels++
		case c.Dots:
			l.stroke.width, l.mark.radius, l.mark.hollow = 0, 3.4, true // hollow: a line below it stays visible
		case len(c.Points) > 40:
			l.mark.radius = 0
		}
		lines = append(lines, l)
	}
	return lines
}

// drawing is a plot on a canvas.
type drawing struct {
	Plot
	canvas
	theme
	x, y base.Axis
	area rect // between the axes
}

// at returns the position of a point of a curve.
func (d *drawing) at(q [2]float64) point { return point{d.x.At(q[0]), d.y.At(q[1])} }

// draw draws the picture, whose last row of the legend ends at bottom.
func (d *drawing) draw(lines []line, rows [][]line, bottom float64) {
	d.fill([]point{{0, 0}, {width, 0}, {width, bottom}, {0, bottom}}, d.back)
	wide, rowsBelow := 0.0, 1 // of the names of ticks
	for _, t := range d.y.Ticks {
		wide = max(wide, text{text: t.Label, size: tickSize}.width())
	}
	for _, t := range d.x.Ticks {
		rowsBelow = max(rowsBelow, 1+strings.Count(t.Label, "\n"))
	}
	low := point{6 + axisSize + legendSpace + wide + 2 + tickLength, 6 + titleSize + legendSpace}
	high := point{width - legendMargin, height - 6 - axisSize - tickSize*float64(rowsBelow) - tickLength - legendSpace}
	d.area = rect{low, high}
	d.x.From, d.x.To = low.x+inset, high.x-inset
	d.y.From, d.y.To = high.y-inset, low.y+inset

	title := text{text: d.Title, size: titleSize, color: d.ink, at: middle}
	if most := (width - 2*legendMargin) * 7 / 8; title.width() > most {
		title.size *= most / title.width()
	}
	most := width - legendMargin - title.width()*8/7/2 // also if fonts are wider than ours
	center := point{(low.x + high.x) / 2, (low.y + high.y) / 2}
	d.text(point{min(center.x, most), 6 + titleSize*ascent}, title)
	nameX, nameY := text{text: d.X, size: axisSize, color: d.ink, at: middle}, text{text: d.Y, size: axisSize,
		color: d.ink, at: middle, up: true}
	d.text(point{center.x, height - 6 - axisSize*descent}, nameX)
	d.text(point{6 + axisSize*ascent, center.y}, nameY)
	d.drawAxes()
	d.drawCurves(lines)
	d.drawLabels()
	for i, row := range rows {
		d.drawLegend(row, bottom-legendRow*(float64(len(rows)-i)-0.5))
	}
}

// drawAxes draws the grid, and the axes with their ticks.
func (d *drawing) drawAxes() {
	low, high := d.area.min, d.area.max
	grid, axis := stroke{color: d.grid, width: 0.5}, stroke{color: d.ink, width: 0.5}
	for _, t := range d.x.Ticks {
		if at := d.x.At(t.Value); t.Label != "" {
			d.stroke([]point{{at, high.y}, {at, low.y}}, grid)
		}
	}
	for _, t := range d.y.Ticks {
		if at := d.y.At(t.Value); t.Label != "" {
			d.stroke([]point{{low.x, at}, {high.x, at}}, grid)
		}
	}
	d.stroke([]point{low, {low.x, high.y}, high}, axis)
	length := map[bool]float64{true: tickLength / 2, false: tickLength} // by whether the label is empty
	for _, t := range d.x.Ticks {
		at := d.x.At(t.Value)
		d.stroke([]point{{at, high.y}, {at, high.y + length[t.Label == ""]}}, axis)
		for i, line := range strings.Split(t.Label, "\n") {
			label := text{text: line, size: tickSize, color: d.ink, at: middle}
			d.text(point{min(at, width-2-label.width()/2), high.y + tickLength + 1 + tickSize*(ascent+float64(i))}, label)
		}
	}
	for _, t := range d.y.Ticks {
		at := d.y.At(t.Value)
		d.stroke([]point{{low.x - length[t.Label == ""], at}, {low.x, at}}, axis)
		label := text{text: t.Label, size: tickSize, color: d.ink, at: end}
		d.text(point{low.x - tickLength - 2, at + tickSize*(ascent-descent)/2}, label)
	}
}

// drawCurves draws intervals and lines, and over them all marks.
func (d *drawing) drawCurves(lines []line) {
	for _, l := range lines {
		var path []point
		for i, q := range l.Points {
			at := d.at(q)
			if l.Level {
				at.x = d.x.From
			}
			path = append(path, at)
			if l.Bars == nil {
				continue
			}
			low, high := d.bar(l.Curve, i)
			bar := stroke{color: l.markers, width: 1}
			d.stroke([]point{{at.x, d.y.At(low)}, {at.x, d.y.At(high)}}, bar)
			for _, end := range []float64{d.y.At(low), d.y.At(high)} {
				d.stroke([]point{{at.x - 2.5, end}, {at.x + 2.5, end}}, bar)
			}
		}
		if l.Level {
			path = append(path[:1], point{d.x.To, path[0].y})
		}
		if l.stroke.width > 0 && len(path) > 1 {
			d.stroke(path, l.stroke)
		}
	}
	for _, l := range lines {
		for _, q := range l.Points {
			l.mark.draw(d, d.at(q), l.markers)
		}
	}
}

// legendWidth returns the width of an entry, plus 1/7 for fonts that are wider than ours.
func (l line) legendWidth() float64 {
	return legendThumb + (4+text{text: l.Name, size: legendSize}.width())*8/7 + legendGap
}

// legendRows splits the entries into rows that fit into the width of the picture.
func legendRows(lines []line) (rows [][]line) {
	left := 0.0
	for _, l := range lines {
		if len(rows) == 0 || l.legendWidth() > left {
			rows, left = append(rows, nil), width-2*legendMargin+legendGap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], l)
		left -= l.legendWidth()
	}
	return rows
}

// drawLegend draws a row of the legend.
func (d *drawing) drawLegend(row []line, y float64) {
	x := legendMargin
	for _, l := range row {
		if l.stroke.width > 0 {
			d.stroke([]point{{x, y}, {x + legendThumb, y}}, l.stroke)
		}
		l.mark.draw(d, point{x + legendThumb/2, y}, l.markers)
		name := text{text: l.Name, size: legendSize, color: d.ink}
		d.text(point{x + legendThumb + 4, y + legendSize*(ascent-descent)/2}, name)
		x += l.legendWidth()
	}
}

// shape is a mark: a regular polygon, or a circle. All shapes have the same area.
type shape struct {
	corners int     // 0 for a circle
	turn    float64 // angle of the first corner, in radians from the positive x axis
	radius  float64 // of the circle of that area; 0: nothing is drawn
	hollow  bool
}

// shapes are the marks of the curves in order, so that curves can be told apart without colors.
var shapes = []shape{
	{},
	{corners: 4, turn: math.Pi / 4},
	{corners: 3, turn: math.Pi / 2},
	{corners: 4},
	{corners: 3, turn: -math.Pi / 2},
}

// draw draws the mark.
func (s shape) draw(c canvas, at point, of color.RGBA) {
	if s.radius == 0 {
		return
	}
	path := circle(at, s.radius)
	if s.corners > 0 {
		path = nil
		step := 2 * math.Pi / float64(s.corners)
		for i := range s.corners {
			path = append(path, at.polar(s.radius*math.Sqrt(step/math.Sin(step)), s.turn+step*float64(i)))
		}
	}
	switch {
	case s.hollow:
		c.stroke(append(path, path[0], path[1]), stroke{color: of, width: 1.4}) // path[1]: no notch at path[0]
	case s.corners == 0:
		c.circle(at, s.radius, of)
	default:
		c.fill(path, of)
	}
}
