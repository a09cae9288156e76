package lab

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

// What a picture needs around its axes: points that can be shown, a legend, and words for those who do not see it.

// drawable returns the plot without the points that its axes cannot show, and without curves that have no other.
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

// only returns the curve with the points that keep chooses.
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

// drawLabelled draws the axes and what they hold, with their labels, which gonum/plot does not center on logarithmic axes.
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

// shape is a mark with so many corners, the first of them at an angle from the right, or a circle. It has the area of a circle.
type shape struct {
	corners int
	turn    float64
	hollow  bool
}

// DrawGlyph draws the mark.
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

// legend is one plot.Legend an entry, so that several fit a row.
type legend []plot.Legend

// The measures of a legend.
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

// wide returns how wide an entry is, with a seventh more for fonts that stand in for ours.
func wide(entry *plot.Legend) vg.Length { return entry.Rectangle(draw.Canvas{}).Size().X * 8 / 7 }

// rows breaks the entries into rows that fit the picture.
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

// drawLegend draws rows at the foot of the picture.
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

// described returns the picture with a title for programs that read aloud, and with fonts of the same widths where
// Liberation Sans is not installed.
func (p Plot) described(svg []byte) []byte {
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arimo,Arial,Helvetica,sans-serif;"))
	head := bytes.Index(svg, []byte("<svg ")) + len("<svg ")
	end := head + bytes.IndexByte(svg[head:], '>') + 1
	return slices.Concat(svg[:head], []byte(`role="img" `), svg[head:end], []byte("\n<title>"+html.EscapeString(p.Alt())+"</title>"), svg[end:])
}

// Alt says in a sentence what the picture shows.
func (p Plot) Alt() string {
	var names []string
	for _, c := range p.Curves {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("%s. Plot of %s over %s: %s.", p.Title, p.Y, p.X, strings.Join(names, "; "))
}
