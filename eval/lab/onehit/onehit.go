// Package onehit contains the experiment on a cache that stores an object at its second request, which a Bloom filter
// detects: objects that are requested only once are not written to disk.
package onehit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/traffic"
	"github.com/bloomery/bloomery/filter"
)

// Experiments returns the experiments of this room in the order in which they are shown.
func Experiments() []experiment.Experiment { return []experiment.Experiment{secondRequest, overTime} }

// secondRequest compares a cache of a content delivery network that stores every object with one that stores an object
// at its second request.
var secondRequest = experiment.Experiment{
	Name: "onehit",
	Source: experiment.PlankNotes + " and " + experiment.SahaSlides +
		", the cache of Akamai (Maggs and Sitaraman, 2015)",
	Varies: "size of the cache, memory of the filter, requests", Run: run, Seconds: 20,
}

// setting is a cache with its filter.
type setting struct {
	size   float64 // size of the cache, as a share of all requested objects
	memory int     // objects in a generation of the filter, as a multiple of the objects in the cache
}

// The settings: caches of several sizes with the same memory for the filter, and caches of one size with several
// amounts of memory for the filter.
var (
	cacheSizes     = []setting{{0.01, 4}, {0.02, 4}, {0.05, 4}, {0.1, 4}, {0.2, 4}, {0.4, 4}}
	filterMemories = []setting{{0.01, 1}, {0.01, 2}, {0.01, 4}, {0.01, 8}, {0.01, 16}, {0.01, 32}, {0.01, 64}}
)

// fewestRequests is the minimum for a trace. In a shorter trace, a cache for 1% of its objects would store almost
// nothing.
const fewestRequests = 1000

// requestSource is a source of requests.
type requestSource struct {
	name   string
	trials int
	draw   func(r *rand.Rand) traffic.Stream
}

func run(ctx context.Context, c experiment.Config) (figure.Result, error) {
	result := c.Begin(6)
	requests := c.Size(1_000_000, 100_000)
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
			return result, fmt.Errorf("%s: %d requests are too few to compare caches; at least %d are needed", c.Trace,
				len(s.Requests), fewestRequests)
		}
		sources = append(sources, requestSource{"trace", 1, func(*rand.Rand) traffic.Stream { return s }})
	} else {
		result.Notes = append(result.Notes, "No trace was given: all requests are synthetic.")
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
		result.Add(plots.add(source, trials)...)
	}
	result.Notes = append(
		result.Notes,
		plots.claim(),
		fmt.Sprintf(
			"The cache holds a number of objects of any size and evicts the least recently used one. The filter is "+
				"a doorkeeper as in examples/cdn, with a rate of %g in each of its two generations when full. Every request, hit "+
				"or not, is looked up in both and added to the younger one; when that is full, the older one is "+
				"dropped. The memory of the filter is the number of objects in a generation, as a multiple of those "+
				"in the cache.", agerFPR,
		),
		fmt.Sprintf(
			"Bytes written: sizes are synthetic, for the trace too. They follow a Pareto law of power %g between %g "+
				"kB and %g MB, mean %.1f kB, independent of popularity, so that a few large objects dominate the "+
				"bytes of a trial.", traffic.SizePower, traffic.SizeMin/1e3, traffic.SizeMax/1e6, traffic.SizeMean/1e3,
		),
		"Zipf: requests for object i of an infinite catalogue in proportion to (9+i)^(-4/3), so that 3/4 of the "+
			"objects come once. Plank's traffic: 3/4 of the requests are for an object that comes once (94% of the "+
			"objects), the others for one of a set of equally popular objects.",
	)
	result.Plots = plots.done()
	return result, nil
}

// trialCounts holds the counts of all settings for one stream.
type trialCounts struct {
	requests, objects, once float64
	sizes, memories         []counts
}

// replayAll replays a stream with all settings concurrently. It adds by to the finished work.
func replayAll(
	ctx context.Context, w *experiment.Work, by float64, s traffic.Stream, sizes []float64, hasher filter.Hasher,
) (t trialCounts, err error) {
	settings := slices.Concat(cacheSizes, filterMemories)
	counts, err := experiment.Each(ctx, w, by/float64(len(settings)), len(settings),
		func(ctx context.Context, i int) (counts, error) {
			return replay(ctx, s, sizes, settings[i], hasher)
		})
	return trialCounts{
		requests: float64(len(s.Requests)), objects: float64(s.Objects), once: float64(s.Once),
		sizes: counts[:len(cacheSizes)], memories: counts[len(cacheSizes):],
	}, err
}

// counts holds the counts of two caches, divided by the number of requests. One cache stores all objects, the other
// only the objects in its filter.
type counts struct {
	hits, writes   float64
	filteredHits   float64
	filteredWrites float64
	mistaken       float64 // writes of false positives
	bytes          float64 // written
	filteredBytes  float64
	fpr, predicted float64 // observed and predicted rate of the filter
}

// replay sends the requests to both caches.
func replay(
	ctx context.Context, s traffic.Stream, sizes []float64, setting setting, hasher filter.Hasher,
) (n counts, err error) {
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
	for _, v := range []*float64{&n.hits, &n.writes, &n.filteredHits, &n.filteredWrites, &n.mistaken, &n.bytes,
		&n.filteredBytes} {
		*v /= float64(len(s.Requests))
	}
	n.fpr, n.predicted = known.mistaken/known.absent, known.expected/known.absent
	return n, nil
}
