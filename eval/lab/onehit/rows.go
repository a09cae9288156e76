package onehit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
)

// claimedShare is the claimed share of disk writes that remain with the filter: "decreased the rate of disk writes by
// nearly one half". The slides show the measurements in a figure without numbers, and the result depends on the memory
// of the filter. Therefore no row is compared with the claim.
const claimedShare = 0.5

// pictures holds the plots of the experiment, to which each source adds curves.
type pictures struct{ writes, hits, memory figure.Plot }

func newPictures() *pictures {
	size := figure.Plot{X: "cache size, % of the objects", LogX: true}
	p := &pictures{writes: size, hits: size}
	p.writes.Name, p.writes.Title, p.writes.Y = "onehit-writes", "Disk writes with and without the filter",
		"disk writes per request"
	p.hits.Name, p.hits.Title, p.hits.Y = "onehit-hits", "Hit rate with and without the filter", "hits per request"
	p.memory = figure.Plot{
		Name: "onehit-memory", Title: "Disk writes that are left, by how long the filter remembers", LogX: true,
		X: "objects in a generation of the filter, as a multiple of the cache",
		Y: "disk writes with the filter / without",
	}
	return p
}

// add adds the curves of a source and returns its rows.
func (p *pictures) add(source requestSource, trials []trialCounts) (rows []figure.Row) {
	over := func(label string, of func(t trialCounts) float64) figure.Row {
		return figure.Mean(source.name+label, experiment.Values(trials, of))
	}
	rows = append(rows,
		over(": objects per request", func(t trialCounts) float64 { return t.objects / t.requests }),
		over(": objects asked for once, share", func(t trialCounts) float64 { return t.once / t.objects }))
	left := func(n counts) float64 { return n.filteredWrites / n.writes }
	var curves [4]figure.Curve // disk writes without and with the filter, hits without and with
	for i, what := range []string{"all stored", "filter", "all stored", "filter"} {
		curves[i].Name = source.name + ", " + what
	}
	for i, s := range cacheSizes {
		add := func(label string, of func(n counts) float64) figure.Row {
			return over(fmt.Sprintf(", cache of %g%%: %s", 100*s.size, label),
				func(t trialCounts) float64 { return of(t.sizes[i]) })
		}
		predicted := add("", func(n counts) float64 { return n.predicted })
		some := []figure.Row{
			add("disk writes per request, all stored", func(n counts) float64 { return n.writes }),
			add("disk writes per request, filter", func(n counts) float64 { return n.filteredWrites }),
			add("hit rate, all stored", func(n counts) float64 { return n.hits }),
			add("hit rate, filter", func(n counts) float64 { return n.filteredHits }),
			add("disk writes, filter / all stored", left),
			add("kB written per request, all stored", func(n counts) float64 { return n.bytes / 1e3 }),
			add("kB written per request, filter", func(n counts) float64 { return n.filteredBytes / 1e3 }),
			add("bytes written, filter / all stored", func(n counts) float64 { return n.filteredBytes / n.bytes }),
			add("disk writes per request, by a mistake of the filter", func(n counts) float64 { return n.mistaken }),
			add("false positive rate of the filter",
				func(n counts) float64 { return n.fpr }).Noted("predicted %.5f", predicted.Measured),
		}
		for c := range curves {
			curves[c].AddPoint(100*s.size, some[c].Measured)
		}
		rows = append(rows, some...)
	}
	memory := figure.Curve{Name: source.name}
	for i, s := range filterMemories {
		add := func(label string, of func(n counts) float64) figure.Row {
			return over(fmt.Sprintf(", cache of %g%%, memory of %d: %s", 100*s.size, s.memory, label),
				func(t trialCounts) float64 { return of(t.memories[i]) })
		}
		writes := add("disk writes, filter / all stored", left)
		memory.AddPoint(float64(s.memory), writes.Measured)
		rows = append(rows, writes, add("hit rate, filter", func(n counts) float64 { return n.filteredHits }))
	}
	p.writes.Curves = append(p.writes.Curves, curves[0], curves[1])
	p.hits.Curves = append(p.hits.Curves, curves[2], curves[3])
	p.memory.Curves = append(p.memory.Curves, memory)
	return rows
}

// claim returns a note on the claim of the slides, with the nearest result of each source.
func (p *pictures) claim() string {
	var nearest []string
	for _, c := range p.memory.Curves {
		at := slices.MinFunc(c.Points, func(a, b [2]float64) int {
			return cmp.Compare(math.Abs(a[1]-claimedShare), math.Abs(b[1]-claimedShare))
		})
		nearest = append(nearest, fmt.Sprintf("%s has %.2f with a memory of %g", c.Name, at[1], at[0]))
	}
	return fmt.Sprintf(
		"The slides claim that the filter decreased disk writes in Akamai's network by nearly one half, without "+
			"numbers. Its traffic is not available, so that no row is compared with this. Results nearest to one "+
			"half in a cache of %g%%: %s. With a shorter memory fewer writes remain, since an object that returns "+
			"after it was forgotten is rejected again. With a longer memory more remain, since only objects that "+
			"come once are rejected; in Plank's traffic these are most writes.", 100*filterMemories[0].size,
		strings.Join(nearest, ", "),
	)
}

// done returns the plots.
func (p *pictures) done() []figure.Plot {
	p.memory.Curves = append(p.memory.Curves, figure.Level("the slides: nearly one half", 1, claimedShare))
	return []figure.Plot{p.writes, p.hits, p.memory}
}
