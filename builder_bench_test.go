package bloomery_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/shardtest"
)

// keyAdder is what BenchmarkIntake needs of a Builder of one filter and of a sharded set.
type keyAdder interface {
	AddString(string) error
	AddMany([][]byte) error
	AddManyValues([][]byte, []uint64) error
}

// BenchmarkIntake adds keys one by one and in batches, from one goroutine and from two, to the builder of one filter
// and of 16 shards, and builds. One operation is one key.
func BenchmarkIntake(b *testing.B) {
	const most, batch = 1 << 20, 4096
	texts := words(most)
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
						if err := intakeOnce(b, bloomery.Config{Spec: spec, Shards: shards}, fill); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/most, "ns/key")
				})
			}
		}
	}
}

// intakeOnce makes a builder, fills it and drops the keys. The family's own build is no part of it.
func intakeOnce(b *testing.B, c bloomery.Config, fill func(keyAdder)) error {
	if c.Shards == 0 {
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
	all, err := shardtest.NewBuilder(filepath.Join(b.TempDir(), "set"), c)
	if err != nil {
		return err
	}
	fill(all)
	return all.Close()
}
