package settest_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/settest"
)

// foldingSpecs are specs whose builds fold with a Capacity and an unknown number of keys.
var foldingSpecs = []string{"standard", "standard(k=3)", "blocked", "blocked(k=12)", "blocked(layout=split)"}

// fileOf returns the bytes of a Set.
func fileOf(t *testing.T, s *bloomery.Set) []byte {
	t.Helper()
	return settest.Must(s.MarshalBinary())
}

// TestFolded builds Sets of an unknown number of keys. Each must be the Set that a direct build makes with its Spec, and
// at most as large as the fraction of the capacity allows.
func TestFolded(t *testing.T) {
	secret := &filter.Secret{1, 2, 3}
	for _, spec := range foldingSpecs {
		for capacity, keys := range map[uint64][]int{1: {0, 1}, 7: {0, 1, 7}, 1000: {1, 10, 490, 1000}, 20_000: {3, 1500, 20_000}} {
			for _, n := range keys {
				c := bloomery.Config{Spec: spec, FPR: 0.003, Capacity: capacity}
				switch n % 3 {
				case 0:
					c.Hashing.Seed = 5
				case 1:
					c.Hashing.Secret = secret
				}
				all := settest.Words(n)
				set := settest.Build(t, all, c)

				direct := c
				direct.Spec, direct.Capacity = set.Spec().String(), 0
				if !bytes.Equal(fileOf(t, set), fileOf(t, settest.Build(t, all, direct))) {
					t.Fatalf("%v: %d keys: %s is not the filter of a direct build", c, n, set.Spec())
				}
				for _, key := range all {
					if !set.ContainsString(key) {
						t.Fatalf("%v: %d keys: %s is absent", c, n, key)
					}
				}
				if info := set.Info(); info.Exceeded() || info.FPRPlanned != 0.003 || info.Keys != uint64(n) {
					t.Errorf("%v: %d keys: %+v", c, n, info)
				}

				direct.Spec, direct.Keys = spec, uint64(n)
				bits, want := set.Info().Bits, settest.Build(t, all, direct).Info().Bits
				if bits > 2*want+want/50+512 {
					t.Errorf("%v: %d keys: %d bits, a direct build has %d", c, n, bits, want)
				}
			}
		}
	}
}

// TestFoldedSizes compares sizes with direct builds, for a Capacity that is right, or 4 or 64 times too high.
func TestFoldedSizes(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	keys := settest.Integers(n, 1)
	for _, spec := range []string{"standard", "blocked", "blocked(layout=split)"} {
		for _, rate := range []float64{0.01, 0.001} {
			direct := settest.Build(t, keys, bloomery.Config{Spec: spec, FPR: rate, Keys: uint64(n)}).Info()
			for _, times := range []int{1, 4, 64} {
				i := settest.Build(t, keys, bloomery.Config{Spec: spec, FPR: rate, Capacity: uint64(n * times)}).Info()
				ratio := float64(i.Bits) / float64(direct.Bits)
				t.Logf("%-22s %5g, Capacity %2d times the keys: %.4f times the bits, rate %.4g (direct %.4g)",
					spec, rate, times, ratio, i.FPRPosterior, direct.FPRPosterior)
				if !testing.Short() && ratio > 1.02 || ratio > 1.1 || i.FPRPosterior > 1.02*rate {
					t.Errorf("%s, %g, %d times: %.4f times the bits, rate %v", spec, rate, times, ratio, i.FPRPosterior)
				}
			}
		}
	}
}

// TestFoldedRate counts false positives over many seeds. Their mean must be the mean of the posterior rates, and at most
// 1% above the planned rate.
func TestFoldedRate(t *testing.T) {
	const rate, absent, seeds = 0.01, 100_000, 20
	absentKeys := settest.Integers(absent, 9)
	for _, spec := range []string{"standard", "blocked", "blocked(layout=split)"} {
		for n, capacity := range map[int]uint64{300: 11_000, 4000: 8000, 5000: 150_000} {
			found, posterior := 0.0, 0.0
			for seed := range uint64(seeds) {
				c := bloomery.Config{Spec: spec, FPR: rate, Capacity: capacity, Hashing: bloomery.Hashing{Seed: seed}}
				set := settest.Build(t, settest.Integers(n, seed+10), c)
				posterior += set.Info().FPRPosterior / seeds
				keyed := bloomery.Keyed[uint64](set)
				for _, key := range absentKeys {
					if keyed.Contains(key) {
						found++
					}
				}
			}
			measured, sigma := found/absent/seeds, math.Sqrt(rate/absent/seeds)
			if math.Abs(measured-posterior) > 4*sigma || posterior > 1.01*rate {
				t.Errorf("%s: %d keys, capacity %d: rate %.5f, posterior %.5f, planned %g", spec, n, capacity, measured,
					posterior, rate)
			}
		}
	}
}

// TestFoldedTogether adds keys from many goroutines in several ways, also twice: the file must not depend on it, and its
// size counts each key once.
func TestFoldedTogether(t *testing.T) {
	const n = 60_000
	for _, spec := range foldingSpecs {
		for _, capacity := range []uint64{n + 100, 10 * n, 100 * n} {
			c := bloomery.Config{Spec: spec, FPR: 0.01, Capacity: capacity}
			all := settest.Words(n)
			want := settest.Build(t, all, c)

			for _, times := range []int{1, 3} {
				b := settest.Must(bloomery.NewBuilder(t.Context(), c))
				var wg sync.WaitGroup
				for range times {
					for part := range slices.Chunk(all, n/3) {
						wg.Go(func() {
							for i := 0; i < len(part)/2; i++ {
								settest.Check(t, b.AddString(part[i]))
							}
							settest.Check(t, b.AddMany(settest.AsKeys(part[len(part)/2:])))
						})
					}
				}
				wg.Wait()
				got := settest.Must(b.Build(t.Context()))
				if times == 1 && !bytes.Equal(fileOf(t, want), fileOf(t, got)) {
					t.Errorf("%v: many goroutines build another filter", c)
				}
				if a, b := want.Info(), got.Info(); float64(b.Bits) > 1.5*float64(a.Bits) || b.FPRPosterior > 1.02*0.01 {
					t.Errorf("%v: each key %d times: %d bits with rate %v; each once: %d", c, times, b.Bits, b.FPRPosterior, a.Bits)
				}
			}
		}
	}
}

// TestFoldedLimits checks errors, and which builds do not fold.
func TestFoldedLimits(t *testing.T) {
	all := settest.Words(3000)
	for _, spec := range foldingSpecs {
		c := bloomery.Config{Spec: spec, FPR: 0.01, Capacity: 2000}
		build := func(c bloomery.Config) error {
			_, err := bloomery.Build(t.Context(), slices.Values(all), c)
			return err
		}
		if err := build(c); !errors.Is(err, filter.ErrFull) {
			t.Errorf("%v: 3000 keys: %v", c, err)
		}
		c.Limits.FPR = 0.01
		if err := build(c); !errors.Is(err, filter.ErrFull) {
			t.Errorf("%v: 3000 keys: %v", c, err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		c.Capacity = 5000
		b := settest.Must(bloomery.NewBuilder(ctx, c))
		settest.Check(t, b.AddMany(settest.AsKeys(all)))
		cancel()
		if _, err := b.Build(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: cancelled: %v", c, err)
		}

		// These count the keys first, and then build the filter for their number.
		direct := c
		direct.Capacity, direct.Keys = 0, 3000
		want := settest.Build(t, all, direct).Spec()
		for _, counted := range []bloomery.Config{
			{Capacity: 5000, Limits: bloomery.Limits{Bytes: 10_000}}, {Capacity: 1 << 40, Limits: bloomery.Limits{Bytes: 10_000}},
			{Capacity: 50_000, Allow: slices.Values([][]byte{[]byte("x")})},
		} {
			counted.Spec, counted.FPR = spec, 0.01
			if s := settest.Build(t, all, counted).Spec(); s != want {
				t.Errorf("%v: %s, want %s", counted, s, want)
			}
		}
		c = bloomery.Config{Spec: spec, Capacity: 1 << 55}
		if _, err := bloomery.NewBuilder(t.Context(), c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: a capacity of 2^55: %v", spec, err)
		}
	}
	for _, spec := range []string{"blocked(bits_per_key=10)", "standard(m=9000)", "blocked(bytes=5000)", "blocked(capacity=9000)",
		"counting", "ribbon"} {
		direct := settest.Build(t, all, bloomery.Config{Spec: spec, Keys: 3000}).Spec()
		if s := settest.Build(t, all, bloomery.Config{Spec: spec, Capacity: 100_000}).Spec(); s != direct {
			t.Errorf("%s with a capacity: %s, want %s", spec, s, direct)
		}
	}
}

// TestFoldedMemory checks that a build allocates the largest filter, the folded one, and not the hashes of its keys.
func TestFoldedMemory(t *testing.T) {
	const n, capacity = 400_000, 1_600_000
	for _, spec := range []string{"standard", "blocked", "blocked(layout=split)"} {
		c := bloomery.Config{Spec: spec, FPR: 0.001, Capacity: capacity}
		largest := settest.Must(bloomery.New(c)).Info().Bits / 8
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b := settest.Must(bloomery.NewBuilder(t.Context(), c))
		batch := make([][]byte, 1000)
		for i := 0; i < n; i += len(batch) {
			for j := range batch {
				batch[j] = strconv.AppendInt(batch[j][:0], int64(i+j), 10)
			}
			settest.Check(t, b.AddMany(batch))
		}
		set := settest.Must(b.Build(t.Context()))
		runtime.ReadMemStats(&after)
		got, folded := after.TotalAlloc-before.TotalAlloc, set.Info().Bits/8
		t.Logf("%s: %d bytes allocated for filters of %d and %d bytes", spec, got, largest, folded)
		if got > largest*102/100+folded+1<<20 {
			t.Errorf("%s: %d bytes allocated for filters of %d and %d bytes", spec, got, largest, folded)
		}
	}
}
