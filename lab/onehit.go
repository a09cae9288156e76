package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/bloomery/bloomery/filter"
)

// onehit is the cache of a content delivery network that stores an object at its second request, as a filter tells it.
var onehit = Experiment{
	Name: "onehit", Source: "Plank's lecture notes and Saha's slides, the cache of Akamai (Maggs and Sitaraman, 2015)",
	Varies: "size of the cache, memory of the filter, requests", Run: runOnehit,
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

// onehitSource is where requests come from.
type onehitSource struct {
	name   string
	trials int
	claim  bool // whether what the slides claim is to be compared with
	draw   func(r *rand.Rand) (stream, error)
}

func runOnehit(ctx context.Context, c Config) (Result, error) {
	result := c.begin(6)
	requests := 1_000_000
	if c.Quick {
		requests = 100_000
	}
	sources := []onehitSource{
		{"Zipf", c.Trials, !c.Quick, func(r *rand.Rand) (stream, error) { return zipfStream(r, requests), nil }},
		{"Plank's traffic", c.Trials, false, func(r *rand.Rand) (stream, error) { return plankStream(r, requests), nil }},
	}
	if c.Trace != "" {
		sources = append(sources, onehitSource{"trace", 1, false, func(*rand.Rand) (stream, error) { return traceStream(ctx, c.Trace) }})
	} else {
		result.Notes = append(result.Notes, "No trace was given, so that all requests are made up.")
	}
	plots := newOnehitPlots()
	w := c.work(float64(len(sources)))
	for _, source := range sources {
		trials, err := each(ctx, w, 1/float64(source.trials), source.trials, func(ctx context.Context, trial int) (onehitTrial, error) {
			return onehitRun(ctx, c.Seed, uint64(trial), source.draw)
		})
		if err != nil {
			return result, err
		}
		result.Rows = append(result.Rows, plots.add(source, trials)...)
	}
	result.Plots = plots.done()
	result.Notes = append(result.Notes,
		fmt.Sprintf("All objects have one size. The cache evicts the object that was used least recently. The filter has two generations, "+
			"each at a rate of %g when it is full. Every request is looked up in both and put into the younger; when that is full, the "+
			"older is dropped. Its memory is given in objects a generation for each object that the cache holds.", agerFPR),
		"Zipf: requests for object i of an endless catalogue in proportion to (9+i)^(-4/3), which makes 3/4 of the objects come up once. "+
			"Plank's traffic: 3/4 of the requests are for an object that comes once (94% of the objects), the others for one of a set, "+
			"all equally popular.",
		"What the filter saves depends on how long it remembers as much as on the share of one-hit wonders: an object that comes back "+
			"after it was forgotten is kept out once more. A filter with a long memory keeps out one-hit wonders only.")
	return result, nil
}

// onehitTrial is what the caches of all settings did with a stream.
type onehitTrial struct {
	requests, objects, once float64
	sizes, memories         []onehitCount
}

// onehitRun makes a stream and replays it.
func onehitRun(ctx context.Context, seed, trial uint64, draw func(r *rand.Rand) (stream, error)) (t onehitTrial, err error) {
	s, err := draw(rand.New(rand.NewPCG(seed, trial)))
	if err != nil {
		return t, err
	}
	if len(s.requests) == 0 {
		return t, errors.New("there are no requests")
	}
	t = onehitTrial{requests: float64(len(s.requests)), objects: float64(s.objects), once: float64(s.once)}
	for _, part := range []struct {
		settings []onehitSetting
		counts   *[]onehitCount
	}{{onehitSizes, &t.sizes}, {onehitMemories, &t.memories}} {
		for _, setting := range part.settings {
			n, err := onehitReplay(s, setting, filter.NewHasher(seed+trial))
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return t, err
			}
			*part.counts = append(*part.counts, n)
		}
	}
	return t, nil
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
func onehitReplay(s stream, setting onehitSetting, hasher filter.Hasher) (n onehitCount, err error) {
	size := max(1, int(setting.size*float64(s.objects)))
	all, some := newLRU(size, s.objects), newLRU(size, s.objects)
	known, err := newAger(setting.memory*size, s.objects)
	if err != nil {
		return n, err
	}
	for _, object := range s.requests {
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
