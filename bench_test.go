package bloomery_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
)

// keyAdder lists the methods that BenchmarkIntake calls on a Builder of one filter or of a sharded set.
type keyAdder interface {
	AddString(string) error
	AddMany([][]byte) error
	AddManyValues([][]byte, []uint64) error
}

// BenchmarkIntake adds keys one by one and in batches, from one goroutine and from two, to a Builder of one filter and
// of 16 shards, and then calls Build. One operation is one key.
func BenchmarkIntake(b *testing.B) {
	const most, batch = 1 << 20, 4096
	texts := settest.Words(most)
	keys, values := make([][]byte, most), make([]uint64, most)
	for i, k := range texts {
		keys[i], values[i] = []byte(k), uint64(i)&255
	}
	adds := map[string]func(a keyAdder, from, to int) error{
		"string": func(a keyAdder, from, to int) error {
			for _, k := range texts[from:to] {
				if err := a.AddString(k); err != nil {
					return err
				}
			}
			return nil
		},
		"many":   func(a keyAdder, from, to int) error { return a.AddMany(keys[from:to]) },
		"values": func(a keyAdder, from, to int) error { return a.AddManyValues(keys[from:to], values[from:to]) },
	}
	for _, shards := range []int{0, 16} {
		for _, way := range []string{"string", "many", "values"} {
			spec := "blocked"
			if way == "values" {
				spec = "rankindexed(value_bits=8,capacity=1048576)"
			}
			for _, goroutines := range []int{1, 2} {
				name := fmt.Sprintf("op=add/shards=%d/way=%s/goroutines=%d", shards, way, goroutines)
				b.Run(name, func(b *testing.B) {
					fill := func(a keyAdder) {
						var wg sync.WaitGroup
						for g := range goroutines {
							wg.Go(func() {
								for from := g * batch; from < most; from += goroutines * batch {
									if err := adds[way](a, from, from+batch); err != nil {
										b.Error(err)
										return
									}
								}
							})
						}
						wg.Wait()
					}
					for b.Loop() {
						settest.Check(b, intakeOnce(b, bloomery.Config{Spec: spec, Sharding: bloomery.Sharding{Shards: shards}}, fill))
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/most, "ns/key")
				})
			}
		}
	}
}

// intakeOnce makes a Builder, fills it and drops the keys. It does not measure the build of the filter.
func intakeOnce(b *testing.B, c bloomery.Config, fill func(keyAdder)) error {
	if c.Sharding.Shards == 0 {
		c.Keys = 1 << 20
		one, err := bloomery.NewBuilder(b.Context(), c)
		if err != nil {
			return err
		}
		defer one.Close()
		fill(one)
		_, err = one.Build(context.Background())
		return err
	}
	all, err := settest.NewShardBuilder(filepath.Join(b.TempDir(), "set"), c)
	if err != nil {
		return err
	}
	fill(all)
	return all.Close()
}

// BenchmarkLive measures queries through a Live of a file and of a sharded set, and the same queries of a Set.
func BenchmarkLive(b *testing.B) {
	keys := settest.Words(1000)
	byKey := make([][]byte, 256)
	for i := range byKey {
		byKey[i] = []byte(fmt.Sprint("absent-", i))
	}
	for _, form := range []string{"file", "sharded"} {
		path := filepath.Join(b.TempDir(), form)
		c := bloomery.Config{Spec: "blocked(bytes=4096)"}
		if form == "sharded" {
			c.Sharding.Shards = 4
			must(settest.BuildShards(b.Context(), slices.Values(keys), path, c))
		} else if err := must(bloomery.Build(b.Context(), slices.Values(keys), c)).Save(b.Context(), path); err != nil {
			b.Fatal(err)
		}
		set, live := must(bloomery.Open(b.Context(), path)), must(bloomery.OpenLive(b.Context(), path))
		defer set.Close()
		defer live.Close()
		for _, by := range []struct {
			name string
			settest.Querier
		}{{"set", set}, {"live", live}} {
			b.Run(fmt.Sprintf("op=has/form=%s/by=%s", form, by.name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					by.Contains(byKey[i%len(byKey)])
				}
			})
			b.Run(fmt.Sprintf("op=string/form=%s/by=%s", form, by.name), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					by.ContainsString(keys[i%len(keys)])
				}
			})
			b.Run(fmt.Sprintf("op=many/form=%s/by=%s", form, by.name), func(b *testing.B) {
				b.ReportAllocs()
				got := make([]bool, len(byKey))
				for b.Loop() {
					settest.View(by.Querier, func(s *bloomery.Set) { bloomery.Keyed[[]byte](s).ContainsMany(got, byKey) })
				}
			})
		}
	}
}

// forms returns Sets of the same keys, one in each form: in memory, mapped, with raw keys, for many writers, and
// sharded.
func forms(b *testing.B, keys []string) map[string]*bloomery.Set {
	all := map[string]*bloomery.Set{}
	built := func(c bloomery.Config) *bloomery.Set {
		s := must(bloomery.NewBuilder(b.Context(), c))
		defer s.Close()
		for _, k := range keys {
			settest.Check(b, s.AddString(k))
		}
		set := must(s.Build(b.Context()))
		return set
	}
	all["plain"] = built(bloomery.Config{Spec: "blocked(bits_per_key=10)"})
	all["many_writers"] = built(bloomery.Config{Spec: "blocked(bits_per_key=10)", Concurrent: true})
	all["raw_keys"] = built(bloomery.Config{Spec: "redisbloom(bits_per_key=10)"})
	path := filepath.Join(b.TempDir(), "f.bloom")
	settest.Check(b, built(bloomery.Config{Spec: "blocked(bytes=1100000)"}).Save(b.Context(), path))
	all["mapped"] = settest.OpenSet(b, path)
	dir := b.TempDir()
	s := must(settest.NewShardBuilder(dir, bloomery.Config{Spec: "blocked(bits_per_key=10)",
		Sharding: bloomery.Sharding{Shards: 16}}))
	defer s.Close()
	for _, k := range keys {
		settest.Check(b, s.AddString(k))
	}
	must(s.Build(b.Context()))
	all["sharded"] = settest.OpenSet(b, dir)
	return all
}

// BenchmarkForms queries a Set of 32,768 keys in each form. Half of the queried keys are present.
func BenchmarkForms(b *testing.B) {
	const n = 1 << 16
	var texts []string
	for i := range n {
		texts = append(texts, "https://example.org/"+strconv.Itoa(i*7919))
	}
	all := forms(b, texts[:n/2])
	blobs, hs := make([][]byte, n), make([]filter.Hash, n)
	for i, k := range texts {
		blobs[i], hs[i] = []byte(k), all["plain"].Hasher().SumString(k)
	}
	answers := make([]bool, n)
	for _, form := range []string{"plain", "many_writers", "mapped", "raw_keys", "sharded"} {
		s := all[form]
		for at := range blobs { // load all shards
			answers[at] = s.Contains(blobs[at])
		}
		b.Run("op=contains/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = s.Contains(blobs[i*31&(n-1)])
			}
		})
		b.Run("op=containsString/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = s.ContainsString(texts[i*31&(n-1)])
			}
		})
		b.Run("op=containsUint64/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = bloomery.Keyed[uint64](s).Contains(uint64(i))
			}
		})
		b.Run("op=has/form="+form, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				answers[0] = s.ContainsHash(hs[i*31&(n-1)])
			}
		})
		for _, batch := range []int{16, 1024} {
			b.Run("op=containsMany/batch="+strconv.Itoa(batch)+"/form="+form, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					at := i * batch & (n - 1)
					bloomery.Keyed[[]byte](s).ContainsMany(answers[:batch], blobs[at:at+batch])
				}
			})
			b.Run("op=hasMany/batch="+strconv.Itoa(batch)+"/form="+form, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					at := i * batch & (n - 1)
					s.ContainsHashes(answers[:batch], hs[at:at+batch])
				}
			})
		}
	}
}

var shardedKeys = flag.Int("sharded.keys", 1_000_000, "number of keys in BenchmarkSharded")

// BenchmarkSharded compares queries of a sharded set with queries of one file of the same keys. The two take turns:
// x-one is the median of the ratios of their times, x-low and x-high are its 95% interval. -sharded.keys sets the
// number of keys.
func BenchmarkSharded(b *testing.B) {
	keys := settest.Integers(*shardedKeys, 1)
	present, absent := slices.Clone(keys), settest.Integers(len(keys), 2)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(present), func(i, j int) { present[i], present[j] = present[j], present[i] })
	for _, spec := range []string{"blocked(bits_per_key=10)", "standard(bits_per_key=9.6)", "fuse(width=8)"} {
		family, _, _ := strings.Cut(spec, "(")
		b.Run("family="+family, func(b *testing.B) {
			one := settest.OpenSet(b, settest.WriteIntegers(b, spec, 0, keys))
			for _, shards := range []int{16, 1000} {
				b.Run(fmt.Sprintf("n=%d/shards=%d", len(keys), shards), func(b *testing.B) {
					many := settest.OpenSet(b, settest.WriteIntegers(b, spec, shards, keys))
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

// turns queries the two sets alternately for the same keys, at least 16,384 keys per turn.
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
		// The two sets get different keys, so that neither finds the other's keys in the cache.
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
	path := settest.WriteIntegers(b, "blocked(bits_per_key=10)", 1000, settest.Integers(*shardedKeys, 1))
	for b.Loop() {
		set := must(bloomery.Open(b.Context(), path))
		settest.Check(b, set.Close())
	}
}
