package window

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// pace is the time between two keys of a benchmark.
const pace = time.Microsecond

// full returns a filter that has been full for a while, and the number of keys that were added: key i is hash(i). Time
// moves by pace with each key.
func full(b testing.TB, keys uint64, fpr float64) (*Filter[filter.Hash], uint64) {
	f := must(New[filter.Hash](Config{Keys: keys, TTL: time.Duration(keys) * pace, FPR: fpr, EventTime: true}))
	n := keys * 9 / 7
	for i := range n {
		f.Advance(time.Unix(0, int64(i)*int64(pace)))
		must(f.TestAndAdd(hash(i)))
	}
	return f, n
}

// hash returns a hash for a number.
func hash(i uint64) filter.Hash {
	return filter.Hash{Hi: mix(i), Lo: mix(^i)}
}

// mix is the output function of SplitMix64.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// rotating consists of eight filters of the family blocked, each for the keys of a seventh of TTL: a common alternative
// to package window.
type rotating []*blocked.Filter

func newRotating(b testing.TB, keys uint64, fpr float64) (r rotating) {
	each := -math.Expm1(math.Log1p(-fpr) / stamps)
	n := keys / epochs
	for i := range uint64(stamps) {
		f := must(blocked.New(blocked.Config{Keys: n, Size: family.Sizing{FPR: each}}))
		for j := range n {
			_ = f.Add(hash(i*n + j))
		}
		r = append(r, f)
	}
	return r
}

func (r rotating) has(h filter.Hash) bool {
	for _, b := range r {
		if b.Has(h) {
			return true
		}
	}
	return false
}

var benchKeys = []uint64{1_000_000, 10_000_000}

// ops is the number of operations of a round.
const ops = 16 << 10

// rounds repeatedly measures the CPU time of functions that each do ops operations, in turn. For each function it
// reports the median time of an operation, and its ratio to the time of the last function. The function that a call
// returns is called afterwards and not measured.
func rounds(b *testing.B, names []string, do ...func() (restore func())) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	times := make([][]float64, len(do))
	for b.Loop() {
		for range 41 {
			for i, f := range do {
				start := threadTime()
				restore := f()
				times[i] = append(times[i], float64((threadTime()-start).Nanoseconds())/ops)
				if restore != nil {
					restore()
				}
			}
		}
	}
	median := make([]float64, len(do))
	for i := range do {
		slices.Sort(times[i])
		median[i] = times[i][len(times[i])/2]
	}
	for i, name := range names {
		b.ReportMetric(median[i], name+"-ns")
		b.ReportMetric(median[i]/median[len(do)-1], name+"-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkNew compares TestAndAdd of new keys, in a filter that is as full as planned, with TestAndAdd of a concurrent
// rank-indexed filter that fills up to its capacity and never removes keys.
func BenchmarkNew(b *testing.B) {
	for _, keys := range benchKeys {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			f, at := full(b, keys, 0.01)
			empty := must(rankindexed.New(rankindexed.Config{Keys: keys, Size: family.Sizing{FPR: 0.01}}))
			c := empty.Concurrent().(*rankindexed.Concurrent)
			for i := range keys - ops {
				_, _ = c.TestAndAdd(hash(i))
			}
			from, to := uint64(0), keys-ops
			rounds(b, []string{"window", "rankindexed"}, func() func() {
				for range ops {
					f.Advance(time.Unix(0, int64(at)*int64(pace)))
					_, _ = f.TestAndAdd(hash(at))
					at++
				}
				return nil
			}, func() func() {
				for range ops {
					_, _ = c.TestAndAdd(hash(to))
					to++
				}
				return func() {
					for range ops {
						_ = c.Remove(hash(from))
						from++
					}
				}
			})
		})
	}
}

// BenchmarkContains compares queries with queries of eight rotating blocked filters.
func BenchmarkContains(b *testing.B) {
	for _, keyCount := range benchKeys {
		f, at := full(b, keyCount, 0.01)
		r := newRotating(b, keyCount, 0.01)
		for _, present := range []bool{true, false} {
			b.Run(fmt.Sprintf("keys=%d/present=%t", keyCount, present), func(b *testing.B) {
				round, found := uint64(0), 0
				keys := func(from, of uint64) (hs []filter.Hash) {
					round++
					for i := range uint64(ops) {
						if present {
							hs = append(hs, hash(from+mix(round<<30+i)%of))
						} else {
							hs = append(hs, hash(1<<40+round<<30+i))
						}
					}
					return hs
				}
				inWindow, inRotating := keys(at-keyCount, keyCount), keys(0, keyCount/epochs*stamps)
				rounds(b, []string{"window", "rotating"}, func() func() {
					for _, h := range inWindow {
						if f.Contains(h) {
							found++
						}
					}
					return func() { inWindow = keys(at-keyCount, keyCount) }
				}, func() func() {
					for _, h := range inRotating {
						if r.has(h) {
							found++
						}
					}
					return func() { inRotating = keys(0, keyCount/epochs*stamps) }
				})
			})
		}
	}
}

// BenchmarkGoroutines adds new keys from one goroutine, and from two goroutines of which each adds half, and reports
// the speedup. read-speedup is the speedup of queries of filters that do not change, which shows the limit of the
// machine. It is about 1 if other programs run, or if the two processors are two threads of one core.
func BenchmarkGoroutines(b *testing.B) {
	for _, keys := range benchKeys {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) { goroutines(b, keys) })
	}
}

func goroutines(b *testing.B, keys uint64) {
	f, at := full(b, keys, 0.01)
	const n = 32 * ops // long enough for a second thread to get a processor
	add := func(part, parts uint64) {
		for j := part; j < n/64; j += parts { // interleaved, so that both have the same time
			for i := at + j*64; i < at+j*64+64; i++ {
				f.Advance(time.Unix(0, int64(i)*int64(pace)))
				_, _ = f.TestAndAdd(hash(i))
			}
		}
	}
	r := newRotating(b, keys, 0.01)
	var sum atomic.Uint64
	read := func(part, parts uint64) {
		found := uint64(0)
		for i := part; i < n; i += parts {
			if r.has(hash(1<<40 + i)) {
				found++
			}
		}
		sum.Add(found)
	}
	speedup := [2]float64{} // of add and of read
	least := [2][2]float64{{math.Inf(1), math.Inf(1)}, {math.Inf(1), math.Inf(1)}}
	for b.Loop() {
		for range 8 {
			for what, do := range []func(part, parts uint64){add, read} {
				for more := range uint64(2) {
					start := time.Now()
					var wg sync.WaitGroup
					for i := range more + 1 {
						wg.Go(func() { do(i, more+1) })
					}
					wg.Wait()
					least[what][more] = min(least[what][more], float64(time.Since(start)))
					if what == 0 {
						at += n
					}
				}
				speedup[what] = least[what][0] / least[what][1]
			}
		}
	}
	b.ReportMetric(speedup[0], "speedup")
	b.ReportMetric(speedup[1], "read-speedup")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLongest reports the CPU time of the longest operations: the 0.999 quantile and the maximum of the times of
// TestAndAdd, each the lowest of several rounds.
func BenchmarkLongest(b *testing.B) {
	for _, keys := range []uint64{1_000_000, 20_000_000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			f, at := full(b, keys, 0.01)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			p999, most := math.Inf(1), math.Inf(1)
			times := make([]time.Duration, 10_000)
			for b.Loop() {
				for range 90 {
					for i := range times {
						h := hash(at)
						start := threadTime()
						f.Advance(time.Unix(0, int64(at)*int64(pace)))
						_, _ = f.TestAndAdd(h)
						times[i] = threadTime() - start
						at++
					}
					slices.Sort(times)
					p999 = min(p999, float64(times[len(times)*999/1000]))
					most = min(most, float64(times[len(times)-1]))
				}
			}
			b.ReportMetric(p999, "p999-ns")
			b.ReportMetric(most, "max-ns")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkMany compares batches of 512 keys with single calls: queries of absent keys, and new keys.
func BenchmarkMany(b *testing.B) {
	for _, keys := range benchKeys {
		f, at := full(b, keys, 0.01)
		const batch = 512
		hs, dst := make([]filter.Hash, ops), make([]bool, batch)
		renew := func() {
			for i := range hs {
				hs[i] = hash(at + uint64(i))
			}
		}
		each := func(do func([]filter.Hash)) func() func() {
			return func() func() {
				for i := 0; i < ops; i += batch {
					do(hs[i : i+batch])
				}
				return func() {
					at += ops
					f.Advance(time.Unix(0, int64(at)*int64(pace)))
					f.Len()
					renew()
				}
			}
		}
		renew()
		b.Run(fmt.Sprintf("op=contains/keys=%d", keys), func(b *testing.B) {
			rounds(b, []string{"many", "one"}, each(func(hs []filter.Hash) { f.ContainsMany(dst, hs) }),
				each(func(hs []filter.Hash) {
					for i, h := range hs {
						dst[i] = f.Contains(h)
					}
				}))
		})
		b.Run(fmt.Sprintf("op=new/keys=%d", keys), func(b *testing.B) {
			rounds(b, []string{"many", "one"}, each(func(hs []filter.Hash) { _, _ = f.TestAndAddMany(dst, hs) }),
				each(func(hs []filter.Hash) {
					for i, h := range hs {
						dst[i], _ = f.TestAndAdd(h)
					}
				}))
		})
	}
}

// BenchmarkClock compares queries with the clock of the machine and queries whose time comes from Advance.
func BenchmarkClock(b *testing.B) {
	const keys = 1_000_000
	f, at := full(b, keys, 0.01)
	g := must(New[filter.Hash](Config{Keys: keys, TTL: time.Hour, FPR: 0.01, Overflow: Shorten}))
	for i := range uint64(keys * 15 / 14) {
		_ = g.Add(hash(i))
	}
	next := uint64(0)
	rounds(b, []string{"machine", "event"}, func() func() {
		for range ops {
			g.Contains(hash(next))
			next++
		}
		return nil
	}, func() func() {
		for range ops {
			f.Contains(hash(at + next))
			next++
		}
		return nil
	})
}
