package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestLog2Choose compares with floating-point arithmetic, and for few keys with an exact sum.
func TestLog2Choose(t *testing.T) {
	gamma := func(n uint64) float64 {
		v, _ := math.Lgamma(float64(n) + 1)
		return v / math.Ln2
	}
	for _, n := range []uint64{0, 1, 2, 3, 10, 100, 12345, 1e6, 1e9, MaxKeys} {
		for _, k := range []uint64{0, 1, 2, n / 1000, n / 3, n / 2, n} {
			if k > n {
				continue
			}
			got := math.Ldexp(float64(log2Choose(n, k)), -outBits)
			want := gamma(n) - gamma(k) - gamma(n-k)
			if math.Abs(got-want) > .02+1e-9*want+float64(n)*1e-13 {
				t.Errorf("log2 C(%d, %d) = %g, want %g", n, k, got, want)
			}
		}
	}
}

// TestChoose compares the choice with the best of all sets of codes, for few partitions of four densities.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 40 {
		var partitions []tally
		for range 1 + r.IntN(30) {
			n := uint64(math.Exp(r.Float64() * 12))
			d := []float64{0, .004, .1, .4, .97}[r.IntN(5)]
			partitions = append(partitions, tally{n, uint64(float64(n) * d)})
		}
		codes, index, err := choose(t.Context(), partitions, &stages{})
		if err != nil {
			t.Fatal(err)
		}
		size := func(codes []code) uint64 {
			total, _ := missed(t.Context(), grouped(partitions), len(partitions), codes, &stages{})
			return total
		}
		if !slices.IsSorted(codes) || len(index) != len(partitions) {
			t.Fatalf("%v, %v", codes, index)
		}
		got := size(codes)
		for i, p := range partitions {
			if c := codes[index[i]]; p.cost(c) != p.cost(cheapest(p, codes)) {
				t.Errorf("partition %d has code %d", i, c)
			}
		}
		var used []code
		for _, p := range partitions {
			if c := cheapest(p, allCodes); !slices.Contains(used, c) {
				used = append(used, c)
			}
		}
		best := uint64(math.MaxUint64)
		for set := 1; set < 1<<min(len(used), 12); set++ {
			var some []code
			for i, c := range used {
				if set>>i&1 == 1 {
					some = append(some, c)
				}
			}
			best = min(best, size(some))
		}
		if got > best+best/100 {
			t.Errorf("round %d: %d bits with %v, the best choice takes %d", round, got/costBit, codes, best/costBit)
		}
	}
}

// ending is a context that ends after that many calls of Err.
type ending struct {
	context.Context
	calls int
}

func (e *ending) Err() error {
	if e.calls--; e.calls < 0 {
		return context.Canceled
	}
	return nil
}

// TestChooseCancelled ends the context at each step of the choice, and compares all choices that reach their end.
func TestChooseCancelled(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	partitions := make([]tally, 5000)
	for i := range partitions {
		n := 1 + r.Uint64N(1000)
		partitions[i] = tally{n, uint64(float64(n) * math.Exp(-8*r.Float64()))}
	}
	last := -1.0
	p := &stages{report: func(p filter.Progress) {
		if p.Done < last || p.Done > stageStart[stageList] {
			t.Errorf("from %g to %g", last, p.Done)
		}
		last = p.Done
	}}
	want, _, err := choose(t.Context(), partitions, p)
	if err != nil || last < stageStart[stageDrop] {
		t.Errorf("up to %g: %v", last, err)
	}
	const blocks = 2 // of partitions
	for calls := range 1000 {
		codes, _, err := choose(&ending{t.Context(), calls}, partitions, &stages{})
		if err == nil && slices.Equal(codes, want) && calls >= 3*blocks {
			return
		}
		if !errors.Is(err, context.Canceled) || codes != nil {
			t.Fatalf("call %d: %v, %v", calls, codes, err)
		}
	}
	t.Error("it does not end")
}

// TestChoiceCancelled ends the context of a build during the choice of classes: no file is left.
func TestChoiceCancelled(t *testing.T) {
	universe := func(yield func(partition, key []byte) bool) {
		for i := range 50_000 {
			if !yield(fmt.Append(nil, i/50), fmt.Append(nil, i)) {
				return
			}
		}
	}
	for _, at := range []stage{stagePick, stageDrop} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Build(ctx, universe, universe, Config{Memory: 1 << 20, TempDir: dir,
			Progress: func(p filter.Progress) {
				if p.Done == stageStart[at] {
					cancel()
				}
			}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stage %d: %v", at, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

func TestCost(t *testing.T) {
	for _, tt := range []struct {
		density float64
		want    code
	}{
		{.0001, 2 * 13}, {.001, 2 * 9}, {.01, 2 * 6}, {.1, 2 * 3}, {.3, 2 * 1}, {.45, 0}, {.9, 2*3 + 1},
		{0, 64}, {1, 65},
	} {
		n := uint64(1e7)
		if got := cheapest(tally{n, uint64(float64(n) * tt.density)}, allCodes); got != tt.want {
			t.Errorf("density %g: code %d, want %d", tt.density, got, tt.want)
		}
	}
}
