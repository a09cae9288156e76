package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bloomery/bloomery/filter"
)

// onehit is the cache of a content delivery network that stores an object at its second request, as a filter tells it.
var onehit = Experiment{
	Name: "onehit", Source: plankNotes + " and " + sahaSlides + ", the cache of Akamai (Maggs and Sitaraman, 2015)",
	Varies: "size of the cache, memory of the filter, requests", Run: runOnehit, Seconds: 14,
}

// onehitSetting is a cache with its filter.
type onehitSetting struct {
	size   float64 // of the cache, as a share of the objects that the requests ask for
	memory int     // objects that a generation of the filter holds, for each that the cache holds
}

// The settings: caches of many sizes with filters of one memory, then caches of one size with filters of many memories.
var (
	onehitSizes    = []onehitSetting{{0.01, 4}, {0.02, 4}, {0.05, 4}, {0.1, 4}, {0.2, 4}, {0.4, 4}}
	onehitMemories = []onehitSetting{{0.01, 1}, {0.01, 2}, {0.01, 4}, {0.01, 8}, {0.01, 16}, {0.01, 32}, {0.01, 64}}
)

// fewestRequests is what a trace must have: with fewer, caches of 1% of its objects hold next to nothing.
const fewestRequests = 1000

// onehitSource is where requests come from.
type onehitSource struct {
	name   string
	trials int
	draw   func(r *rand.Rand) stream
}

func runOnehit(ctx context.Context, c Config) (Result, error) {
	result := c.begin(6)
	requests := 1_000_000
	if c.Quick {
		requests = 100_000
	}
	sources := []onehitSource{
		{"Zipf", c.Trials, func(r *rand.Rand) stream { return zipfStream(r, requests) }},
		{"Plank's traffic", c.Trials, func(r *rand.Rand) stream { return plankStream(r, requests) }},
	}
	if c.Trace != "" {
		s, err := traceStream(ctx, c.Trace)
		if err != nil {
			return result, err
		}
		if len(s.requests) < fewestRequests {
			return result, fmt.Errorf("%s: %d requests are too few to compare caches; at least %d are needed", c.Trace, len(s.requests), fewestRequests)
		}
		sources = append(sources, onehitSource{"trace", 1, func(*rand.Rand) stream { return s }})
	} else {
		result.Notes = append(result.Notes, "No trace was given, so that all requests are made up.")
	}
	plots := newOnehitPlots()
	w := c.work(float64(len(sources)))
	for _, source := range sources {
		var trials []onehitTrial
		for trial := range uint64(source.trials) {
			s := source.draw(rand.New(rand.NewPCG(c.Seed, trial)))
			t, err := onehitRun(ctx, w, 1/float64(source.trials), s, filter.NewHasher(c.Seed+trial))
			if err != nil {
				return result, err
			}
			trials = append(trials, t)
		}
		result.Rows = append(result.Rows, plots.add(source, trials)...)
	}
	result.Notes = append(result.Notes, plots.claim(),
		fmt.Sprintf("All objects have one size. The cache evicts the object that was used least recently. The filter has two generations, "+
			"each at a rate of %g when it is full. Every request is looked up in both and put into the younger; when that is full, the "+
			"older is dropped. Its memory is given in objects a generation for each object that the cache holds.", agerFPR),
		"Zipf: requests for object i of an endless catalogue in proportion to (9+i)^(-4/3), which makes 3/4 of the objects come up once. "+
			"Plank's traffic: 3/4 of the requests are for an object that comes once (94% of the objects), the others for one of a set, "+
			"all equally popular.")
	result.Plots = plots.done()
	return result, nil
}

// onehitTrial is what the caches of all settings did with a stream.
type onehitTrial struct {
	requests, objects, once float64
	sizes, memories         []onehitCount
}

// onehitRun replays a stream with all settings at once. It counts by steps of work for it.
func onehitRun(ctx context.Context, w *work, by float64, s stream, hasher filter.Hasher) (t onehitTrial, err error) {
	settings := slices.Concat(onehitSizes, onehitMemories)
	counts, err := each(ctx, w, by/float64(len(settings)), len(settings), func(ctx context.Context, i int) (onehitCount, error) {
		return onehitReplay(ctx, s, settings[i], hasher)
	})
	return onehitTrial{
		requests: float64(len(s.requests)), objects: float64(s.objects), once: float64(s.once),
		sizes: counts[:len(onehitSizes)], memories: counts[len(onehitSizes):],
	}, err
}

// onehitCount is what two caches did, a request: one stores everything, one what its filter knows.
type onehitCount struct {
	hits, writes   float64
	filteredHits   float64
	filteredWrites float64
	mistaken       float64 // writes of objects that the filter knew by mistake
	fpr, predicted float64 // of the filter
}

// onehitReplay sends the requests to both caches.
func onehitReplay(ctx context.Context, s stream, setting onehitSetting, hasher filter.Hasher) (n onehitCount, err error) {
	size := max(1, int(setting.size*float64(s.objects)))
	all, some := newLRU(size, s.objects), newLRU(size, s.objects)
	known, err := newAger(setting.memory*size, s.objects)
	if err != nil {
		return n, err
	}
	for i, object := range s.requests {
		if i%65536 == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		if all.use(object) {
			n.hits++
		} else {
			n.writes++
			all.put(object)
		}
		says, does, err := known.see(object, hasher.SumUint64(uint64(object)))
		if err != nil {
			return n, err
		}
		switch {
		case some.use(object):
			n.filteredHits++
		case says:
			n.filteredWrites++
			some.put(object)
			if !does {
				n.mistaken++
			}
		}
	}
	for _, v := range []*float64{&n.hits, &n.writes, &n.filteredHits, &n.filteredWrites, &n.mistaken} {
		*v /= float64(len(s.requests))
	}
	n.fpr, n.predicted = known.mistaken/known.absent, known.expected/known.absent
	return n, nil
}
