package figure

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Everything of a picture around its axes: the choice of drawable points, axis labels, marks, the legend and the text
// alternative.

// drawable returns the plot without points that its axes cannot show and without curves that have no points then.
func (p Plot) drawable() Plot {
	shown := func(v float64, log bool) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log) }
	curves := p.Curves
	p.Curves = nil
	for _, c := range curves {
		c = c.only(func(x, y float64) bool { return shown(x, p.LogX) && shown(y, p.LogY) })
		if len(c.Points) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	return p
}

// drawLabelled draws the plot with the labels of its axes, which gonum/plot does not center on logarithmic axes.
func (p Plot) drawLabelled(pic *plot.Plot, area draw.Canvas) {
	x, y := pic.X.Label.TextStyle, pic.Y.Label.TextStyle
	y.Rotation = math.Pi / 2
	x.XAlign, x.YAlign, y.XAlign, y.YAlign = text.XCenter, text.YBottom, text.XCenter, text.YTop
	inner := draw.Crop(area, y.Rectangle(p.Y).Size().X+legendSpace, 0, x.Rectangle(p.X).Size().Y+legendSpace/2, 0)
	pic.Draw(inner)
	data := pic.DataCanvas(inner)
	area.FillText(x, vg.Point{X: data.Center().X, Y: area.Min.Y}, p.X)
	area.FillText(y, vg.Point{X: area.Min.X, Y: data.Center().Y}, p.Y)
}

// shape is a mark: a regular polygon, or a circle. All shapes have the same area.
type shape struct {
	corners int     // 0 for a circle
	turn    float64 // angle of the first corner, in radians from the positive x axis
	hollow  bool
}

// DrawGlyph implements draw.GlyphDrawer.
func (s shape) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	if s.corners == 0 {
		path.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
		path.Arc(at, style.Radius, 0, 2*math.Pi)
	}
	step := 2 * math.Pi / float64(s.corners)
	for i := range s.corners {
		sin, cos := math.Sincos(s.turn + step*float64(i))
		r := style.Radius * vg.Length(math.Sqrt(step/math.Sin(step)))
		if corner := (vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}); i == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
	if !s.hollow {
		c.SetColor(style.Color)
		c.Fill(path)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: vg.Points(1.4)})
	c.Stroke(path)
}

// legend has one plot.Legend for each entry, so that several entries fit into a row.
type legend []plot.Legend

// Sizes of a legend.
const (
	legendRow    = vg.Length(17)
	legendThumb  = vg.Length(26)
	legendGap    = vg.Length(16) // between two entries
	legendMargin = vg.Length(14)
	legendSpace  = vg.Length(8) // above it
)

func (l *legend) add(name string, thumbs ...plot.Thumbnailer) {
	entry := plot.NewLegend()
	entry.Left, entry.Top, entry.ThumbnailWidth = true, true, legendThumb
	entry.TextStyle.Font.Variant, entry.TextStyle.Font.Size = "Sans", vg.Points(10.5)
	entry.Add(" "+name, thumbs...)
	*l = append(*l, entry)
}

// wide returns the width of an entry, plus 1/7 for fonts that replace ours and are wider.
func wide(entry *plot.Legend) vg.Length { return entry.Rectangle(draw.Canvas{}).Size().X * 8 / 7 }

// rows splits the entries into rows that fit into the width of the picture.
func (l legend) rows() (rows [][]plot.Legend) {
	left := vg.Length(0)
	for _, entry := range l {
		need := wide(&entry) + legendGap
		if len(rows) == 0 || need > left {
			rows, left = append(rows, nil), width-2*legendMargin+legendGap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], entry)
		left -= need
	}
	return rows
}

// drawLegend draws the rows at the bottom of the picture.
func drawLegend(area draw.Canvas, rows [][]plot.Legend) {
	for i, row := range rows {
		x, top := legendMargin, legendRow*vg.Length(len(rows)-i)
		for _, entry := range row {
			c := area
			c.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: top - legendRow}, Max: vg.Point{X: width, Y: top}}
			entry.Draw(c)
			x += wide(&entry) + legendGap
		}
	}
}

// described returns the SVG with a title for screen readers, and with fallback fonts of the same widths for systems
// without Liberation Sans.
func (p Plot) described(svg []byte) []byte {
	svg = bytes.ReplaceAll(
		svg,
		[]byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"),
	)
	head := bytes.Index(svg, []byte("<svg ")) + len("<svg ")
	end := head + bytes.IndexByte(svg[head:], '>') + 1
	return slices.Concat(
		svg[:head],
		[]byte(`role="img" `),
		svg[head:end],
		[]byte("\n<title>"+html.EscapeString(p.Alt())+"</title>"),
		svg[end:],
	)
}

// Alt returns a text alternative: the title, the axes and the names of the curves.
func (p Plot) Alt() string {
	var names []string
	for _, c := range p.Curves {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("%s. Plot of %s over %s: %s.", p.Title, p.Y, p.X, strings.Join(names, "; "))
}
