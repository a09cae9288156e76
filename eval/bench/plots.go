package main

import (
	"fmt"

	"github.com/bloomery/bloomery/eval/plot"
)

// plots returns the plots of the page: the time of an absent query and the time of a build by bits per key. A plot
// without measurements is omitted.
func (r Result) plots() (all []plot.Plot) {
	for _, p := range []struct{ operation, suffix, what, y string }{
		{"absent", "", "size and time of a query", "ns per query for an absent key"},
		{"build", "-build", "size and time of a build", "ns per key to build, one core"},
	} {
		curves := r.curves(p.operation)
		if len(curves[0].Points)+len(curves[1].Points) == 0 {
			continue
		}
		all = append(all, plot.Plot{
			Name: r.fileName() + p.suffix, Title: fmt.Sprintf("%s keys, about %s: %s", countText(r.Keys), rateText(r.FPR), p.what),
			X: "bits per key", Y: p.y, LogX: true, LogY: true, Curves: curves,
		})
	}
	return all
}

// curves returns a curve of our filters and a curve of other filters, with a point for each measured filter. It omits
// the map, which needs many times the bits of filters; the page says so.
func (r Result) curves(operation string) []plot.Curve {
	ours, theirs := plot.Curve{Name: "ours", Dots: true}, plot.Curve{Name: "other libraries", Dots: true}
	for _, row := range r.Rows {
		s := row.Times[operation]
		if s.N == 0 || row.Library == noModule {
			continue
		}
		c := &theirs
		if row.Ours {
			c = &ours
		}
		c.Points = append(c.Points, [2]float64{row.BitsPerKey, s.Median})
		c.Bars = append(c.Bars, [2]float64{s.Low, s.High})
		c.Labels = append(c.Labels, row.Name)
	}
	return []plot.Curve{ours, theirs}
}
