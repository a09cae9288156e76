package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/bloomery/bloomery/eval/lab/clock"
)

// need is the expected cost of a contender, extrapolated from a build with fewer keys.
type need struct {
	peak, heap float64 // bytes: peak of a build, and of the finished filter
	build      time.Duration
}

// pilotKeys is large enough that the constant cost of a build is small.
const pilotKeys = 50_000

// pilot builds every filter with at most pilotKeys keys to predict memory and time with n keys.
func pilot(ctx context.Context, rows []*measured, small []contender, n int, s settings, p *progress) (map[*measured]need, error) {
	few := min(n, pilotKeys)
	keys := keysFrom(0, few)
	needs := map[*measured]need{}
	scale := float64(n) / float64(few)
	for i, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.say(row.name + ": a pilot")
		start := clock.ProcessTime()
		m, _, err := buildMeasured(ctx, small[i], keys)
		if err != nil {
			if err := row.failed(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		took := clock.ProcessTime() - start
		needs[row] = need{float64(m.peak) * scale, float64(m.heap) * scale, time.Duration(float64(took) * scale)}
		if n != few {
			took = time.Duration(float64(took) * scale * misses(n))
		}
		if took > tooLong*s.longest {
			row.leftOut = fmt.Sprintf("too long: a build would take about %v; use --longest 1h to allow it, or --effort fast",
				took.Round(time.Second))
			continue
		}
		p.plan(row.name, "memory", took, 1)
		p.plan(row.name, "build", took, max(1, min(s.builds, int(s.longest/max(1, took)))))
		ask := time.Duration(40*misses(n)) * time.Nanosecond
		p.plan(row.name, "rate", ask*time.Duration(2*n+s.absent), 1)
		p.plan(row.name, "ask", ask*time.Duration(min(asked, n)), 4*s.turns)
	}
	return needs, nil
}

// tooLong is the limit for one build as a multiple of settings.longest, the limit for all builds of a filter.
const tooLong = 5

// misses estimates the factor by which the time per key grows in filters that exceed the CPU caches.
func misses(n int) float64 {
	if n >= 5_000_000 {
		return 2
	}
	return 1
}

// leaveOut omits contenders, starting with the largest build, until all remaining filters and the largest build fit
// into memory together. Queries need all filters at once.
func leaveOut(rows []*measured, needs map[*measured]need, memory, keys uint64) {
	if memory == 0 {
		return
	}
	room := 0.9*float64(memory) - float64(keys)
	for {
		kept := remaining(rows)
		var sum, peak float64
		var largest *measured
		for _, row := range kept {
			sum += needs[row].heap
			peak = max(peak, needs[row].peak-needs[row].heap)
			if largest == nil || needs[row].peak > needs[largest].peak {
				largest = row
			}
		}
		if largest == nil || sum+peak <= room {
			return
		}
		largest.leftOut = fmt.Sprintf("no room: its build needs about %s and all filters %s; the keys take %s of %s memory",
			bytesText(needs[largest].peak), bytesText(sum), bytesText(float64(keys)), bytesText(float64(memory)))
	}
}

// memories measures the heap of one build of every filter while no other filter is in memory.
func memories(ctx context.Context, rows []*measured, keys []uint64, p *progress) error {
	for _, row := range remaining(rows) {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.begin(row.name, "memory", "watching the memory of a build")
		m, _, err := buildMeasured(ctx, row.contender, keys)
		if err != nil {
			if err := row.failed(ctx, err); err != nil {
				return err
			}
			continue
		}
		row.peak, row.heap, row.total = m.peak, m.heap, m.total
		p.end()
	}
	return nil
}

// usage is the growth of the heap by a build, in bytes.
type usage struct{ peak, heap, total uint64 }

// buildMeasured builds a filter and measures the heap: objects in use or not yet collected. The garbage collector runs
// whenever the heap has grown by 10%, so that little of the peak is garbage.
func buildMeasured(ctx context.Context, c contender, keys []uint64) (u usage, b built, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	runtime.GC() // frees objects of finalizers and pools
	var before, after, kept runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, most := make(chan struct{}), make(chan uint64)
	go func() { most <- watchHeap(stop) }()
	b, err = c.build(ctx, keys)
	runtime.ReadMemStats(&after)
	close(stop)
	peak := max(after.HeapAlloc, <-most)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&kept)
	runtime.KeepAlive(b)
	u = usage{heap: kept.HeapAlloc - min(before.HeapAlloc, kept.HeapAlloc), total: after.TotalAlloc - before.TotalAlloc}
	u.peak = max(u.heap, peak-min(before.HeapAlloc, peak))
	return u, b, err
}

// watchHeap reads the size of the heap every millisecond, without stopping the world, and returns the maximum.
func watchHeap(stop <-chan struct{}) (most uint64) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for {
		metrics.Read(heap)
		most = max(most, heap[0].Value.Uint64())
		select {
		case <-stop:
			return most
		case <-tick.C:
		}
	}
}

// availableMemory returns the available memory in bytes, or 0 if it is unknown.
func availableMemory() uint64 {
	b, _ := os.ReadFile("/proc/meminfo")
	if _, rest, ok := strings.Cut(string(b), "MemAvailable:"); ok {
		var kib uint64
		if _, err := fmt.Sscan(rest, &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}
