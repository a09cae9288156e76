package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The size of a picture without its legend.
const (
	width  = 7 * vg.Inch
	height = 4.4 * vg.Inch
)

// colors can be told apart with red-green color blindness, too (Okabe and Ito, 2008).
var colors = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255}, color.RGBA{86, 180, 233, 255}, color.RGBA{230, 159, 0, 255},
}

// shapes are the marks of the curves in order, so that curves can be told apart without colors.
var shapes = []shape{
	{},
	{corners: 4, turn: math.Pi / 4},
	{corners: 3, turn: math.Pi / 2},
	{corners: 4},
	{corners: 3, turn: -math.Pi / 2},
}

// dashes are the patterns of lines without marks: levels and bounds.
var dashes = [][]vg.Length{{vg.Points(5), vg.Points(3)}, {vg.Points(1.5), vg.Points(2)}}

// Draw writes the picture, with its legend below, in the format "svg" or "png". It omits points that the axes cannot
// show, such as 0 on a logarithmic axis, and returns an error if no point is left.
func (p Plot) Draw(w io.Writer, format string) error {
	p = p.drawable()
	lo, hi := p.span()
	if lo > hi {
		return fmt.Errorf("%s: no point can be drawn", p.Name)
	}
	pic := plot.New()
	pic.Title.Text = p.Title
	pic.Title.Padding, pic.X.Padding, pic.Y.Padding = vg.Points(8), vg.Points(4), vg.Points(4)
	pic.BackgroundColor = color.White
	for _, style := range []*text.Style{
		&pic.Title.TextStyle, &pic.X.Label.TextStyle, &pic.Y.Label.TextStyle, &pic.X.Tick.Label, &pic.Y.Tick.Label,
	} {
		style.Font.Variant = "Sans"
	}
	if wide, most := pic.Title.TextStyle.Width(p.Title), (width-2*legendMargin)*7/8; wide > most {
		pic.Title.TextStyle.Font.Size *= most / wide
	}
	for _, axis := range []struct {
		*plot.Axis
		log bool
	}{{&pic.X, p.LogX}, {&pic.Y, p.LogY}} {
		axis.Tick.Marker = evenTicks{}
		if axis.log {
			axis.Scale, axis.Tick.Marker = plot.LogScale{}, logTicks{}
		}
	}
	if p.Names != nil {
		pic.X.Tick.Marker, pic.X.Min, pic.X.Max = namedTicks(p.Names), 0.5, float64(len(p.Names))+0.5
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	pic.Add(grid)
	var legend legend
	var marks []plot.Plotter // drawn after all lines
	levels := 0
	for i, c := range p.Curves {
		points := c.Points
		if c.Level {
			y := c.Points[0][1]
			points = [][2]float64{{lo, y}, {hi, y}}
		}
		xy := make(plotter.XYs, len(points))
		for j, q := range points {
			xy[j].X, xy[j].Y = q[0], q[1]
		}
		line, dots, err := plotter.NewLinePoints(xy)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", p.Name, c.Name, err)
		}
		mark := shapes[i%len(shapes)]
		dots.Shape = mark
		line.Color, line.Width, dots.Color, dots.Radius = colors[i%len(colors)], vg.Points(
			1.6,
		), colors[i%len(colors)], vg.Points(
			2.2,
		)
		if c.Bars != nil {
			bars, err := c.errorBars(dots.Color, p.LogY)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.Name, c.Name, err)
			}
			pic.Add(bars)
		}
		switch {
		case c.Level:
			line.Color, line.Width = color.Gray{90}, vg.Points(1)
			line.Dashes = dashes[levels%len(dashes)]
			levels++
			pic.Add(line)
			legend.add(c.Name, line)
		case c.Bound:
			line.Color, line.Width = color.Gray{90}, vg.Points(1.2)
			line.Dashes = dashes[levels%len(dashes)]
			levels++
			pic.Add(line)
			legend.add(c.Name, line)
		case c.Dots:
			mark.hollow = true // so that a line below it stays visible
			dots.Shape, dots.Radius = mark, vg.Points(3.4)
			marks = append(marks, dots)
			legend.add(c.Name, dots)
		case len(points) <= 40:
			pic.Add(line)
			marks = append(marks, dots)
			legend.add(c.Name, line, dots)
		default:
			pic.Add(line)
			legend.add(c.Name, line)
		}
	}
	pic.Add(marks...)
	pic.Add(p.labels(pic.X.Tick.Label))

	rows := legend.rows()
	below := legendRow*vg.Length(len(rows)) + legendSpace
	canvas, err := draw.NewFormattedCanvas(width, height+below, format)
	if err != nil {
		return err
	}
	if format == "png" { // twice the resolution, for high-density screens
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height+below), vgimg.UseDPI(192))}
	}
	area := draw.New(canvas)
	area.SetColor(color.White)
	area.Fill(area.Rectangle.Path())
	p.drawLabelled(pic, draw.Crop(area, vg.Points(6), -vg.Points(14), below, -vg.Points(6)))
	drawLegend(area, rows)
	if format != "svg" {
		_, err = canvas.WriteTo(w)
		return err
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	_, err = w.Write(p.described(svg.Bytes()))
	return err
}

// span returns the smallest and the largest x of all curves but levels; lo > hi if there is none.
func (p Plot) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, c := range p.Curves {
		if c.Level {
			continue
		}
		for _, q := range c.Points {
			lo, hi = min(lo, q[0]), max(hi, q[0])
		}
	}
	return lo, hi
}

// logTicks labels 1, 2 and 5 of every power of ten: more values if the axis spans about one power, fewer if it spans
// many, and about five round values if it spans less than a factor of 5.
type logTicks struct{}

// Ticks implements plot.Ticker for 0 < lo < hi.
func (logTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	if hi < 5*lo {
		return evenTicks{}.Ticks(lo, hi)
	}
	powers := math.Log10(hi / lo)
	step := int(math.Ceil(powers / 10)) // powers of ten from one label to the next
	for exponent := int(math.Floor(math.Log10(lo))); float64(exponent) <= math.Log10(hi)+1e-9; exponent++ {
		for d := 1; d < 10; d++ {
			v := float64(d) * math.Pow(10, float64(exponent))
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) || powers > 8 && d > 1 {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case d == 1 && exponent%step == 0,
				powers < 4 && (d == 2 || d == 5),
				powers < math.Log10(12) && d != 9 && (d != 7 || powers < math.Log10(6)):
				t.Label = mark(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// evenTicks labels about five round values at equal distances.
type evenTicks struct{}

// Ticks implements plot.Ticker.
func (evenTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/4)))
	for _, d := range []float64{5, 2} {
		if step*d <= (hi-lo)/4 {
			step *= d
			break
		}
	}
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: mark(i * step)})
	}
	return ticks
}

// mark formats the label of a tick: at most four digits, with an exponent only below 1e-4 and from 1e6 on.
func mark(v float64) string {
	if size := math.Abs(v); v != 0 && (size < 1e-4 || size >= 1e6) {
		return short(v)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.FormatFloat(v+0, 'f', -1, 64) // + 0 turns -0 into 0
}
