package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
)

// batchSpecs lists one filter for each batch loop of the header.
var batchSpecs = []string{
	"blocked(fpr=0.01,layout=split)", "blocked(fpr=0.01)", "fuse(width=8)", "standard(fpr=0.01)", "ribbon(fpr=0.01)",
}

// maxQueries is the largest number of keys that one turn queries.
const maxQueries = 1_000_000

// kind is a kind of keys: the commands that query them one by one and in a batch, and the keys themselves.
type kind struct {
	name, single, batch string
	width               int
	add                 func(keys []byte, i uint64) []byte // appends key i, different for each i
}

var kinds = []kind{
	{"strings", "time", "offsets32", 16, func(keys []byte, i uint64) []byte {
		return fmt.Appendf(keys, "%016x", i*0x9E3779B97F4A7C15)
	}},
	{"integers", "integer", "integers", 8, func(keys []byte, i uint64) []byte {
		return binary.LittleEndian.AppendUint64(keys, i*0x9E3779B97F4A7C15)
	}},
}

// runBatches times single queries and batches of the C reader for filters with the given numbers of keys.
func (o options) runBatches(w io.Writer, sizes []int) error {
	var rows []Row
	for _, n := range sizes {
		for _, k := range kinds {
			some, err := o.each(batchSpecs, queryKeys(n, k), k.width, func(c *reader, path, spec string) (Row, error) {
				return o.measureBatches(c, path, spec, n, k)
			})
			if err != nil {
				return err
			}
			rows = append(rows, some...)
		}
	}
	return o.print(w, rows, "| filter | keys | present: single | batch | ratio | absent: single | batch | ratio "+
		"| mixed: single | batch | ratio | open, ms/MiB |")
}

// queryKeys returns the keys to query: equal numbers of present, absent and mixed keys. The filter contains keys 0 to
// n-1.
func queryKeys(n int, k kind) []byte {
	queries := uint64(min(n, maxQueries))
	keys := make([]byte, 0, 3*int(queries)*k.width)
	for i := range queries {
		keys = k.add(keys, i)
	}
	for i := range queries {
		keys = k.add(keys, uint64(n)+i)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range queries {
		keys = k.add(keys, i+uint64(n)*random.Uint64N(2))
	}
	return keys
}

func (o options) measureBatches(c *reader, path, spec string, n int, k kind) (r Row, err error) {
	var all iter.Seq[[]byte] = func(yield func([]byte) bool) {
		var key []byte
		for i := range n {
			if key = k.add(key[:0], uint64(i)); !yield(key) {
				return
			}
		}
	}
	if err := save(path, spec, all, n); err != nil {
		return r, err
	}
	r = Row{Spec: spec, Keys: n, Kind: k.name, Mixed: new(Times)}
	if r.Open, err = c.open(path); err != nil {
		return r, err
	}
	if o.plain {
		if _, _, err := c.ask("plain"); err != nil {
			return r, err
		}
	}
	queries := min(n, maxQueries)
	for part, times := range []*Times{&r.Present, &r.Absent, r.Mixed} {
		from, to := part*queries, (part+1)*queries
		*times, err = o.alternate(queries,
			func() (float64, int, error) { return c.ask("%s %d %d", k.single, from, to) },
			func() (float64, int, error) { return c.ask("%s %d %d", k.batch, from, to) })
		if err != nil {
			return r, err
		}
	}
	return r, nil
}
