package main

import (
	"fmt"

	"github.com/bloomery/bloomery/lab"
)

// queryPlot shows bits a key against the time of an absent query, key by key.
func (r Result) queryPlot() lab.Plot {
	return r.plot("absent", fmt.Sprintf("%s keys, about %s: size and time of a query", countText(r.Keys), rateText(r.FPR)), "ns a query for an absent key")
}

// buildPlot shows bits a key against the time of a build.
func (r Result) buildPlot() lab.Plot {
	return r.plot("build", fmt.Sprintf("%s keys, about %s: size and time of a build", countText(r.Keys), rateText(r.FPR)), "ns a key to build, one core")
}

// plot has a point for each filter that was measured, ours and theirs with marks of their own. The map, whose bits are many
// times those of filters, is left out, which the page says.
func (r Result) plot(operation, title, y string) lab.Plot {
	ours, theirs := lab.Curve{Name: "ours", Dots: true}, lab.Curve{Name: "other libraries", Dots: true}
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
	return lab.Plot{
		Name: r.fileName() + "-" + operation, Title: title, X: "bits a key", Y: y, LogX: true, LogY: true,
		Curves: []lab.Curve{ours, theirs},
	}
}
