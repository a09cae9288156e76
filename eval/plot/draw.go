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

// Sizes of a picture, in points. A point is a pixel if the picture is 400 pixels wide; text is readable down to this
// width.
const (
	width       = 400.0
	height      = 290.0 // height without the legend and the second line of the title
	labelHeight = 430.0 // height with at least manyLabels labels
	manyLabels  = 12

	shownWidth = 560.0 // width in CSS pixels, on a page that sets no width

	titleSize  = 13.0
	axisSize   = 12.0 // size of the names of axes
	tickSize   = 12.0
	legendSize = 12.0

	tickLength   = 4.0
	inset        = 5.0 // inset from the axes to the points
	lineHeight   = 1.25
	tickGap      = 8.0 // between the labels of two ticks
	legendRow    = 18.0
	legendThumb  = 26.0
	legendGap    = 14.0 // between two entries
	legendMargin = 10.0
	legendSpace  = 8.0 // above it

	mostMarks = 40   // a line of more points has marks at some of them only,
	rareMarks = 45.0 // at this distance
	markGap   = 8.0  // least distance of the marks of other lines
)

// dashes are the patterns of lines without marks: levels and bounds.
var dashes = [][]float64{{5, 3}, {1.5, 2}}

// Draw writes the picture, with its legend below, in the format "svg" or "png". It omits points that the axes cannot
// show, such as 0 on a logarithmic axis, and returns an error if no point is left. On dark pages, browsers show the SVG
// in light colors on dark gray.
func (p Plot) Draw(w io.Writer, format string) error {
	d, err := p.layOut()
	if err != nil {
		return err
	}
	switch format {
	case "svg":
		var s svg
		d.canvas = &s
		s.begin(width, d.bottom, d.Alt())
		d.draw()
		s.put("</svg>")
		_, err := s.WriteTo(w)
		return err
	case "png":
		r := newRaster(width, d.bottom)
		d.canvas = r
		d.draw()
		return png.Encode(w, r)
	}
	return fmt.Errorf("%s: no format %q; there are svg and png", p.Name, format)
}

// layOut returns the drawing without its canvas.
func (p Plot) layOut() (d drawing, err error) {
	d = drawing{Plot: p.drawable(), theme: light}
	d.title = balanced(d.Title, titleSize, width-2*legendMargin)
	if d.Diagram != nil {
		d.bottom = d.top() + d.Diagram.high()
		return d, nil
	}
	var ok bool
	if d.x, d.y, ok = d.axes(); !ok {
		return d, fmt.Errorf("%s: no point can be drawn", p.Name)
	}
	d.lines = d.styled()
	d.rows = legendRows(d.lines)
	d.high = height + titleSize*lineHeight*float64(len(d.title)-1)
	if d.labels() >= manyLabels {
		d.high += labelHeight - height
	}
	d.bottom = d.high + legendRow*float64(len(d.rows)) + legendSpace
	return d, nil
}

// line is a curve with its style.
type line struct {
	Curve
	stroke        // width 0: no line
	mark    shape // mark of radius 0: no marks
	markers color.RGBA
	gap     float64 // least distance between two marks
	before  float64 // distance from the left end to the first mark
}

// styled returns the curves with their styles.
func (d *drawing) styled() (lines []line) {
	levels := 0
	for i, c := range d.Curves {
		l := line{Curve: c, markers: d.curve(i), mark: shapes[i%len(shapes)]}
		l.mark.hollow = i/len(shapes)%2 == 1
		l.stroke = stroke{color: l.markers, width: 1.6}
		l.mark.radius = 3
		switch {
		case c.Level, c.Bound:
			l.stroke = stroke{color: d.soft, width: map[bool]float64{true: 1, false: 1.2}[c.Level]}
			l.dash = dashes[levels%len(dashes)]
			l.mark.radius = 0
			levels++
		case c.Dots:
			l.stroke.width, l.mark.radius, l.mark.hollow = 0, 3.4, true // hollow: a line below it stays visible
		case len(c.Points) > mostMarks:
			l.gap = rareMarks
			l.before = rareMarks * float64(i%len(shapes)) / float64(len(shapes)) // beside the marks of the other curves
		default:
			l.gap = markGap
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
	x, y   base.Axis
	area   rect     // between the axes
	title  []string // its lines
	lines  []line
	rows   [][]line // rows of the legend
	high   float64  // height without the legend
	bottom float64  // height
}

// labels returns the number of labels beside points.
func (d *drawing) labels() (n int) {
	for _, c := range d.Curves {
		n += len(c.Labels)
	}
	return n
}

// at returns the position of a point of a curve.
func (d *drawing) at(q [2]float64) point { return point{d.x.At(q[0]), d.y.At(q[1])} }

// top returns the end of the title and of the space below it.
func (d *drawing) top() float64 { return 6 + titleSize*lineHeight*float64(len(d.title)) + legendSpace }

// place places the axes between their names and the labels of ticks, and removes labels that overlap others.
func (d *drawing) place() {
	low := point{y: d.top()}
	high := point{x: width - legendMargin}
	wide := 0.0 // of the labels of ticks
	for _, t := range d.y.Ticks {
		wide = max(wide, d.tickLabel(t.Label).wide())
	}
	low.x = 6 + axisSize + legendSpace + wide + 2 + tickLength
	d.x.From, d.x.To = low.x+inset, high.x-inset
	if d.Names != nil {
		d.wrapNames((high.x-low.x)/float64(len(d.Names)) - tickGap)
	}
	rowsBelow := 1
	for _, t := range d.x.Ticks {
		rowsBelow = max(rowsBelow, 1+strings.Count(t.Label, "\n"))
	}
	high.y = d.high - 6 - axisSize - tickSize*float64(rowsBelow) - tickLength - legendSpace
	d.area = rect{low, high}
	d.y.From, d.y.To = high.y-inset, low.y+inset
	if d.Names == nil {
		thin(d.x, width-2+tickGap/2, func(label string) float64 { return d.tickLabel(label).wide() + tickGap })
	}
	thin(d.y, 0, func(string) float64 { return tickSize })
}

// draw draws the picture.
func (d *drawing) draw() {
	d.fill([]point{{0, 0}, {width, 0}, {width, d.bottom}, {0, d.bottom}}, d.back)
	for i, text := range d.title {
		d.write(point{width / 2, 6 + titleSize*(ascent+lineHeight*float64(i))}, text, titleSize, width-2*legendMargin, false)
	}
	if d.Diagram != nil {
		d.drawDiagram(d.top())
		return
	}
	d.place()
	d.write(point{width / 2, d.high - 6 - axisSize*descent}, d.X, axisSize, width-2*legendMargin, false)
	d.write(point{6 + axisSize*ascent, (d.area.min.y + d.area.max.y) / 2}, d.Y, axisSize, d.area.max.y, true)
	d.drawAxes()
	d.drawCurves()
	d.drawLabels()
	for i, row := range d.rows {
		d.drawLegend(row, d.bottom-legendRow*(float64(len(d.rows)-i)-0.5))
	}
}

// wrapNames splits the names of ticks into lines of at most the given width. If a word is longer, every second name is
// below its neighbors and has twice the width.
func (d *drawing) wrapNames(most float64) {
	longest, rows := 0.0, 0
	for _, t := range d.x.Ticks {
		for _, word := range strings.Fields(t.Label) {
			longest = max(longest, d.tickLabel(word).wide())
		}
	}
	low := longest > most
	if low {
		most *= 2
	}
	for i, t := range d.x.Ticks {
		lines := wrap(t.Label, tickSize, most)
		if i%2 == 0 {
			rows = max(rows, len(lines))
		}
		d.x.Ticks[i].Label = strings.Join(lines, "\n")
	}
	for i := 1; low && i < len(d.x.Ticks); i += 2 {
		d.x.Ticks[i].Label = strings.Repeat("\n", rows) + d.x.Ticks[i].Label
	}
}

// write writes a line around a point, in a smaller font if it is longer than most.
func (d *drawing) write(at point, line string, size, most float64, up bool) {
	t := text{text: line, size: size, color: d.ink, at: middle, up: up}
	t.size = min(size, size*most/t.wide())
	if half := t.wide() / 2; up {
		at.y = max(at.y, 2+half)
	}
	d.text(at, t)
}

// tickLabel returns the text of a tick.
func (d *drawing) tickLabel(label string) text {
	return text{text: label, size: tickSize, color: d.ink}
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
			label := d.tickLabel(line)
			label.at = middle
			d.text(point{min(at, width-2-label.wide()/2), high.y + tickLength + 1 + tickSize*(ascent+float64(i))}, label)
		}
	}
	for _, t := range d.y.Ticks {
		at := d.y.At(t.Value)
		d.stroke([]point{{low.x - length[t.Label == ""], at}, {low.x, at}}, axis)
		label := d.tickLabel(t.Label)
		label.at = end
		d.text(point{low.x - tickLength - 2, at + tickSize*(ascent-descent)/2}, label)
	}
}

// drawCurves draws intervals and lines, and over them all marks.
func (d *drawing) drawCurves() {
	for _, l := range d.lines {
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
	for _, l := range d.lines {
		last := point{math.Inf(-1), 0}
		for _, q := range l.Points {
			if at := d.at(q); at.x >= d.x.From+l.before && at.minus(last).length() >= l.gap {
				l.mark.draw(d, at, l.markers)
				last = at
			}
		}
	}
}

// name returns the name of the curve in the legend, in a smaller font if it is wider than the picture.
func (l line) name() text {
	t := text{text: l.Name, size: legendSize}
	t.size = min(t.size, t.size*(width-2*legendMargin-legendThumb-4)/t.wide())
	return t
}

// legendWidth returns the width of an entry and the gap behind it.
func (l line) legendWidth() float64 { return legendThumb + 4 + l.name().wide() + legendGap }

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
		name := l.name()
		name.color = d.ink
		d.text(point{x + legendThumb + 4, y + legendSize*(ascent-descent)/2}, name)
		x += l.legendWidth()
	}
}

// shape is a mark: a regular polygon, or a circle. All shapes have the same area.
type shape struct {
	corners int     // 0 for a circle
	turn    float64 // angle of the first corner, in radians from the positive x axis
	radius  float64 // radius of the circle of that area; 0: nothing is drawn
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
