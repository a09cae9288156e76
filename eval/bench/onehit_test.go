package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/maypok86/otter/v2"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/traffic"
)

var trace = flag.String("trace", "", "a file of requests for TestOneHit, one key a line")

// diskCache is the index of a cache on disk. It reports whether an object is present, and if not, whether to write it.
type diskCache interface {
	hit(object uint32) bool
	miss(object uint32) (written bool)
	close()
}

// lruCache evicts the least recently used object. It stores every object, or only the objects that its doorkeeper
// admits.
type lruCache struct {
	*traffic.LRU
	door *doorkeeper
}

// doorkeeper admits an object that was requested before and is still remembered. Like the doorkeeper of examples/cdn,
// it has two generations.
type doorkeeper struct {
	current, previous *bloomery.Set
	held, keys        int // keys in the current generation, and their maximum
}

func newDoorkeeper(t testing.TB, size int) *doorkeeper {
	d := &doorkeeper{keys: doorkeeperMemory * size}
	c := bloomery.Config{Spec: "blocked(fpr=0.005)", Keys: uint64(d.keys)} // 1% with both generations full
	for _, generation := range []**bloomery.Set{&d.current, &d.previous} {
		set, err := bloomery.New(c)
		if err != nil {
			t.Fatal(err)
		}
		*generation = set
	}
	return d
}

// doorkeeperMemory is the size of a generation as a multiple of the cache size, as in most settings of the lab.
const doorkeeperMemory = 4

func (d *doorkeeper) admits(object uint32) bool {
	current, key := bloomery.Keyed[uint64](d.current), uint64(object)
	if current.Contains(key) {
		return true
	}
	known := bloomery.Keyed[uint64](d.previous).Contains(key)
	_ = current.Add(key) // a blocked filter is never full
	if d.held++; d.held >= d.keys {
		d.current, d.previous, d.held = d.previous, d.current, 0
		_ = d.current.Reset()
	}
	return known
}

func (c lruCache) hit(object uint32) bool { return c.Use(object) }
func (c lruCache) miss(object uint32) bool {
	if c.door != nil && !c.door.admits(object) {
		return false
	}
	c.Put(object)
	return true
}
func (c lruCache) close() {}

// otterCache is W-TinyLFU. A new object enters a window, and later moves to the main part if it is requested more often
// than the object to be evicted. The window is part of the cache, so every miss is a write.
type otterCache struct {
	*otter.Cache[uint32, struct{}]
	door *doorkeeper
}

func newOtter(t testing.TB, size int, door *doorkeeper) diskCache {
	c, err := otter.New(&otter.Options[uint32, struct{}]{MaximumSize: size, Executor: func(f func()) { f() }})
	if err != nil {
		t.Fatal(err)
	}
	return otterCache{c, door}
}

func (c otterCache) hit(object uint32) bool { _, ok := c.GetIfPresent(object); return ok }
func (c otterCache) miss(object uint32) bool {
	if c.door != nil && !c.door.admits(object) {
		return false
	}
	c.Set(object, struct{}{})
	return true
}
func (c otterCache) close() { c.StopAllGoroutines() }

// ristrettoCache is TinyLFU without a window. It stores a new object if the object is requested at least as often as
// the object to be evicted, and else rejects it. A cache on disk that waits for the decision does not write rejected
// objects.
type ristrettoCache struct {
	*ristretto.Cache[uint64, struct{}]
	rejected *bool
	asked    *int
}

// ristrettoPause is the number of requests between pauses for ristretto. Ristretto counts requests in the background
// and drops requests that arrive too fast: two thirds of them in a tight loop, about 5% with this pause.
const ristrettoPause = 8

func newRistretto(t testing.TB, size int) diskCache {
	rejected := new(bool)
	c, err := ristretto.NewCache(&ristretto.Config[uint64, struct{}]{
		NumCounters: int64(10 * size), MaxCost: int64(size), BufferItems: 64, IgnoreInternalCost: true, // as its documentation says
		OnReject: func(*ristretto.Item[struct{}]) { *rejected = true },
	})
	if err != nil {
		t.Fatal(err)
	}
	return ristrettoCache{c, rejected, new(int)}
}

func (c ristrettoCache) hit(object uint32) bool {
	if *c.asked++; *c.asked%ristrettoPause == 0 {
		runtime.Gosched()
	}
	_, ok := c.Get(uint64(object))
	return ok
}
func (c ristrettoCache) miss(object uint32) bool {
	*c.rejected = false
	stored := c.Set(uint64(object), struct{}{}, 1)
	c.Wait()
	return stored && !*c.rejected
}
func (c ristrettoCache) close() { c.Close() }

// oneHitContenders returns the caches of a given size for a stream of a given number of objects.
var oneHitContenders = []struct {
	name string
	make func(t testing.TB, size, objects int) diskCache
}{
	{"LRU, all stored", func(_ testing.TB, size, objects int) diskCache {
		return lruCache{traffic.NewLRU(size, objects), nil}
	}},
	{"LRU behind Doorkeeper", func(t testing.TB, size, objects int) diskCache {
		return lruCache{traffic.NewLRU(size, objects), newDoorkeeper(t, size)}
	}},
	{"ristretto", func(t testing.TB, size, _ int) diskCache { return newRistretto(t, size) }},
	{"otter", func(t testing.TB, size, _ int) diskCache { return newOtter(t, size, nil) }},
	{"otter behind Doorkeeper", func(t testing.TB, size, _ int) diskCache {
		return newOtter(t, size, newDoorkeeper(t, size))
	}},
}

// TestOneHit replays requests against caches on disk and prints the writes, the bytes written and the hits. The
// doorkeeper sees only misses, as in a server. The streams and object sizes are the same as in the lab's experiment
// onehit.
func TestOneHit(t *testing.T) {
	requests, trials := 100_000, uint64(1)
	if *full {
		requests, trials = 1_000_000, 3
	}
	sources := []struct {
		name   string
		trials uint64
		draw   func(r *rand.Rand) traffic.Stream
	}{
		{"Zipf", trials, func(r *rand.Rand) traffic.Stream { return traffic.Zipf(r, requests) }},
		{"Plank", trials, func(r *rand.Rand) traffic.Stream { return traffic.Plank(r, requests) }},
		{"trace", 1, func(*rand.Rand) traffic.Stream {
			s, err := traffic.Trace(t.Context(), *trace)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}},
	}
	if *trace == "" {
		sources = sources[:2]
	}
	for _, source := range sources {
		for _, share := range []float64{0.01, 0.05, 0.2} {
			var writes, kilobytes, hits [][]float64
			for trial := range source.trials {
				s := source.draw(rand.New(rand.NewPCG(1, trial)))
				sizes := traffic.Sizes(rand.New(rand.NewPCG(1, ^trial)), s.Objects)
				for i, c := range oneHitContenders {
					if trial == 0 {
						writes, kilobytes, hits = append(writes, nil), append(kilobytes, nil), append(hits, nil)
					}
					w, b, h := oneHitReplay(c.make(t, max(1, int(share*float64(s.Objects))), s.Objects), s, sizes)
					writes[i], kilobytes[i], hits[i] = append(writes[i], w), append(kilobytes[i], b/1e3), append(hits[i], h)
				}
			}
			for i, c := range oneHitContenders {
				t.Logf("%-6s cache of %3.0f%%  %-24s writes %s  kB %s  hits %s", source.name, 100*share, c.name, mean(writes[i]), mean(kilobytes[i]), mean(hits[i]))
			}
			if all, door := slices.Min(writes[0]), slices.Max(writes[1]); door >= all {
				t.Errorf("%s, %g: %g writes a request behind a doorkeeper, %g without", source.name, share, door, all)
			}
		}
	}
}

// mean returns the mean of the trials and half the width of its 95% interval.
func mean(v []float64) string {
	if len(v) == 1 {
		return fmt.Sprintf("%.4f", v[0])
	}
	m, low, high := figure.MeanInterval(v)
	return fmt.Sprintf("%.4f ± %.4f", m, (high-low)/2)
}

// oneHitReplay returns disk writes, bytes written and hits, all per request.
func oneHitReplay(c diskCache, s traffic.Stream, sizes []float64) (writes, bytes, hits float64) {
	defer c.close()
	for _, object := range s.Requests {
		if c.hit(object) {
			hits++
		} else if c.miss(object) {
			writes++
			bytes += sizes[object]
		}
	}
	n := float64(len(s.Requests))
	return writes / n, bytes / n, hits / n
}
