package rankindexed

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestBuildAsAdd checks that a build writes the same bytes as one Add per key in any order, or as one AddValue per key
// in the order of the hashes: of equal cells with values, the last one that was added comes first.
func TestBuildAsAdd(t *testing.T) {
	for _, c := range []Config{
		{}, {Bucket: 16384}, {Bucket: 16384, Size: family.Sizing{FPR: 0.001}}, {Bucket: 512}, {Fast: true}, {Overflow: 0.1},
		{ValueBits: 5}, {ValueBits: 32, Bucket: 16384}, {Growth: 3}, {Bucket: 64}, {Size: family.Sizing{FPR: 0.3}},
		{Geometry: &Geometry{ // one bucket in two has extensions, and most cells share their remainder
			Capacity: 600, Buckets: 3, Chains: 20, Cells: [levels]int{190, 100, 5000}, Pools: [levels]uint64{0, 3, 3},
			Remainder: 2, ValueBits: 3,
		}},
		{Geometry: &Geometry{ // it doubles up to five times during the build
			Capacity: 200, Buckets: 5, Chains: 20, Cells: [levels]int{60, 20}, Pools: [levels]uint64{0, 3},
			Remainder: 4, Growth: 8,
		}},
	} {
		for _, n := range []int{0, 1, 600, 5000, 150_000} {
			if n > 600 && testing.Short() && c.Bucket == 0 || n > 5000 && c.Geometry != nil {
				continue
			}
			c.Keys = uint64(n)
			hs := filtertest.Hashes(n, uint64(n))
			r := rand.New(rand.NewPCG(1, uint64(n)))
			order := r.Perm(n)
			var values []uint64
			if c.valueBits() > 0 {
				slices.SortFunc(order, func(i, j int) int { return cmp.Compare(hs[i].Hi, hs[j].Hi) })
				for range hs {
					values = append(values, r.Uint64N(1<<c.valueBits()))
				}
			}

			built, err := buildOf(t, c, hs, values)
			if err != nil {
				t.Fatalf("%+v, %d keys: %v", c, n, err)
			}
			added := made(t, c)
			for _, i := range order {
				if values != nil {
					err = added.AddValue(hs[i], values[i])
				} else {
					err = added.Add(hs[i])
				}
				if err != nil {
					t.Fatalf("%+v, %d keys: %v", c, n, err)
				}
			}
			if added, err = added.renumberExtensions(); err != nil {
				t.Fatal(err)
			}

			got, want := built.Encode(), added.Encode()
			if built.tally != added.tally || !slices.EqualFunc(got.Sections, want.Sections, slices.Equal) {
				t.Errorf("%+v, %d keys: the build and the additions differ", c, n)
			}
			for _, h := range hs {
				if !built.Has(h) {
					t.Fatalf("%+v, %d keys: a false negative", c, n)
				}
			}
		}
	}
}

// buildOf returns the result of a Builder with these keys, and their values if values is not nil.
func buildOf(t testing.TB, c Config, hs []filter.Hash, values []uint64) (*Filter, error) {
	t.Helper()
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	if values != nil {
		err = b.(*Builder).AddValues(hs, values)
	} else {
		err = b.AddMany(hs)
	}
	if err != nil {
		t.Fatal(err)
	}

	f, err := b.Build(t.Context())
	if err != nil {
		return nil, err
	}
	return f.(*Filter), nil
}

// TestBuildFull checks that a build fails if a bucket has more keys than cells, or the pools have too few extensions.
func TestBuildFull(t *testing.T) {
	for _, g := range []Geometry{
		{Buckets: 1, Chains: 20, Cells: [levels]int{59}, Remainder: 4},
		{Buckets: 2, Chains: 20, Cells: [levels]int{20, 50}, Pools: [levels]uint64{0, 1}, Remainder: 4},
	} {
		if _, err := buildOf(t, Config{Geometry: &g}, filtertest.Hashes(60, 1), nil); !errors.Is(err, filter.ErrFull) {
			t.Errorf("%+v: %v", g, err)
		}
	}
}

// BenchmarkBuild builds filters with the largest buckets and filters of the default form in turn, so that a disturbance
// of the machine affects both.
func BenchmarkBuild(b *testing.B) {
	const n = 1_000_000
	hs := filtertest.Hashes(n, 1)
	for _, fpr := range []float64{0.01, 0.001} {
		b.Run(fmt.Sprintf("op=build/n=%d/fpr=%g", n, fpr), func(b *testing.B) {
			var ratios []float64
			for b.Loop() {
				var took [2]time.Duration
				for i, bucket := range []int{0, maxBucket} {
					start := time.Now()
					f, err := buildOf(b, Config{Size: family.Sizing{FPR: fpr}, Bucket: bucket}, hs, nil)
					if took[i] = time.Since(start); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(f.g.Bits())/n, "bits/key")
				}
				ratios = append(ratios, took[1].Seconds()/took[0].Seconds())
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "largest/default")
		})
	}
}
