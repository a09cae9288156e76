package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// errorBars returns the intervals of a curve as whiskers. On a logarithmic axis an interval that reaches 0 is drawn
// down to a third of its point.
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

// namedTicks labels x = 1, 2, 3, ... with names.
type namedTicks []string

// Ticks implements plot.Ticker.
func (n namedTicks) Ticks(_, _ float64) (ticks []plot.Tick) {
	for i, name := range n {
		ticks = append(ticks, plot.Tick{Value: float64(i + 1), Label: name})
	}
	return ticks
}
