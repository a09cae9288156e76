package exact

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestLog2Choose compares log2Choose with floating-point arithmetic, and for few keys with an exact sum.
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
		check(t, err)
		size := func(codes []code) uint64 {
			return sizeWith(partitions, codes)
		}
		if !slices.IsSorted(codes) || len(index) != len(partitions) {
			t.Fatalf("%v, %v", codes, index)
		}
		got := size(codes)
		for i, p := range partitions {
			if c := codes[index[i]]; p.costWith(c) != p.costWith(cheapest(p, codes)) {
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

// sizeWith returns the size of partitions with these codes.
func sizeWith(partitions []tally, codes []code) uint64 {
	total := fixedCost(codes, len(partitions))
	for _, p := range partitions {
		total = min(total+p.costWith(cheapest(p, codes)), impossible)
	}
	return total
}

// ending is a context that ends after the given number of calls of Err.
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

// TestChooseCancelled ends the context at many steps of the choice, and compares the choice that reaches its end.
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
	if err != nil || last < stageStart[stagePick] {
		t.Errorf("up to %g: %v", last, err)
	}
	const blocks = 2 // blocks of partitions
	for calls := 0; calls < 100_000; calls += 1 + calls/8 {
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

// TestChoiceCancelled ends the context of a build during the choice of classes, and checks that no file is left.
func TestChoiceCancelled(t *testing.T) {
	universe := func(yield func(partition, key []byte) bool) {
		for i := range 50_000 {
			if !yield(fmt.Append(nil, i/50), fmt.Append(nil, i)) {
				return
			}
		}
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Build(ctx, universe, universe, Config{Memory: 1 << 20, TempDir: dir,
		Progress: func(p filter.Progress) {
			if p.Done == stageStart[stagePick] {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
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

// smallPartitions returns up to 2,000 partitions of up to 1,100 keys, of up to four densities.
func smallPartitions(r *rand.Rand) (partitions []tally) {
	var densities []float64
	for range 1 + r.IntN(4) {
		densities = append(densities, []float64{0, math.Exp(-9 * r.Float64()), .4, .97}[r.IntN(4)])
	}
	largest := 7 * r.Float64()
	for range 1 + r.IntN(2000) {
		t := tally{keys: 1 + uint64(math.Exp(largest*r.Float64()))}
		d := densities[r.IntN(len(densities))]
		for range t.keys {
			if r.Float64() < d {
				t.members++
			}
		}
		partitions = append(partitions, t)
	}
	return partitions
}

// TestChooseSmall compares the choice for many small partitions with the best choice of one or two codes.
func TestChooseSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for round := range 40 {
		partitions := smallPartitions(r)
		codes, _, err := choose(t.Context(), partitions, &stages{})
		check(t, err)
		size := func(codes []code) uint64 { return sizeWith(partitions, codes) }
		got, best := size(codes), uint64(math.MaxUint64)
		var with []code
		for i, a := range allCodes {
			for _, b := range allCodes[i:] {
				pair := slices.Compact([]code{min(a, b), max(a, b)})
				if s := size(pair); s < best {
					best, with = s, pair
				}
			}
		}
		if got > best+best/16 {
			t.Errorf("round %d: %d partitions take %d bits with %v, and %d with %v",
				round, len(partitions), got/costBit, codes, best/costBit, with)
		}
	}
}

// TestGrouped checks the number of partitions in each group.
func TestGrouped(t *testing.T) {
	got := grouped([]tally{{5, 1}, {3, 1}, {5, 1}, {5, 0}, {3, 1}, {3, 1}})
	if want := []group{{tally{3, 1}, 3}, {tally{5, 0}, 1}, {tally{5, 1}, 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := grouped(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestCandidates checks that without a level 1, the codes do not depend on whether most keys are members.
func TestCandidates(t *testing.T) {
	codes := candidates([]group{{tally{3, 2}, 100}})
	if !slices.Contains(codes, 0) || slices.Contains(codes, 2) || !slices.Contains(codes, 3) {
		t.Errorf("%v", codes)
	}
}

// tiny yields n partitions of one key each. Every hundredth key is a member, except the first removed of these.
func tiny(n, removed int, members bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		for i := range n {
			is := i%100 == 0 && i >= 100*removed
			if (is || !members) && !yield(fmt.Append(nil, "partition ", i), []byte("key")) {
				return
			}
		}
	}
}

// TestTinyPartitions checks that a set of many partitions, and its update, are not larger than without partitions.
func TestTinyPartitions(t *testing.T) {
	const n = 100_000
	s := must(Build(t.Context(), tiny(n, 0, true), tiny(n, 0, false), Config{}))
	if i := s.Info(); i.BitsPerMember > 9 {
		t.Errorf("%.2f bits per member, %v", i.BitsPerMember, i.Classes)
	}
	const removed = tryPositions + 36
	s = must(Build(t.Context(), tiny(n, removed, true), tiny(n, removed, false), Config{Base: s}))
	if u := s.Info().Changed; u.Removed != removed || float64(u.Bytes) > 1.2*u.Entropy/8+60 {
		t.Errorf("%+v", u)
	}
	i := 0
	for partition, key := range tiny(n, removed, false) {
		if s.in(partition, key) != (i%100 == 0 && i >= 100*removed) {
			t.Fatalf("%s: wrong", partition)
		}
		i++
	}
}
