// Package traffic has what experiments with caches share: requests, synthetic or from a trace, sizes of objects, and an
// LRU cache. The lab and the bench module use it.
package traffic

import (
	"context"
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
// About 3/4 of the requested objects come once, for any number of requests: a power of -1/a gives a share of a (Karlin,
// 1967). The offset only lowers the share of the most popular objects.
func Zipf(r *rand.Rand, requests int) Stream {
	z := rand.NewZipf(r, 4./3, 10, 1<<50)
	n := newNumbering[uint64]()
	for range requests {
		n.request(z.Uint64())
	}
	return n.done()
}

// Plank returns the traffic of Plank's BF-tester: 3/4 of the requests are for an object that comes once, the others for
// one of requests/20 equally popular objects. requests must be at least 20.
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
