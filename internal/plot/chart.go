// Package plot draws curves over two logarithmic axes as SVG, with a legend below. It is independent of filters. It
// uses estimated text widths instead of fonts, so the command bloomery needs neither a font nor a plotting library.
//
// Package eval/plot draws the pictures of lab and bench, with error bars, labels beside points, dark pages and pixels.
package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Chart is a picture: curves over common axes.
type Chart struct {
	Title, X, Y string
	Curves      []Curve
}

// Curve is one line of a chart, with at least one point. Coordinates are positive and finite.
type Curve struct {
	Name   string
	Points [][2]float64
	Bound  bool // drawn as a dashed line without marks, such as a lower bound
}

// Sizes of a picture, in points of 1/72 inch.
const (
	width  = 504.0
	height = 316.8 // without the legend

	textSize = 12.0 // of the title and the names of axes
	tickSize = 10.0 // of the numbers beside ticks, and of the legend

	left, right, top = 60.0, 14.0, 28.0 // from the border of the picture to the axes
	below            = 46.0             // from the axes to the legend
	inset            = 5.0              // from the axes to the points
	tickLength       = 4.0
	legendRow        = 17.0
	legendLine       = 26.0 // length of a line of the legend
	legendGap        = 16.0 // between two entries
)

// emWidth is the width of a letter in parts of its size, a little above the mean of the usual sans-serif fonts.
const emWidth = 0.58

// colors of curves are distinguishable with red-green color blindness and have a contrast of at least 3:1 on white. The
// first four are from Okabe and Ito (2008); the other colors of that paper are too bright.
var colors = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#461e6e", "#644600"}

const (
	ink      = "#000000" // texts and axes
	boundInk = "#5a5a5a"
	gridInk  = "#e1e1e1"
)

// dashes are the patterns of bounds.
var dashes = []string{"5 3", "1.5 2"}

// marks are the marks of the curves in order, as paths around 0, so that curves are distinguishable without colors.
var marks = []string{
	"M-2.2 0A2.2 2.2 0 1 0 2.2 0A2.2 2.2 0 1 0 -2.2 0Z", // circle
	"M-1.95 -1.95H1.95V1.95H-1.95Z",                     // square
	"M0 -3.42L2.96 1.71H-2.96Z",                         // triangle
	"M0 -2.76L2.76 0L0 2.76L-2.76 0Z",                   // diamond
	"M0 3.42L2.96 -1.71H-2.96Z",                         // triangle on its tip
}

// svg is a picture that is being written.
type svg struct {
	bytes.Buffer
	x, y Axis
}

// write writes a line. Lengths are rounded, and texts are escaped.
func (s *svg) write(format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case float64:
			args[i] = strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
		case string:
			args[i] = html.EscapeString(v)
		}
	}
	fmt.Fprintf(s, format+"\n", args...)
}

// text writes a line of text. anchor is the part of the text at the point: start, middle or end.
func (s *svg) text(x, y, size float64, anchor, text string) {
	s.write(`<text x="%s" y="%s" text-anchor="%s" font-size="%s" fill="%s">%s</text>`, x, y, anchor, size, ink, text)
}

func (s *svg) line(x1, y1, x2, y2 float64, color string) {
	s.write(`<path d="M%s %sL%s %s" fill="none" stroke="%s" stroke-width="0.5"/>`, x1, y1, x2, y2, color)
}

// WriteSVG writes the picture of at least one curve.
func (c Chart) WriteSVG(w io.Writer) error {
	s := &svg{}
	s.x, s.y = axes(c.Curves)
	s.x.From, s.x.To = left+inset, width-right-inset
	s.y.From, s.y.To = height-below-inset, top+inset

	rows := legendRows(c.Curves)
	bottom := height + legendRow*float64(len(rows))
	s.write(`<svg role="img" xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s"`+
		` font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif">`, width, bottom, width, bottom)
	s.write("<title>%s</title>", c.alternative())
	s.write(`<path d="M0 0H%sV%sH0Z" fill="#ffffff"/>`, width, bottom)

	s.drawAxes(c)
	for i, curve := range c.Curves {
		s.drawCurve(curve, i)
	}
	for i, row := range rows {
		s.drawLegend(c.Curves, row, height+legendRow*(float64(i)+0.5)-4)
	}
	s.write("</svg>")
	_, err := s.WriteTo(w)
	return err
}

// alternative returns the text for readers who cannot see the picture: the title, the axes and the names of the curves.
func (c Chart) alternative() string {
	var names []string
	for _, curve := range c.Curves {
		names = append(names, curve.Name)
	}
	return fmt.Sprintf("%s. Plot of %s over %s: %s.", c.Title, c.Y, c.X, strings.Join(names, "; "))
}

// axes returns the axes of curves.
func axes(curves []Curve) (x, y Axis) {
	var all [2][]float64
	for _, c := range curves {
		for _, p := range c.Points {
			all[0], all[1] = append(all[0], p[0]), append(all[1], p[1])
		}
	}
	spanning := func(v []float64) Axis { return NewAxis(slices.Min(v), slices.Max(v), true) }
	return spanning(all[0]), spanning(all[1])
}

// drawAxes draws the title, the grid, and the axes with their names and ticks.
func (s *svg) drawAxes(c Chart) {
	const bottom, center, middle = height - below, (left + width - right) / 2, (top + height - below) / 2
	s.text(center, 16, textSize, "middle", c.Title)
	s.text(center, height-14, textSize, "middle", c.X)
	s.write(`<text transform="translate(16 %s) rotate(-90)" text-anchor="middle" font-size="%s" fill="%s">%s</text>`,
		middle, textSize, ink, c.Y)

	for _, t := range s.x.Ticks {
		at, length := s.x.At(t.Value), tickLength/2
		if t.Label != "" {
			length = tickLength
			s.line(at, bottom, at, top, gridInk)
			s.text(at, bottom+tickLength+tickSize, tickSize, "middle", t.Label)
		}
		s.line(at, bottom, at, bottom+length, ink)
	}
	for _, t := range s.y.Ticks {
		at, length := s.y.At(t.Value), tickLength/2
		if t.Label != "" {
			length = tickLength
			s.line(left, at, width-right, at, gridInk)
			s.text(left-tickLength-2, at+tickSize/4, tickSize, "end", t.Label)
		}
		s.line(left-length, at, left, at, ink)
	}
	s.write(`<path d="M%s %sV%sH%s" fill="none" stroke="%s" stroke-width="0.5"/>`, left, top, bottom, width-right, ink)
}

// drawCurve draws a curve. i is its number.
func (s *svg) drawCurve(c Curve, i int) {
	var path strings.Builder
	for _, p := range c.Points {
		fmt.Fprintf(&path, "L%.2f %.2f", s.x.At(p[0]), s.y.At(p[1]))
	}
	s.stroke("M"+path.String()[1:], c, i)
	if c.Bound {
		return
	}
	for _, p := range c.Points {
		s.mark(s.x.At(p[0]), s.y.At(p[1]), i)
	}
}

// stroke draws a line in the style of curve i.
func (s *svg) stroke(path string, c Curve, i int) {
	if c.Bound {
		s.write(`<path d="%s" fill="none" stroke="%s" stroke-width="1.2" stroke-dasharray="%s"/>`,
			path, boundInk, dashes[i%len(dashes)])
		return
	}
	s.write(`<path d="%s" fill="none" stroke="%s" stroke-width="1.6"/>`, path, colors[i%len(colors)])
}

func (s *svg) mark(x, y float64, i int) {
	s.write(`<path transform="translate(%s %s)" d="%s" fill="%s"/>`, x, y, marks[i%len(marks)], colors[i%len(colors)])
}

// legendWidth returns the estimated width of an entry of the legend.
func legendWidth(c Curve) float64 {
	return legendLine + 4 + emWidth*tickSize*float64(utf8.RuneCountInString(c.Name)) + legendGap
}

// legendRows splits the numbers of the curves into rows that fit into the width of the picture.
func legendRows(curves []Curve) (rows [][]int) {
	room := 0.0
	for i, c := range curves {
		if len(rows) == 0 || legendWidth(c) > room {
			rows, room = append(rows, nil), width-2*right+legendGap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], i)
		room -= legendWidth(c)
	}
	return rows
}

// drawLegend draws a row of the legend around a height.
func (s *svg) drawLegend(curves []Curve, row []int, y float64) {
	x := right
	for _, i := range row {
		s.stroke(fmt.Sprintf("M%.2f %.2fh%g", x, y, legendLine), curves[i], i)
		if !curves[i].Bound {
			s.mark(x+legendLine/2, y, i)
		}
		s.text(x+legendLine+4, y+tickSize/4, tickSize, "start", curves[i].Name)
		x += legendWidth(curves[i])
	}
}
