package rankindexed

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

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
			Capacity: 600, Buckets: 3, Chains: 20, Cells: [levels]int{190, 100, 5000}, Pools: [levels]uint64{0, 3, 3}, Remainder: 2, ValueBits: 3,
		}},
		{Geometry: &Geometry{ // it doubles five times during the build
			Capacity: 200, Buckets: 5, Chains: 20, Cells: [levels]int{60, 20}, Pools: [levels]uint64{0, 3}, Remainder: 4, Growth: 8,
		}},
	} {
		for _, n := range []int{0, 1, 600, 5000, 150_000} {
			if n > 600 && testing.Short() && c.Bucket == 0 || n > 5000 && c.Geometry != nil {
				continue
			}
			hs := filtertest.Hashes(n, uint64(n))
			r := rand.New(rand.NewPCG(1, uint64(n)))
			valued := c.valueBits() > 0
			to, err := NewBuilder(c)
			if err != nil {
				t.Fatal(err)
			}
			var values []uint64
			if valued {
				for range hs {
					values = append(values, r.Uint64N(1<<c.valueBits()))
				}
				err = to.(*Builder).AddValues(hs, values)
			} else {
				err = to.AddMany(hs)
			}
			if err != nil {
				t.Fatal(err)
			}
			built, err := to.Build(t.Context())
			if err != nil {
				t.Fatalf("%+v, %d keys: %v", c, n, err)
			}

			c.Keys = uint64(n)
			f := made(t, c)
			order := r.Perm(n)
			if valued {
				slices.SortFunc(order, func(i, j int) int { return cmp.Compare(hs[i].Hi, hs[j].Hi) })
			}
			for _, i := range order {
				if valued {
					err = f.AddValue(hs[i], values[i])
				} else {
					err = f.Add(hs[i])
				}
				if err != nil {
					t.Fatalf("%+v, %d keys: %v", c, n, err)
				}
			}
			if f, err = f.renumberExtensions(); err != nil {
				t.Fatal(err)
			}
			got, want := built.(*Filter).Encode(), f.Encode()
			if got.Keys != want.Keys || !slices.EqualFunc(got.Sections, want.Sections, slices.Equal) || built.(*Filter).used != f.used {
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

// TestBuildFull checks that a build fails if a bucket has more keys than cells, or the pools have too few extensions.
func TestBuildFull(t *testing.T) {
	for _, g := range []Geometry{
		{Buckets: 1, Chains: 20, Cells: [levels]int{59}, Remainder: 4},
		{Buckets: 2, Chains: 20, Cells: [levels]int{20, 50}, Pools: [levels]uint64{0, 1}, Remainder: 4},
	} {
		b, err := NewBuilder(Config{Geometry: &g})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.AddMany(filtertest.Hashes(60, 1)); err != nil {
			t.Fatal(err)
		}
		if f, err := b.Build(t.Context()); f != nil || !errors.Is(err, filter.ErrFull) {
			t.Errorf("%+v: %v, %v", g, f, err)
		}
	}
}
