package onehit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/traffic"
	"github.com/bloomery/bloomery/filter"
)

// overTime draws the figure of the slides: disk writes over time, with a filter that is switched on in the middle.
var overTime = experiment.Experiment{
	Name: "saha-cdn", Source: experiment.SahaSlides + ", figure: disk writes over time (Maggs and Sitaraman, 2015)",
	Varies: "time; synthetic requests and a trace", Run: runOverTime, Seconds: 2,
}

// The setting of the figure. The slides do not give one.
const (
	windows     = 40   // points of a curve
	cacheShare  = 0.01 // objects in the cache, as a share of all objects
	memoryShare = 4    // objects in a generation of the filter, as a multiple of the objects in the cache
)

func runOverTime(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(1)
	requests := c.Size(1_000_000, 100_000)
	sources := []requestSource{{"Zipf", 1, func(r *rand.Rand) traffic.Stream { return traffic.Zipf(r, requests) }}}
	if c.Trace != "" {
		s, err := traffic.Trace(ctx, c.Trace)
		if err != nil {
			return result, err
		}
		if len(s.Requests) < fewestRequests {
			return result, fmt.Errorf("%s: %d requests are too few; at least %d are needed", c.Trace, len(s.Requests),
				fewestRequests)
		}
		name, _, _ := strings.Cut(filepath.Base(c.Trace), ".")
		sources = append(sources, requestSource{name, 1, func(*rand.Rand) traffic.Stream { return s }})
	}
	plot := figure.Plot{
		Name: "saha-cdn", Title: fmt.Sprintf("Disk writes of a cache of %g%% of the objects; filter from the middle on",
			100*cacheShare), X: "requests so far, % of all", Y: "disk writes per request",
	}
	w := c.Work(float64(2 * len(sources)))
	for _, source := range sources {
		s := source.draw(rand.New(rand.NewPCG(c.Seed, 0)))
		curves := [2]figure.Curve{{Name: source.name + ", all stored", Dots: true}, {Name: source.name + ", filter"}}
		var last [2]float64 // writes per request in the last quarter
		for i, from := range []int{len(s.Requests), len(s.Requests) / 2} {
			writes, err := writesOverTime(ctx, s, from, filter.NewHasher(c.Seed))
			if err != nil {
				return result, err
			}
			for window, share := range writes {
				if i == 1 || window >= windows/2 { // before the middle both are the same
					curves[i].AddPoint(100*float64(window+1)/windows, share)
				}
				if window >= windows*3/4 {
					last[i] += share / (windows / 4)
				}
			}
			w.Step(1)
		}
		result.Add(
			figure.Exact(source.name+", last quarter: disk writes per request, all stored", last[0]),
			figure.Exact(source.name+", last quarter: disk writes per request, filter", last[1]),
			figure.Exact(source.name+", last quarter: disk writes, filter / all stored", last[1]/last[0]).
				Noted("the slides: \"by nearly one half\""),
		)
		plot.Curves = append(plot.Curves, curves[:]...)
	}
	result.Plots = []figure.Plot{plot}
	result.Notes = []string{
		fmt.Sprintf("In the first half of the requests the cache stores every object, in the second half an object at its "+
			"second request. The filter is empty when it is switched on, so that the writes fall steeply at first. It "+
			"consists of two generations of %d times the objects in the cache each, as in examples/cdn.", memoryShare),
		"The slides show the measured days of Akamai's network, whose numbers are not public: no row is " +
			"compared with them.",
	}
	if c.Trace == "" {
		result.Notes = append(result.Notes, "No trace was given: all requests are synthetic.")
	}
	return result, nil
}

// writesOverTime sends the requests to a cache, which has a filter from request number from on. It returns the disk
// writes per request in each of the windows.
func writesOverTime(ctx context.Context, s traffic.Stream, from int, hasher filter.Hasher) ([]float64, error) {
	size := max(1, int(cacheShare*float64(s.Objects)))
	cache, writes := traffic.NewLRU(size, s.Objects), make([]float64, windows)
	door, err := newDoorkeeper(uint64(memoryShare*size), agerFPR)
	if err != nil {
		return nil, err
	}
	for i, object := range s.Requests {
		if i%65536 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		known := true
		if i >= from {
			if known, err = door.admit(hasher.SumUint64(uint64(object))); err != nil {
				return nil, err
			}
		}
		if !cache.Use(object) && known {
			cache.Put(object)
			writes[i*windows/len(s.Requests)]++
		}
	}
	for i := range writes {
		writes[i] *= windows / float64(len(s.Requests))
	}
	return writes, nil
}
