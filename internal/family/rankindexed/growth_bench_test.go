package rankindexed

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// BenchmarkGrowth reports how long the slowest calls took while a Concurrent of n keys doubled: one goroutine adds n/50
// keys to a filter that is at its capacity, and another one queries keys that are in the filter. max-ns and p999-ns are
// the times of Add, has-max-ns and has-p999-ns the times of Has. Each is the lowest value of 25 filters, since other
// load on the machine can only increase it.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_280_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			hs := filtertest.Hashes(n+n/50, 1)
			rounds := 25
			if testing.Short() {
				rounds = 1
			}
			f := made(b, Config{Keys: uint64(n), Growth: 1})
			addAll(b, f, hs[:n])
			full := f.Concurrent()
			add, has := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(1), math.Inf(1)}
			for b.Loop() {
				for range rounds {
					f, err := full.Snapshot()
					if err != nil {
						b.Fatal(err)
					}
					a, h := growthTimes(b, f.(*Filter).Concurrent(), hs, n)
					for i := range add {
						add[i], has[i] = min(add[i], a[i]), min(has[i], h[i])
					}
				}
			}
			for i, name := range [2]string{"max-ns", "p999-ns"} {
				b.ReportMetric(add[i], name)
				b.ReportMetric(has[i], "has-"+name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// growthTimes adds hs[n:] to a filter that contains hs[:n], and queries hs[:n] at the same time. It returns the longest
// call and the 0.999 quantile of the calls, in nanoseconds, of Add and of Has.
func growthTimes(b *testing.B, c family.Concurrent, hs []filter.Hash, n int) (add, has [2]float64) {
	adds := make([]time.Duration, 0, len(hs)-n)
	asks := make([]time.Duration, 0, 1<<20)
	stop, asking := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; len(asks) < cap(asks); i = (i + 1) % n {
			select {
			case <-stop:
				return
			default:
			}
			start := time.Now()
			c.Has(hs[i])
			if asks = append(asks, time.Since(start)); len(asks) == 1 {
				close(asking)
			}
		}
	})
	<-asking
	for _, h := range hs[n:] {
		start := time.Now()
		err := c.Add(h)
		adds = append(adds, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	ends := func(d []time.Duration) [2]float64 {
		slices.Sort(d)
		return [2]float64{float64(d[len(d)-1]), float64(d[len(d)*999/1000])}
	}
	return ends(adds), ends(asks)
}
