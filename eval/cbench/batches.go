package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/bloomery/bloomery"
)

// batchSpecs has one filter for each loop that the header has for batches.
var batchSpecs = []string{
	"blocked(fpr=0.01,layout=split)", "blocked(fpr=0.01)", "fuse(width=8)", "standard(fpr=0.01)", "ribbon(fpr=0.01)",
}

// maxQueries is the largest number of keys that one turn queries.
const maxQueries = 1_000_000

// kind is a kind of keys: how to query one by one, how to query a batch, and the keys themselves.
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

// Times are medians in nanoseconds of processor time for a query. Ratio is the median of batch over single, turn by
// turn.
type Times struct {
	Single float64 `json:"single"`
	Batch  float64 `json:"batch"`
	Ratio  float64 `json:"ratio"`
}

// BatchRow is the result for a filter and a kind of keys. Half of the keys of Mixed are present, in random order.
type BatchRow struct {
	Spec    string `json:"spec"`
	Keys    int    `json:"keys"`
	Kind    string `json:"kind"`
	Present Times  `json:"present"`
	Absent  Times  `json:"absent"`
	Mixed   Times  `json:"mixed"`
}

// runBatches times single queries and batches of the C reader for filters of sizes keys.
func runBatches(w io.Writer, o options, sizes []int) error {
	var rows []BatchRow
	for _, n := range sizes {
		for _, k := range kinds {
			some, err := batchesOf(o, n, k)
			if err != nil {
				return err
			}
			rows = append(rows, some...)
		}
	}
	if o.json {
		return json.NewEncoder(w).Encode(rows)
	}
	fmt.Fprintln(w, "| filter | keys | present: single | batch | ratio | absent: single | batch | ratio "+
		"| mixed: single | batch | ratio |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Fprintf(w, "| `%s` | %dM %s |", r.Spec, r.Keys/1_000_000, r.Kind)
		for _, t := range []Times{r.Present, r.Absent, r.Mixed} {
			fmt.Fprintf(w, " %.1f ns | %.1f ns | %.2f |", t.Single, t.Batch, t.Ratio)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// batchesOf returns the rows for one kind of keys and filters of n keys.
func batchesOf(o options, n int, k kind) ([]BatchRow, error) {
	dir, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "keys")
	if err := os.WriteFile(path, queryKeys(n, k), 0o600); err != nil {
		return nil, err
	}
	c, err := start(o.queries, path, k.width)
	if err != nil {
		return nil, fmt.Errorf("%w; run make -C c bench-batches", err)
	}
	defer c.stop()
	var rows []BatchRow
	for _, spec := range batchSpecs {
		if !strings.HasPrefix(spec, o.only) {
			continue
		}
		r, err := measureBatches(c, filepath.Join(dir, "filter.bloom"), o, spec, n, k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// queryKeys returns the keys that are queried: as many present ones, absent ones, and mixed ones. The filter has keys 0
// to n-1.
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

func measureBatches(c *reader, path string, o options, spec string, n int, k kind) (BatchRow, error) {
	ctx := context.Background()
	var all iter.Seq[[]byte] = func(yield func([]byte) bool) {
		var key []byte
		for i := range n {
			if key = k.add(key[:0], uint64(i)); !yield(key) {
				return
			}
		}
	}
	s, err := bloomery.Build(ctx, all, bloomery.Config{Spec: spec, Keys: uint64(n)})
	if err != nil {
		return BatchRow{}, err
	}
	if err := s.Save(ctx, path); err != nil {
		return BatchRow{}, err
	}
	if _, _, err := c.ask("open %s", path); err != nil {
		return BatchRow{}, err
	}
	if o.plain {
		if _, _, err := c.ask("plain"); err != nil {
			return BatchRow{}, err
		}
	}
	r := BatchRow{Spec: spec, Keys: n, Kind: k.name}
	queries := min(n, maxQueries)
	for part, times := range []*Times{&r.Present, &r.Absent, &r.Mixed} {
		var single, batch, ratio []float64
		for range o.turns + 1 {
			a, found, err := c.ask("%s %d %d", k.single, part*queries, (part+1)*queries)
			if err != nil {
				return BatchRow{}, err
			}
			b, foundMany, err := c.ask("%s %d %d", k.batch, part*queries, (part+1)*queries)
			if err != nil {
				return BatchRow{}, err
			}
			if found != foundMany {
				return BatchRow{}, fmt.Errorf("single queries find %d keys, batches %d", found, foundMany)
			}
			single, batch = append(single, a/float64(queries)), append(batch, b/float64(queries))
			ratio = append(ratio, b/a)
		}
		*times = Times{median(single[1:]), median(batch[1:]), median(ratio[1:])}
	}
	return r, nil
}
