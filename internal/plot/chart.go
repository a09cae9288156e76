// Package plot draws curves over two logarithmic axes as SVG, with their names at their ends. It is independent of
// filters. It uses estimated text widths instead of fonts, so the command bloomery needs neither a font nor a plotting
// library. The picture follows the light or dark theme of its reader.
//
// Package eval/plot draws the pictures of lab and bench, with error bars, a legend and pixels.
package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Chart is a picture: curves over common axes. X values are shares in (0, 1] and fall to the right.
type Chart struct {
	Title, X, Y string
	Notes       []string // lines below the title
	Curves      []Curve
	Asked       float64     // x of a vertical line; 0: none
	Pick        *[2]float64 // a large dot, if not nil
}

// Curve is one line of a chart, with at least one point. Coordinates are positive and finite.
type Curve struct {
	Name   string // name for the text alternative
	Label  string // label at the end of the curve
	Style  int    // color and mark of the curve, from 0 to Styles-1; dashes of a bound, 0 or 1
	Points [][2]float64
	Bound  bool // drawn as a dashed line without marks, such as a lower bound
}

// Sizes of a picture. A point is a pixel if the picture is 430 pixels wide; text is readable down to this width.
const (
	width  = 430.0
	height = 340.0

	titleSize = 13.0
	textSize  = 11.0

	left, right  = 46.0, 122.0 // distance from the border of the picture to the axes, for numbers and names of curves
	top, bottom  = 66.0, 40.0
	border       = 8.0  // free space around texts
	labelGap     = 12.5 // gap from one name of a curve to the next
	tickLength   = 4.0
	pickRadius   = 6.0
	leaderLength = 14.0 // length from the end of a curve at the edge of the plot to its name
)

// emWidth is the width of a letter in parts of its size, a little above the mean of the usual sans-serif fonts.
const emWidth = 0.58

// styles are the colors and marks of the curves. Colors have a contrast of at least 3:1 on both backgrounds, so that a
// curve has the same color in both themes. Marks are paths around 0, so that curves are distinguishable in grey.
var styles = []struct{ color, mark string }{
	{"#1f77c4", "M-2.6 0A2.6 2.6 0 1 0 2.6 0A2.6 2.6 0 1 0 -2.6 0Z"},                                   // circle
	{"#d55e00", "M-2.3 -2.3H2.3V2.3H-2.3Z"},                                                            // square
	{"#00966c", "M0 -3.8L3.3 1.9H-3.3Z"},                                                               // triangle
	{"#8a63d2", "M0 -3.4L3.4 0L0 3.4L-3.4 0Z"},                                                         // diamond
	{"#9c6b2e", "M0 3.8L3.3 -1.9H-3.3Z"},                                                               // on its tip
	{"#c7619b", "M-1 -3.2H1V-1H3.2V1H1V3.2H-1V1H-3.2V-1H-1Z"},                                          // plus
	{"#008fa3", "M-3 -1.6L-1.6 -3L0 -1.4L1.6 -3L3 -1.6L1.4 0L3 1.6L1.6 3L0 1.4L-1.6 3L-3 1.6L-1.4 0Z"}, // cross
	{"#d33f49", "M-3 -2.8H3L-3 2.8H3Z"},                                                                // hourglass
	{"#758a00", "M3.8 0L-1.9 3.3V-3.3Z"},                                                               // points right
	{"#6b7f95", "M-3.2 -1.2H3.2V1.2H-3.2Z"},                                                            // bar
}

// Styles is the number of styles of curves.
var Styles = len(styles)

// dashes are the patterns of bounds.
var dashes = []string{"5 3", "1.5 2"}

// theme sets the colors of everything except the curves. Programs that ignore themes show the light one.
const theme = `<style>
.back{fill:#fff}.ink{fill:#000}.halo{stroke:#fff}.axis{stroke:#000}.soft{stroke:#5a5a5a}.grid{stroke:#e1e1e1}
@media (prefers-color-scheme:dark){
.back{fill:#1d2428}.ink{fill:#e4e9ec}.halo{stroke:#1d2428}.axis{stroke:#e4e9ec}.soft{stroke:#a3b0b8}
.grid{stroke:#36424a}
}</style>`

// svg is a picture that is being written.
type svg struct {
	bytes.Buffer
	x, y Axis
}

// escape is all of package html that a picture needs.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

// write writes a line. Lengths are rounded, and texts are escaped.
func (s *svg) write(format string, args ...any) {
	for i, arg := range args {
		switch v := arg.(type) {
		case float64:
			args[i] = strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
		case string:
			args[i] = escape.Replace(v)
		}
	}
	fmt.Fprintf(s, format+"\n", args...)
}

// textWidth returns the estimated width of a text in a font of the given size.
func textWidth(size float64, text string) float64 {
	return emWidth * size * float64(utf8.RuneCountInString(text))
}

// text writes a line of text, at most wide. anchor is the part of the text at the point: start, middle or end.
func (s *svg) text(x, y, size, wide float64, anchor, text string) {
	size = min(size, size*wide/textWidth(size, text+" "))
	s.write(`<text class="ink" x="%s" y="%s" text-anchor="%s" font-size="%s">%s</text>`, x, y, anchor, size, text)
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	s.write(`<path d="M%s %sL%s %s" fill="none" class="%s" stroke-width="0.7"/>`, x1, y1, x2, y2, class)
}

// WriteSVG writes the picture of at least one curve.
func (c Chart) WriteSVG(w io.Writer) error {
	s := &svg{}
	s.x, s.y = c.axes()
	s.x.From, s.x.To = width-right, left
	s.y.From, s.y.To = height-bottom, top

	s.write(`<svg role="img" xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s"`+
		` font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif">`, 1.6*width, 1.6*height, width, height)
	s.write("<title>%s</title>", c.alternative())
	s.WriteString(theme + "\n")
	s.write(`<path class="back" d="M0 0H%sV%sH0Z"/>`, width, height)

	s.drawAxes(c)
	if c.Asked > 0 {
		s.write(`<path d="M%s %sV%s" fill="none" class="axis" stroke-width="1.4"/>`,
			s.x.At(c.Asked), top-6, height-bottom)
	}
	for _, curve := range c.Curves {
		s.drawCurve(curve)
	}
	s.drawLabels(c.Curves)
	if c.Pick != nil {
		s.write(`<circle cx="%s" cy="%s" r="%s" class="ink halo" stroke-width="2"/>`,
			s.x.At(c.Pick[0]), s.y.At(c.Pick[1]), pickRadius)
	}
	s.write("</svg>")
	_, err := s.WriteTo(w)
	return err
}

// alternative returns the text for readers who cannot see the picture: title, notes, axes and names of the curves.
func (c Chart) alternative() string {
	var names []string
	for _, curve := range c.Curves {
		names = append(names, curve.Name)
	}
	head := strings.Join(append([]string{c.Title}, c.Notes...), ". ")
	return fmt.Sprintf("%s. Plot of %s over %s: %s.", head, c.Y, c.X, strings.Join(names, "; "))
}

// axes returns the axes of all curves, the asked line and the pick.
func (c Chart) axes() (x, y Axis) {
	var all [2][]float64
	add := func(p [2]float64) { all[0], all[1] = append(all[0], p[0]), append(all[1], p[1]) }
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			add(p)
		}
	}
	if c.Pick != nil {
		add(*c.Pick)
	}
	if c.Asked > 0 {
		all[0] = append(all[0], c.Asked)
	}
	spanning := func(v []float64) Axis { return NewAxis(slices.Min(v), slices.Max(v), true) }
	return spanning(all[0]), spanning(all[1])
}

// drawAxes draws the title, the grid, and the axes with their names and ticks.
func (s *svg) drawAxes(c Chart) {
	const low, middle = height - bottom, (top + height - bottom) / 2
	s.text(border, border+titleSize, titleSize, width-2*border, "start", c.Title)
	for i, note := range c.Notes {
		s.text(border, border+titleSize+16*float64(i+1), textSize, width-2*border, "start", note)
	}
	s.text((left+width-right)/2, height-border, textSize, width-2*border, "middle", c.X)
	s.write(`<text class="ink" transform="translate(14 %s) rotate(-90)" text-anchor="middle" font-size="%s">%s</text>`,
		middle, textSize, c.Y)

	free := left // where the next label may begin; ticks come from the right
	for _, t := range slices.Backward(s.x.Ticks) {
		at, label := s.x.At(t.Value), percent(t.Value)
		length, half := tickLength/2, textWidth(textSize, label)/2
		if math.Abs(math.Log10(t.Value)-math.Round(math.Log10(t.Value))) < 1e-9 && (at-half >= free || free == left) {
			length, free = tickLength, at+half+6
			s.line(at, low, at, top, "grid")
			s.text(at, low+tickLength+textSize, textSize, width, "middle", label)
		}
		s.line(at, low, at, low+length, "axis")
	}
	for _, t := range s.y.Ticks {
		at, length := s.y.At(t.Value), tickLength/2
		if t.Label != "" {
			length = tickLength
			s.line(left, at, width-right, at, "grid")
			s.text(left-tickLength-2, at+textSize/3, textSize, left, "end", t.Label)
		}
		s.line(left-length, at, left, at, "axis")
	}
	s.write(`<path d="M%s %sV%sH%s" fill="none" class="axis" stroke-width="0.7"/>`, left, top, low, width-right)
}

// percent formats a share.
func percent(share float64) string { return mark(100*share) + "%" }

func (s *svg) drawCurve(c Curve) {
	var path strings.Builder
	for _, p := range c.Points {
		fmt.Fprintf(&path, "L%.2f %.2f", s.x.At(p[0]), s.y.At(p[1]))
	}
	d := "M" + path.String()[1:]
	if c.Bound {
		s.write(`<path d="%s" fill="none" class="soft" stroke-width="1.3" stroke-dasharray="%s"/>`,
			d, dashes[c.Style%len(dashes)])
		return
	}

	style := styles[c.Style%len(styles)]
	s.write(`<path d="%s" fill="none" stroke="%s" stroke-width="1.6"/>`, d, style.color)
	for _, p := range c.Points {
		x, y := s.x.At(p[0]), s.y.At(p[1])
		s.write(`<path transform="translate(%s %s)" d="%s" fill="%s"/>`, x, y, style.mark, style.color)
	}
}

// drawLabels writes the names of the curves on the right, each with a line from the last point of its curve.
func (s *svg) drawLabels(curves []Curve) {
	sorted := slices.SortedFunc(slices.Values(curves), func(a, b Curve) int {
		return cmp.Compare(s.y.At(b.end()[1]), s.y.At(a.end()[1])) // the lowest in the picture first
	})
	var wanted []float64
	for _, c := range sorted {
		wanted = append(wanted, s.y.At(c.end()[1]))
	}

	for i, at := range spread(wanted, top, height-bottom) {
		c := sorted[i]
		x, y := s.x.At(c.end()[0]), s.y.At(c.end()[1])
		class := `class="soft"`
		if !c.Bound {
			class = `stroke="` + styles[c.Style%len(styles)].color + `"`
		}
		const edge = width - right
		fmt.Fprintf(s, `<path d="M%.2f %.2fL%.2f %.2fH%.2f" fill="none" %s stroke-width="0.7"/>`+"\n", x, y,
			edge+leaderLength-4, at, edge+leaderLength-1, class)
		s.text(edge+leaderLength+2, at+textSize/3, textSize, right-leaderLength-2, "start", c.Label)
	}
}

// end returns the point of a curve that is farthest to the right: the one with the lowest x.
func (c Curve) end() [2]float64 {
	return slices.MinFunc(c.Points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
}

// spread returns the heights nearest to the wanted ones, which fall, at least labelGap apart and between high and low.
// If they are too many for that, some are above high.
func spread(wanted []float64, high, low float64) []float64 {
	// Without the gaps, the heights must only not rise: labels that would are grouped around their mean.
	type group struct{ sum, labels float64 }
	mean := func(g group) float64 { return g.sum / g.labels }
	var groups []group
	for i, w := range wanted {
		g := group{w + labelGap*float64(i), 1}
		for ; len(groups) > 0 && mean(groups[len(groups)-1]) < mean(g); groups = groups[:len(groups)-1] {
			last := groups[len(groups)-1]
			g = group{g.sum + last.sum, g.labels + last.labels}
		}
		groups = append(groups, g)
	}

	var at []float64
	for _, g := range groups {
		for range int(g.labels) {
			y := min(max(mean(g), high+labelGap*float64(len(wanted)-1)), low)
			at = append(at, y-labelGap*float64(len(at)))
		}
	}
	return at
}
