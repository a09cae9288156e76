package filtertest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// benchKeys is the number of keys that BenchmarkConcurrent adds to each filter.
const benchKeys = 1 << 20

// BenchmarkConcurrent measures the time per key of adding new keys to the plain and the concurrent form of a filter,
// and of TestAndAdd in the concurrent form, with 1 and 2 goroutines. The time is wall time: with two goroutines, half
// is ideal. The plain form of TestAndAdd is Has, then Add.
func BenchmarkConcurrent(b *testing.B, start func(keys uint64) family.Filter) {
	hs := Hashes(benchKeys, 1)
	run := func(name string, goroutines int, make func() func(filter.Hash)) {
		b.Run(fmt.Sprintf("%s/goroutines=%d", name, goroutines), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				op := make()
				b.StartTimer()
				var wg sync.WaitGroup
				for g := range goroutines {
					wg.Go(func() {
						for _, h := range hs[g*benchKeys/goroutines : (g+1)*benchKeys/goroutines] {
							op(h)
						}
					})
				}
				wg.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchKeys, "ns/key")
			b.ReportMetric(0, "ns/op")
		})
	}
	plain := func() family.Adder { return start(benchKeys).(family.Adder) }
	shared := func() family.Concurrent { return start(benchKeys).(family.Sharer).Concurrent() }
	run("op=add/form=plain", 1, func() func(filter.Hash) {
		f := plain()
		return func(h filter.Hash) { _ = f.Add(h) }
	})
	run("op=testandadd/form=plain", 1, func() func(filter.Hash) {
		f := plain()
		return func(h filter.Hash) {
			if !f.(family.Filter).Has(h) {
				_ = f.Add(h)
			}
		}
	})
	for goroutines := 1; goroutines <= 2; goroutines++ {
		run("op=add/form=concurrent", goroutines, func() func(filter.Hash) {
			c := shared()
			return func(h filter.Hash) { _ = c.Add(h) }
		})
		run("op=testandadd/form=concurrent", goroutines, func() func(filter.Hash) {
			c := shared()
			return func(h filter.Hash) { _, _ = c.TestAndAdd(h) }
		})
	}
}
