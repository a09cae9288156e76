package lab

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// add puts the mean of a row onto the curve, with its interval.
func (c *Curve) add(x float64, r Row) {
	c.Points = append(c.Points, [2]float64{x, r.Measured})
	c.Bars = append(c.Bars, [2]float64{r.Low, r.High})
}

// over puts the mean of a row and its interval onto the curve, divided by what is predicted.
func (c *Curve) over(x float64, r Row, predicted float64) {
	c.add(x, Row{Measured: r.Measured / predicted, Low: r.Low / predicted, High: r.High / predicted})
}

// one is the level of what is as predicted.
func one(name string) Curve { return Curve{Name: name, Level: true, Points: [][2]float64{{1, 1}}} }

// errorBars are the intervals of a curve as whiskers. On a logarithmic axis one that reaches 0 stops at a third of its point.
func (c Curve) errorBars(of color.Color, log bool) (*plotter.YErrorBars, error) {
	xy, ends := make(plotter.XYs, len(c.Bars)), make(plotter.YErrors, len(c.Bars))
	for i, b := range c.Bars {
		xy[i].X, xy[i].Y = c.Points[i][0], c.Points[i][1]
		low := b[0]
		if log && low <= 0 {
			low = xy[i].Y / 3
		}
		ends[i].Low, ends[i].High = xy[i].Y-low, b[1]-xy[i].Y
	}
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{xy, ends})
	if err == nil {
		bars.Color, bars.Width, bars.CapWidth = of, vg.Points(1), vg.Points(5)
	}
	return bars, err
}

// namedTicks marks 1, 2, 3, ... with names.
type namedTicks []string

// Ticks returns the marks.
func (n namedTicks) Ticks(_, _ float64) (ticks []plot.Tick) {
	for i, name := range n {
		ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: name})
	}
	return ticks
}
