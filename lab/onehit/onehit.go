// Package onehit has the experiment on a cache that stores an object at its second request, which a Bloom filter detects: objects
// that are requested only once are not written to disk.
package onehit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/figure"
	"github.com/bloomery/bloomery/internal/traffic"
	"github.com/bloomery/bloomery/lab/experiment"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{secondRequest}
}

// secondRequest is the cache of a content delivery network that stores an object at its second request, as a filter tells it.
var secondRequest = experiment.Experiment{
	Name: "onehit", Source: experiment.PlankNotes + " and " + experiment.SahaSlides + ", the cache of Akamai (Maggs and Sitaraman, 2015)",
	Varies: "size of the cache, memory of the filter, requests", Run: run, Seconds: 20,
}

// setting is a cache with its filter.
type setting struct {
	size   float64 // of the cache, as a share of the objects that the requests ask for
	memory int     // objects that a generation of the filter holds, for each that the cache holds
}

// The settings: caches of many sizes with filters of one memory, then caches of one size with filters of many memories.
var (
	cacheSizes     = []setting{{0.01, 4}, {0.02, 4}, {0.05, 4}, {0.1, 4}, {0.2, 4}, {0.4, 4}}
	filterMemories = []setting{{0.01, 1}, {0.01, 2}, {0.01, 4}, {0.01, 8}, {0.01, 16}, {0.01, 32}, {0.01, 64}}
)

// fewestRequests is what a trace must have: with fewer, caches of 1% of its objects hold next to nothing.
const fewestRequests = 1000

// requestSource is where requests come from.
type requestSource struct {
	name   string
	trials int
	draw   func(r *rand.Rand) traffic.Stream
}

func run(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(6)
	requests := 1_000_000
	if c.Quick {
		requests = 100_000
	}
	sources := []requestSource{
		{"Zipf", c.Trials, func(r *rand.Rand) traffic.Stream { return traffic.Zipf(r, requests) }},
		{"Plank's traffic", c.Trials, func(r *rand.Rand) traffic.Stream { return traffic.Plank(r, requests) }},
	}
	if c.Trace != "" {
		s, err := traffic.Trace(ctx, c.Trace)
		if err != nil {
			return result, err
		}
		if len(s.Requests) < fewestRequests {
			return result, fmt.Errorf("%s: %d requests are too few to compare caches; at least %d are needed", c.Trace, len(s.Requests), fewestRequests)
		}
		sources = append(sources, requestSource{"trace", 1, func(*rand.Rand) traffic.Stream { return s }})
	} else {
		result.Notes = append(result.Notes, "No trace was given, so that all requests are made up.")
	}
	plots := newPictures()
	w := c.Work(float64(len(sources)))
	for _, source := range sources {
		var trials []trialCounts
		for trial := range uint64(source.trials) {
			s := source.draw(rand.New(rand.NewPCG(c.Seed, trial)))
			sizes := traffic.Sizes(rand.New(rand.NewPCG(c.Seed, ^trial)), s.Objects)
			t, err := replayAll(ctx, w, 1/float64(source.trials), s, sizes, filter.NewHasher(c.Seed+trial))
			if err != nil {
				return result, err
			}
			trials = append(trials, t)
		}
		result.Rows = append(result.Rows, plots.add(source, trials)...)
	}
	result.Notes = append(result.Notes, plots.claim(),
		fmt.Sprintf("The cache holds a number of objects, whatever their size, and evicts the one that was used least recently. The filter "+
			"is package admission, with a rate of %g in each of its two generations when it is full. Every request, hit or not, is looked up in "+
			"both and put into the younger; when that is full, the older is dropped. Its memory is given in objects a generation for each "+
			"object that the cache holds.", agerFPR),
		fmt.Sprintf("Bytes written: sizes are made up, for the trace too. They are drawn from the seed by a Pareto law of power %g between %g kB and "+
			"%g MB, mean %.1f kB, whatever the popularity of an object, so that a few large objects decide how the bytes of a trial fall.",
			traffic.SizePower, traffic.SizeMin/1e3, traffic.SizeMax/1e6, traffic.SizeMean/1e3),
		"Zipf: requests for object i of an endless catalogue in proportion to (9+i)^(-4/3), which makes 3/4 of the objects come up once. "+
			"Plank's traffic: 3/4 of the requests are for an object that comes once (94% of the objects), the others for one of a set, "+
			"all equally popular.")
	result.Plots = plots.done()
	return result, nil
}

// trialCounts is what the caches of all settings did with a stream.
type trialCounts struct {
	requests, objects, once float64
	sizes, memories         []counts
}

// replayAll replays a stream with all settings at once. It counts by steps of work for it.
func replayAll(ctx context.Context, w *experiment.Work, by float64, s traffic.Stream, sizes []float64, hasher filter.Hasher) (t trialCounts, err error) {
	settings := slices.Concat(cacheSizes, filterMemories)
	counts, err := experiment.Each(ctx, w, by/float64(len(settings)), len(settings), func(ctx context.Context, i int) (counts, error) {
		return replay(ctx, s, sizes, settings[i], hasher)
	})
	return trialCounts{
		requests: float64(len(s.Requests)), objects: float64(s.Objects), once: float64(s.Once),
		sizes: counts[:len(cacheSizes)], memories: counts[len(cacheSizes):],
	}, err
}

// counts is what two caches did, a request: one stores everything, one what its filter knows.
type counts struct {
	hits, writes   float64
	filteredHits   float64
	filteredWrites float64
	mistaken       float64 // writes of objects that the filter knew by mistake
	bytes          float64 // written
	filteredBytes  float64
	fpr, predicted float64 // of the filter
}

// replay sends the requests to both caches.
func replay(ctx context.Context, s traffic.Stream, sizes []float64, setting setting, hasher filter.Hasher) (n counts, err error) {
	size := max(1, int(setting.size*float64(s.Objects)))
	all, some := traffic.NewLRU(size, s.Objects), traffic.NewLRU(size, s.Objects)
	known, err := newAger(setting.memory*size, s.Objects)
	if err != nil {
		return n, err
	}
	for i, object := range s.Requests {
		if i%65536 == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		if all.Use(object) {
			n.hits++
		} else {
			n.writes++
			n.bytes += sizes[object]
			all.Put(object)
		}
		says, does, err := known.see(object, hasher.SumUint64(uint64(object)))
		if err != nil {
			return n, err
		}
		switch {
		case some.Use(object):
			n.filteredHits++
		case says:
			n.filteredWrites++
			n.filteredBytes += sizes[object]
			some.Put(object)
			if !does {
				n.mistaken++
			}
		}
	}
	for _, v := range []*float64{&n.hits, &n.writes, &n.filteredHits, &n.filteredWrites, &n.mistaken, &n.bytes, &n.filteredBytes} {
		*v /= float64(len(s.Requests))
	}
	n.fpr, n.predicted = known.mistaken/known.absent, known.expected/known.absent
	return n, nil
}
