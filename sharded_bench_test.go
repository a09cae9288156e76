package bloomery_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/shardfile"
	"github.com/bloomery/bloomery/shard"
)

var shardedKeys = flag.Int("sharded.keys", 1_000_000, "number of keys in BenchmarkSharded")

// integers returns n distinct keys. Those of different series differ.
func integers(n int, series uint64) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = (series<<40 + uint64(i)) * 0x9E3779B97F4A7C15
	}
	return keys
}

// writeIntegers builds a sharded set, or with shards 0 a file, and returns its path.
func writeIntegers(tb testing.TB, spec string, shards int, keys []uint64) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), fmt.Sprintf("%d", shards))
	build := func(path string, hs []filter.Hash) *bloomery.Set {
		b, err := bloomery.NewBuilder(tb.Context(), bloomery.Config{Spec: spec, Keys: uint64(len(hs))})
		if err != nil {
			tb.Fatal(err)
		}
		if err := b.AddHashes(hs); err != nil {
			tb.Fatal(err)
		}
		set, err := b.Build(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		if err := set.Save(tb.Context(), path); err != nil {
			tb.Fatal(err)
		}
		return set
	}
	hs := make([]filter.Hash, len(keys))
	hasher := filter.NewHasher(0)
	hasher.SumUint64s(hs, keys)
	if shards == 0 {
		build(path, hs)
		return path
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		tb.Fatal(err)
	}
	parts := make([][]filter.Hash, shards)
	for _, h := range hs {
		s := shard.Route(h, shards)
		parts[s] = append(parts[s], h)
	}
	m := &shard.Manifest{Hash: filter.XXH3}
	for i, part := range parts {
		name := shardfile.Name(i, shards, "")
		set := build(filepath.Join(path, name), part)
		entry := entryOf(tb, filepath.Join(path, name), set)
		m.Shards = append(m.Shards, entry)
		m.Spec, _ = filter.ParseSpec(spec)
	}
	writeManifest(tb, path, m)
	return path
}

func openSet(tb testing.TB, path string) *bloomery.Set {
	tb.Helper()
	set, err := bloomery.Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = set.Close() })
	return set
}

// BenchmarkSharded compares queries of a sharded set with those of one file of the same keys. The two take turns: x-one
// is the median of the ratios of their times, x-low and x-high are its 95% interval. -sharded.keys sets the number of
// keys.
func BenchmarkSharded(b *testing.B) {
	keys := integers(*shardedKeys, 1)
	present, absent := slices.Clone(keys), integers(len(keys), 2)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(present), func(i, j int) { present[i], present[j] = present[j], present[i] })
	for _, spec := range []string{"blocked(bits_per_key=10)", "standard(bits_per_key=9.6)", "fuse(width=8)"} {
		family, _, _ := strings.Cut(spec, "(")
		b.Run("family="+family, func(b *testing.B) {
			one := openSet(b, writeIntegers(b, spec, 0, keys))
			for _, shards := range []int{16, 1000} {
				b.Run(fmt.Sprintf("n=%d/shards=%d", len(keys), shards), func(b *testing.B) {
					many := openSet(b, writeIntegers(b, spec, shards, keys))
					for _, batch := range []int{1, 256, 4096, 65536} {
						for hit, queries := range [][]uint64{absent, present} {
							b.Run(fmt.Sprintf("batch=%d/hit=%d", batch, hit), func(b *testing.B) { turns(b, one, many, batch, queries) })
						}
					}
				})
			}
		})
	}
}

// turns queries both sets for the same keys in turns, one turn each of 16,384 or more keys.
func turns(b *testing.B, one, many *bloomery.Set, batch int, queries []uint64) {
	answers := make([]bool, batch)
	query := func(s *bloomery.Set, keys []uint64) time.Duration {
		start := time.Now()
		if batch == 1 {
			for _, k := range keys {
				answers[0] = bloomery.Keyed[uint64](s).Contains(k) != answers[0]
			}
		} else {
			for from := 0; from < len(keys); from += batch {
				part := keys[from:min(from+batch, len(keys))]
				bloomery.Keyed[uint64](s).ContainsMany(answers[:len(part)], part)
			}
		}
		return time.Since(start)
	}
	turn := min(max(1<<14, batch), len(queries))
	for from := 0; from+turn <= len(queries); from += turn { // load all shards
		query(many, queries[from:from+turn])
	}
	var ratios []float64
	var ones, times []float64
	from := 0
	for b.Loop() {
		if from+2*turn > len(queries) {
			from = 0
		}
		// Each set is asked for other keys, so that neither finds the other's keys in the cache.
		first, second := queries[from:from+turn], queries[len(queries)-from-turn:len(queries)-from]
		x, y := one, many
		if len(ratios)%2 == 1 {
			x, y = many, one
		}
		tx, ty := query(x, first).Seconds(), query(y, second).Seconds()
		if x == many {
			tx, ty = ty, tx
		}
		ratios = append(ratios, ty/tx)
		ones, times = append(ones, tx*1e9/float64(turn)), append(times, ty*1e9/float64(turn))
		from += turn
	}
	median, low, high := medianInterval(ratios)
	b.ReportMetric(median, "x-one")
	b.ReportMetric(low, "x-low")
	b.ReportMetric(high, "x-high")
	m1, _, _ := medianInterval(ones)
	m2, _, _ := medianInterval(times)
	b.ReportMetric(m1, "ns-one/key")
	b.ReportMetric(m2, "ns-sharded/key")
	b.ReportMetric(0, "ns/op")
}

// medianInterval returns the median of the values and its 95% interval by order statistics.
func medianInterval(v []float64) (median, low, high float64) {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	half := int(0.98*math.Sqrt(float64(n))) + 1
	return v[n/2], v[max(0, n/2-half)], v[min(n-1, n/2+half)]
}

// BenchmarkOpenSharded opens a set of 1,000 shards, which checks the size and the header of each.
func BenchmarkOpenSharded(b *testing.B) {
	path := writeIntegers(b, "blocked(bits_per_key=10)", 1000, integers(*shardedKeys, 1))
	for b.Loop() {
		set, err := bloomery.Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if err := set.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
