// Package traffic provides the common code of experiments with caches: streams of synthetic or recorded requests, sizes
// of objects, and an LRU cache. The lab and the bench module use it.
package traffic

import (
	"container/list"
	"context"
	"math"
	"math/rand/v2"

	"github.com/bloomery/bloomery/internal/keyio"
)

// Stream is a sequence of requests. Objects are numbered from 0 in the order of their first request.
type Stream struct {
	Requests []uint32
	Objects  int
	Once     int // number of objects that are requested once
}

// numbering turns keys into a stream.
type numbering[K comparable] struct {
	Stream
	numbers map[K]uint32
	seen    []int
}

func newNumbering[K comparable]() *numbering[K] { return &numbering[K]{numbers: map[K]uint32{}} }

// request appends a request.
func (n *numbering[K]) request(key K) {
	object, ok := n.numbers[key]
	if !ok {
		object = uint32(len(n.numbers))
		n.numbers[key] = object
		n.seen = append(n.seen, 0)
	}
	n.seen[object]++
	n.Requests = append(n.Requests, object)
}

// done returns the stream.
func (n *numbering[K]) done() Stream {
	n.Objects = len(n.seen)
	for _, times := range n.seen {
		if times == 1 {
			n.Once++
		}
	}
	return n.Stream
}

// Zipf draws requests from an infinite catalogue, object i = 1, 2, ... with a probability proportional to (9+i)^(-4/3).
// About 3/4 of the requested objects are requested once, for any number of requests: a power of -1/a gives a share of a
// (Karlin, 1967). The offset only lowers the share of the most popular objects.
func Zipf(r *rand.Rand, requests int) Stream {
	z := rand.NewZipf(r, 4./3, 10, 1<<50)
	n := newNumbering[uint64]()
	for range requests {
		n.request(z.Uint64())
	}
	return n.done()
}

// Plank returns the traffic of Plank's BF-tester: 3/4 of the requests are for objects that are requested once, the
// others are for requests/20 equally popular objects. requests must be at least 20.
func Plank(r *rand.Rand, requests int) Stream {
	n := newNumbering[int]()
	for i := range requests {
		if r.IntN(4) > 0 {
			n.request(requests + i)
		} else {
			n.request(r.IntN(requests / 20))
		}
	}
	return n.done()
}

// Trace reads a file of requests, one key a line, plain or compressed by gzip or zstd.
func Trace(ctx context.Context, path string) (Stream, error) {
	in, err := keyio.Open([]string{path}, keyio.Options{})
	if err != nil {
		return Stream{}, err
	}
	n := newNumbering[string]()
	err = in.Process(ctx, 1, nil, func(b *keyio.Batch) error {
		for _, key := range b.Keys {
			n.request(string(key))
		}
		return nil
	})
	return n.done(), err
}

// LRU is a cache of a fixed number of objects that evicts the least recently used one. Objects are numbered from 0, so
// that a slice replaces the map of general caches such as golang-lru. It is not safe for concurrent use.
type LRU struct {
	size  int
	order *list.List      // the most recent first; values are object numbers
	where []*list.Element // nil for an object that is not in the cache
}

// NewLRU returns an empty cache of size objects, at least 1, for objects 0 ... objects-1.
func NewLRU(size, objects int) *LRU {
	return &LRU{size: size, order: list.New(), where: make([]*list.Element, objects)}
}

// Use reports whether an object is in the cache. If so it becomes the most recently used one.
func (c *LRU) Use(object uint32) bool {
	e := c.where[object]
	if e != nil {
		c.order.MoveToFront(e)
	}
	return e != nil
}

// Put stores an object, which must not be in the cache.
func (c *LRU) Put(object uint32) {
	if c.order.Len() < c.size {
		c.where[object] = c.order.PushFront(object)
		return
	}
	e := c.order.Back() // reused for the new object
	c.where[e.Value.(uint32)] = nil
	e.Value = object
	c.where[object] = e
	c.order.MoveToFront(e)
}

// The law of sizes: a truncated Pareto law. Files on the web have powers near 1 (Crovella and Bestavros, IEEE/ACM ToN
// 5, 1997).
const (
	SizePower = 1.2
	SizeMin   = 2e3 // bytes
	SizeMax   = 1e8
)

// SizeMean is the mean of the law: 10.6 kB. One of 110 objects has more than 100 kB; these objects are 39% of all
// bytes.
var SizeMean = SizePower / (SizePower - 1) * SizeMin * (1 - math.Pow(SizeMin/SizeMax,
	SizePower-1)) / (1 - math.Pow(SizeMin/SizeMax, SizePower))

// Sizes draws the sizes of a number of objects, in bytes.
func Sizes(r *rand.Rand, objects int) []float64 {
	sizes := make([]float64, objects)
	for i := range sizes {
		sizes[i] = SizeMin * math.Pow(1-r.Float64()*(1-math.Pow(SizeMin/SizeMax, SizePower)), -1/SizePower)
	}
	return sizes
}
