package plot

import (
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"
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

// colors can be told apart with red-green color blindness, too (Okabe and Ito, 2008).
var colors = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255},
	{204, 121, 167, 255}, {86, 180, 233, 255}, {230, 159, 0, 255},
}

var (
	black = color.RGBA{A: 255}
	white = color.RGBA{255, 255, 255, 255}
	gray  = color.RGBA{90, 90, 90, 255}
	pale  = color.RGBA{225, 225, 225, 255}
)

// dashes are the patterns of lines without marks: levels and bounds.
var dashes = [][]float64{{5, 3}, {1.5, 2}}

// Draw writes the picture, with its legend below, in the format "svg" or "png". It omits points that the axes cannot
// show, such as 0 on a logarithmic axis, and returns an error if no point is left.
func (p Plot) Draw(w io.Writer, format string) error {
	p = p.drawable()
	if lo, hi := p.span(); lo > hi {
		return fmt.Errorf("%s: no point can be drawn", p.Name)
	}
	lines := p.lines()
	rows := legendRows(lines)
	below := legendRow*float64(len(rows)) + legendSpace
	switch format {
	case "svg":
		s := newSVG(width, height+below, p.Alt())
		p.draw(s, lines, rows, below)
		s.end()
		_, err := s.WriteTo(w)
		return err
	case "png":
		r := newRaster(width, height+below)
		p.draw(r, lines, rows, below)
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
func (p Plot) lines() (lines []line) {
	levels := 0
	for i, c := range p.Curves {
		l := line{Curve: c, markers: colors[i%len(colors)], mark: shapes[i%len(shapes)]}
		l.stroke = stroke{color: l.markers, width: 1.6}
		l.mark.radius = 2.2
		switch {
		case c.Level, c.Bound:
			l.stroke = stroke{color: gray, width: map[bool]float64{true: 1, false: 1.2}[c.Level]}
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

// draw draws the picture. below is the height of the legend.
func (p Plot) draw(c canvas, lines []line, rows [][]line, below float64) {
	c.fill([]point{{0, 0}, {width, 0}, {width, height + below}, {0, height + below}}, white)
	x, y := p.x(), p.y()
	wide := 0.0
	for _, t := range y.ticks {
		wide = max(wide, text{text: t.label, size: tickSize}.width())
	}
	left, right := 6+axisSize+legendSpace+wide+2+tickLength, width-legendMargin
	rowsBelow := 1 // of the names of ticks
	for _, t := range x.ticks {
		rowsBelow = max(rowsBelow, 1+strings.Count(t.label, "\n"))
	}
	top := 6 + titleSize + legendSpace
	bottom := height - 6 - axisSize - tickSize*float64(rowsBelow) - tickLength - legendSpace
	x.from, x.to = left+inset, right-inset
	y.from, y.to = bottom-inset, top+inset

	title := text{text: p.Title, size: titleSize, color: black, at: middle}
	if most := (width - 2*legendMargin) * 7 / 8; title.width() > most {
		title.size *= most / title.width()
	}
	most := width - legendMargin - title.width()*8/7/2 // where fonts are wider than ours, too
	c.text(point{min((left+right)/2, most), 6 + titleSize*ascent}, title)
	nameX := text{text: p.X, size: axisSize, color: black, at: middle}
	c.text(point{(left + right) / 2, height - 6 - axisSize*descent}, nameX)
	nameY := text{text: p.Y, size: axisSize, color: black, at: middle, up: true}
	c.text(point{6 + axisSize*ascent, (top + bottom) / 2}, nameY)
	drawAxes(c, x, y, rect{point{left, top}, point{right, bottom}})
	p.drawCurves(c, x, y, lines)
	p.drawLabels(c, x, y, rect{point{left, top}, point{right, bottom}})
	drawLegend(c, rows, height+below)
}

// drawAxes draws the grid, and the axes with their ticks.
func drawAxes(c canvas, x, y axis, area rect) {
	left, top, right, bottom := area.min.x, area.min.y, area.max.x, area.max.y
	for _, t := range x.ticks {
		if t.label != "" {
			c.stroke([]point{{x.at(t.value), bottom}, {x.at(t.value), top}}, stroke{color: pale, width: 0.5})
		}
	}
	for _, t := range y.ticks {
		if t.label != "" {
			c.stroke([]point{{left, y.at(t.value)}, {right, y.at(t.value)}}, stroke{color: pale, width: 0.5})
		}
	}
	axis := stroke{color: black, width: 0.5}
	c.stroke([]point{{left, top}, {left, bottom}, {right, bottom}}, axis)
	length := func(t tick) float64 {
		if t.label == "" {
			return tickLength / 2
		}
		return tickLength
	}
	for _, t := range x.ticks {
		at := x.at(t.value)
		c.stroke([]point{{at, bottom}, {at, bottom + length(t)}}, axis)
		for i, line := range strings.Split(t.label, "\n") {
			label := text{text: line, size: tickSize, color: black, at: middle}
			c.text(point{min(at, width-2-label.width()/2), bottom + tickLength + 1 + tickSize*(ascent+float64(i))}, label)
		}
	}
	for _, t := range y.ticks {
		at := y.at(t.value)
		c.stroke([]point{{left - length(t), at}, {left, at}}, axis)
		label := text{text: t.label, size: tickSize, color: black, at: end}
		c.text(point{left - tickLength - 2, at + tickSize*(ascent-descent)/2}, label)
	}
}

// drawCurves draws intervals and lines, and over them all marks.
func (p Plot) drawCurves(c canvas, x, y axis, lines []line) {
	for _, l := range lines {
		path := make([]point, len(l.Points))
		for i, q := range l.Points {
			path[i] = point{x.at(q[0]), y.at(q[1])}
		}
		if l.Level {
			path = []point{{x.from, path[0].y}, {x.to, path[0].y}}
		}
		for i := range l.Bars {
			low, high := p.bar(l.Curve, i)
			at, bar := path[i].x, stroke{color: l.markers, width: 1}
			c.stroke([]point{{at, y.at(low)}, {at, y.at(high)}}, bar)
			for _, end := range []float64{y.at(low), y.at(high)} {
				c.stroke([]point{{at - 2.5, end}, {at + 2.5, end}}, bar)
			}
		}
		if l.stroke.width > 0 && len(path) > 1 {
			c.stroke(path, l.stroke)
		}
	}
	for _, l := range lines {
		for _, q := range l.Points {
			l.mark.draw(c, point{x.at(q[0]), y.at(q[1])}, l.markers)
		}
	}
}

// drawLabels draws the labels of all curves, if there are any.
func (p Plot) drawLabels(c canvas, x, y axis, within rect) {
	var points []labelled
	var bars []rect
	for curve, l := range p.Curves {
		for i, q := range l.Points {
			at, of := point{x.at(q[0]), y.at(q[1])}, colors[curve%len(colors)]
			label := labelled{at: at, color: of, text: text{size: labelSize, color: of, at: middle}}
			if l.Labels != nil {
				label.text.text = l.Labels[i]
			}
			points = append(points, label)
			if l.Bars != nil {
				low, high := p.bar(l, i)
				bars = append(bars, rect{point{at.x - halfMark/2, y.at(high)}, point{at.x + halfMark/2, y.at(low)}})
			}
		}
	}
	drawLabels(c, points, bars, within)
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

// drawLegend draws the rows at the bottom of the picture.
func drawLegend(c canvas, rows [][]line, bottom float64) {
	for i, row := range rows {
		x, y := legendMargin, bottom-legendRow*(float64(len(rows)-i)-0.5)
		for _, l := range row {
			if l.stroke.width > 0 {
				c.stroke([]point{{x, y}, {x + legendThumb, y}}, l.stroke)
			}
			l.mark.draw(c, point{x + legendThumb/2, y}, l.markers)
			name := text{text: l.Name, size: legendSize, color: black}
			c.text(point{x + legendThumb + 4, y + legendSize*(ascent-descent)/2}, name)
			x += l.legendWidth()
		}
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
