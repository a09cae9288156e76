package hashes

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestMemory checks that hashes need 16 bytes each for any Expect, and that Finish needs little more.
func TestMemory(t *testing.T) {
	hs := input(9, inputs[0].make, 400_000)
	for _, tt := range []struct {
		name        string
		c           Config
		n           int
		add, finish uint64 // at most, bytes
	}{
		{"one", Config{}, 1, 4 << 10, 1 << 10},
		{"hostile", Config{Expect: 1 << 60}, 1, chunkLen*hashSize + 4<<10, 1 << 10},
		{"expected", Config{Expect: 400_000}, 400_000, 8 << 20, 1 << 20},
		{"unexpected", Config{}, 400_000, 11 << 20, 1 << 20},                             // the first MiB grows by steps of a quarter
		{"limited", Config{Memory: 2 << 20, Expect: 400_000}, 400_000, 4 << 20, 3 << 20}, // 1 MiB to write, 2 MiB to read
		{"a hundred runs", Config{Memory: 64 << 10}, 400_000, 1 << 20, 1 << 20},
	} {
		tt.c.Dir = t.TempDir()
		add, finish := tt.add+1, tt.finish+1
		for try := 0; try < 5 && (add > tt.add || finish > tt.finish); try++ { // the runtime sometimes allocates, too
			var k *Sorted
			add = min(add, allocated(func() {
				k = NewSorted(tt.c)
				for batch := range slices.Chunk(hs[:tt.n], 1000) {
					check(t, k.AddMany(batch))
				}
			}))
			finish = min(finish, allocated(func() {
				if _, err := k.Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}))
			k.Close()
		}
		if add > tt.add || finish > tt.finish {
			t.Errorf("%s: AddMany allocates more than %d bytes, or Finish more than %d, in each of five attempts",
				tt.name, tt.add, tt.finish)
		}
	}
}

func BenchmarkSort(b *testing.B) {
	run := func(input string, hs []filter.Hash, by string, sort func(hs []filter.Hash) func()) {
		b.Run(fmt.Sprintf("op=sort/n=%.0e/input=%s/by=%s", float64(len(hs)), input, by), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				f := sort(hs)
				b.StartTimer()
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(hs)), "ns/key")
		})
	}
	for _, n := range []int{1e4, 1e6, 1e7} {
		for _, in := range inputs {
			if n != 1e6 && in.name != "random" {
				continue
			}
			hs := input(1, in.make, n)
			room := make([]filter.Hash, n)
			run(in.name, hs, "slices", func(hs []filter.Hash) func() {
				copy(room, hs)
				return func() { slices.SortFunc(room, compare) }
			})
			a := new(array)
			for _, workers := range []int{1, 2} {
				run(in.name, hs, fmt.Sprintf("gather/workers=%d", workers), func(hs []filter.Hash) func() {
					a.n = 0
					a.addHashes(hs, 0)
					return func() { a.sortHashes(context.Background(), workers) }
				})
			}
		}
	}
}

func BenchmarkSorted(b *testing.B) {
	hs := input(1, inputs[0].make, 1_000_000)
	for _, memory := range []int64{0, 4 << 20, 1 << 20} {
		k := new(Sorted)
		fill := func(b *testing.B) {
			k.Close()
			k = NewSorted(Config{Memory: memory, Dir: b.TempDir(), Expect: 1_000_000})
			for batch := range slices.Chunk(hs, 4096) {
				check(b, k.AddMany(batch))
			}
		}
		bench := func(op string, f func(b *testing.B)) {
			b.Run(fmt.Sprintf("op=%s/n=1e6/memory=%dMiB", op, memory>>20), func(b *testing.B) {
				f(b)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/key")
			})
		}
		finish := func(b *testing.B) {
			if _, err := k.Finish(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		bench("add", func(b *testing.B) {
			for b.Loop() {
				fill(b)
			}
		})
		bench("finish", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				fill(b)
				b.StartTimer()
				finish(b)
			}
		})
		bench("each", func(b *testing.B) {
			fill(b)
			finish(b)
			b.ResetTimer()
			for b.Loop() {
				part := func(h filter.Hash) uint64 { return h.Hi >> 59 }
				err := k.Each(b.Context(), part, func(uint64, []filter.Hash) error { return nil })
				check(b, err)
			}
		})
		k.Close()
	}
}
