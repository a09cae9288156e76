package lab

import "fmt"

// onehitClaim is the share of disk writes that is left with the filter: "decreased the rate of disk writes by nearly one half".
// The measurements behind it are a figure, without numbers, so that the comparison is loose; what decides is how long the
// filter remembers, so that it is made for each of these settings.
const (
	onehitClaim     = 0.5
	onehitTolerance = 0.15
)

// onehitPlots are the pictures of the experiment while its sources come in.
type onehitPlots struct{ writes, hits, memory Plot }

func newOnehitPlots() *onehitPlots {
	size := Plot{X: "cache size, % of the objects", LogX: true}
	p := &onehitPlots{writes: size, hits: size}
	p.writes.Name, p.writes.Title, p.writes.Y = "onehit-writes", "Disk writes with and without the filter", "disk writes a request"
	p.hits.Name, p.hits.Title, p.hits.Y = "onehit-hits", "Hit rate with and without the filter", "hits a request"
	p.memory = Plot{
		Name: "onehit-memory", Title: "Disk writes that are left, by how long the filter remembers", LogX: true,
		X: "objects in a generation of the filter, as a multiple of the cache", Y: "disk writes with the filter / without",
	}
	return p
}

// add puts what a source gave into the pictures and returns its rows.
func (p *onehitPlots) add(source onehitSource, trials []onehitTrial) (rows []Row) {
	over := func(label string, of func(t onehitTrial) float64) Row {
		var v []float64
		for _, t := range trials {
			v = append(v, of(t))
		}
		return row(source.name+label, v)
	}
	rows = append(rows,
		over(": objects a request", func(t onehitTrial) float64 { return t.objects / t.requests }),
		over(": objects asked for once, share", func(t onehitTrial) float64 { return t.once / t.objects }))
	left := func(n onehitCount) float64 { return n.filteredWrites / n.writes }
	compared := func(r Row) Row {
		if source.claim {
			r = r.against(onehitClaim, onehitTolerance).
				noted("the slides: decreased by nearly one half, in a network whose traffic and filter are not to be had")
			if r.Measured < onehitClaim-onehitTolerance {
				r.Note += "; less is left here: a filter that forgets soon keeps out what comes back as well"
			}
		}
		return r
	}
	var curves [4]Curve // disk writes without and with the filter, hits without and with
	for i, what := range []string{"all stored", "filter", "all stored", "filter"} {
		curves[i].Name = source.name + ", " + what
	}
	for i, s := range onehitSizes {
		add := func(label string, of func(n onehitCount) float64) Row {
			return over(fmt.Sprintf(", cache of %g%%: %s", 100*s.size, label), func(t onehitTrial) float64 { return of(t.sizes[i]) })
		}
		predicted := add("", func(n onehitCount) float64 { return n.predicted })
		some := []Row{
			add("disk writes a request, all stored", func(n onehitCount) float64 { return n.writes }),
			add("disk writes a request, filter", func(n onehitCount) float64 { return n.filteredWrites }),
			add("hit rate, all stored", func(n onehitCount) float64 { return n.hits }),
			add("hit rate, filter", func(n onehitCount) float64 { return n.filteredHits }),
			add("disk writes, filter / all stored", left),
			add("disk writes a request, by a mistake of the filter", func(n onehitCount) float64 { return n.mistaken }),
			add("false positive rate of the filter", func(n onehitCount) float64 { return n.fpr }).noted("predicted %.5f", predicted.Measured),
		}
		for c := range curves {
			curves[c].Points = append(curves[c].Points, [2]float64{100 * s.size, some[c].Measured})
		}
		rows = append(rows, some...)
	}
	memory := Curve{Name: source.name}
	for i, s := range onehitMemories {
		add := func(label string, of func(n onehitCount) float64) Row {
			return over(fmt.Sprintf(", cache of %g%%, memory of %d: %s", 100*s.size, s.memory, label), func(t onehitTrial) float64 { return of(t.memories[i]) })
		}
		writes := compared(add("disk writes, filter / all stored", left))
		memory.Points = append(memory.Points, [2]float64{float64(s.memory), writes.Measured})
		rows = append(rows, writes, add("hit rate, filter", func(n onehitCount) float64 { return n.filteredHits }))
	}
	p.writes.Curves = append(p.writes.Curves, curves[0], curves[1])
	p.hits.Curves = append(p.hits.Curves, curves[2], curves[3])
	p.memory.Curves = append(p.memory.Curves, memory)
	return rows
}

// done returns the pictures.
func (p *onehitPlots) done() []Plot {
	p.memory.Curves = append(p.memory.Curves, Curve{Name: "the slides: nearly one half", Level: true, Points: [][2]float64{{1, onehitClaim}}})
	return []Plot{p.writes, p.hits, p.memory}
}
