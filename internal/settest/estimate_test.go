package settest_test

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/plan"
)

// TestEstimateCoverage counts how often the 95% intervals contain the numbers of keys, over many pairs of sets: for
// each family, from almost empty to nearly full filters, and from no common key to equal sets. The bound of the test is
// four standard deviations below 95%. Intervals that are many keys wide must miss in at least one of 100 cases, so that
// they are not too wide. A run tests a third of the filters and numbers of common keys.
func TestEstimateCoverage(t *testing.T) {
	trials := 500
	if testing.Short() {
		trials = 100
	}
	const a, b = 400, 250
	runs := filtertest.Third(t, false)
	for _, spec := range []string{
		"standard(m=40000,k=7)", "standard(m=4000,k=7)", "standard(m=1000,k=3)", "standard(m=500,k=4)", "standard(m=600,k=1)",
		"blocked(blocks=16,k=6)", "blocked(blocks=4,k=4)", "blocked(blocks=16,layout=split)", "counting(m=3000,k=5)",
		"guava(words=50,k=5)", "bitsandblooms(m=3100,k=5)",
	} {
		empty := settest.Must(bloomery.New(bloomery.Config{Spec: spec}))
		for _, common := range []int{0, 30, 200, b} {
			if !runs() {
				continue
			}
			var held [4]uint64
			var width float64
			for trial := range trials {
				v := overlap(t, empty, uint64(trial), a, b, common)
				for i, e := range []bloomery.Estimate{v.A, v.B, v.Union, v.Intersection} {
					want := float64([]int{a, b, a + b - common, common}[i])
					if e.Low <= want && want <= e.High {
						held[i]++
					}
					if !(e.Low <= e.Keys && e.Keys <= e.High) || e.Low < 0 || e.Counted {
						t.Fatalf("%s: %+v", spec, e)
					}
				}
				width = v.A.High - v.A.Low
			}
			share := func(n uint64) float64 { return float64(n) / float64(trials) }
			t.Logf("%-32s %3d common: A %.3f, B %.3f, union %.3f, intersection %.3f, last interval of A %.0f wide", spec, common,
				share(held[0]), share(held[1]), share(held[2]), share(held[3]), width)
			least := 0.95 - 4*math.Sqrt(0.95*0.05/float64(trials))
			for i, what := range []string{"A", "B", "the union", "the intersection"} {
				if share(held[i]) < least {
					t.Errorf("%s, %d common: the interval of %s holds it in %.3f of the cases, want %.3f", spec, common, what,
						share(held[i]), least)
				}
			}
			if low, _ := stat.Interval(held[0], uint64(trials), 0.9999); width > 30 && !math.IsInf(width, 1) && low > 0.99 {
				t.Errorf("%s: the interval of A is too wide: it holds in %.3f of the cases", spec, share(held[0]))
			}
		}
	}
}

// overlap returns the estimates of copies of an empty set with a and b random keys, some of which are common.
func overlap(t *testing.T, empty *bloomery.Set, seed uint64, a, b, common int) bloomery.Overlap {
	t.Helper()
	with := func(from, to int) *bloomery.Set {
		s := settest.Must(empty.Clone())
		for k := from; k < to; k++ {
			settest.Check(t, bloomery.Keyed[uint64](s).Add(seed<<32|uint64(k)))
		}
		return s
	}
	return settest.Must(with(0, a).EstimateOverlap(with(a-common, a-common+b)))
}

// TestEstimateFull estimates filters whose bits are all set. The true numbers must be at least Low, and an intersection
// must not exceed the other set.
func TestEstimateFull(t *testing.T) {
	for _, spec := range []string{"standard(m=64,k=4)", "standard(m=1,k=1)", "blocked(blocks=1,k=8)",
		"counting(m=50,k=3)", "guava(words=1,k=4)"} {
		full := settest.Must(bloomery.New(bloomery.Config{Spec: spec}))
		empty := settest.Must(full.Clone())
		for i := range uint64(3000) {
			settest.Check(t, bloomery.Keyed[uint64](full).Add(i))
		}
		e, err := full.EstimateInterval()
		if err != nil || !math.IsInf(e.Keys, 1) || !math.IsInf(e.High, 1) || e.Low < 1 || e.Low > 3000 {
			t.Errorf("%s, full: %+v, %v", spec, e, err)
		}
		v, err := full.EstimateOverlap(empty)
		if err != nil || v.A != e || v.Union != e || v.B != (bloomery.Estimate{}) || v.Intersection != (bloomery.Estimate{}) {
			t.Errorf("%s, full and empty: %+v, %v", spec, v, err)
		}
		v, err = full.EstimateOverlap(full)
		if err != nil || v.Union != e || !math.IsInf(v.Intersection.High, 1) || v.Intersection.Low != 0 {
			t.Errorf("%s, full and itself: %+v, %v", spec, v, err)
		}
		some := settest.Must(empty.Clone())
		_ = some.AddString("a key")
		v, err = full.EstimateOverlap(some)
		if err != nil || v.Intersection.Low != 0 || v.Intersection.High != v.B.High || v.Intersection.Keys > v.B.Keys {
			t.Errorf("%s, full and one key: %+v, %v", spec, v, err)
		}
	}
}

// TestEstimateOthers checks the errors of EstimateOverlap for sets that cannot be compared, and that EstimateInterval
// returns the exact number of keys for families that count their keys.
func TestEstimateOthers(t *testing.T) {
	make := func(spec string, seed uint64, keys int) *bloomery.Set {
		set := settest.Must(bloomery.Build(t.Context(), func(yield func(uint64) bool) {
			for i := range uint64(keys) {
				if !yield(i) {
					return
				}
			}
		}, bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{Seed: seed}}))
		return set
	}
	plain := make("standard(m=1000,k=3)", 0, 50)
	for _, other := range []*bloomery.Set{nil, new(bloomery.Set), make("standard(m=1001,k=3)", 0, 50),
		make("standard(m=1000,k=4)", 0, 50),
		make("standard(m=1000,k=3)", 1, 50), make("blocked(blocks=2,k=3)", 0, 50), make("counting(m=1000,k=3)", 0, 50)} {
		if _, err := plain.EstimateOverlap(other); !errors.Is(err, filter.ErrMismatch) {
			t.Errorf("with %v: %v", other, err)
		}
	}
	for _, spec := range []string{"fuse(width=8)", "partitioned", "twochoice", "rankindexed", "redisbloom"} {
		set := make(spec, 0, 300)
		if _, err := set.EstimateOverlap(set); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", spec, err)
		}
		e, err := set.EstimateInterval()
		if n := float64(set.Len()); err != nil || e != (bloomery.Estimate{Keys: n, Low: n, High: n, Counted: true}) ||
			math.Abs(n-300) > 5 {
			t.Errorf("%s: %+v, %v", spec, e, err)
		}
	}
	if _, err := plain.EstimateOverlap(make("fuse(width=8)", 0, 50)); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := new(bloomery.Set).EstimateOverlap(plain); err == nil {
		t.Error("an empty Set")
	}
	if _, err := new(bloomery.Set).EstimateInterval(); err == nil {
		t.Error("an empty Set")
	}
}

// TestCapacityOfRepeatedKeys builds filters of keys that are each added three times. The capacity must count distinct
// keys.
func TestCapacityOfRepeatedKeys(t *testing.T) {
	for _, spec := range []string{"standard", "blocked", "counting", "fuse", "rankindexed", "rankindexed(counting=1)"} {
		for _, keys := range []uint64{3000, 4000} {
			var all []uint64
			for i := range 3 * keys {
				all = append(all, i%keys)
			}
			_, err := bloomery.Build(t.Context(), slices.Values(all), bloomery.Config{Spec: spec, Capacity: 3100})
			if keys < 3100 && err != nil {
				t.Errorf("%s: %d keys three times each: %v", spec, keys, err)
			}
			// These filters can grow beyond their capacity.
			if keys > 3100 && !errors.Is(err, filter.ErrFull) {
				t.Errorf("%s: %d keys three times each: %v, want ErrFull", spec, keys, err)
			}
		}
	}

	often := func(keys, times uint64) (all []uint64) {
		for i := range keys * times {
			all = append(all, i%keys)
		}
		return all
	}
	for _, c := range []bloomery.Config{
		{Spec: "rankindexed(counting=1)"}, {Spec: "rankindexed(counting=1)", Concurrent: true},
		{Spec: "rankindexed(counting=1,growth=4)"}, {Needs: plan.Needs{Count: true}},
		{Spec: "rankindexed(counting=1)", Sharding: bloomery.Sharding{Dir: filepath.Join(t.TempDir(), "set"), Shards: 2}},
	} {
		c.Capacity = 100
		for _, times := range []uint64{1, 9} { // a counter of a cell ends at 4
			if _, err := bloomery.Build(t.Context(), slices.Values(often(200, times)), c); !errors.Is(err, filter.ErrFull) {
				t.Errorf("%v: 200 keys %d times each: %v, want ErrFull", c, times, err)
			}
			s, err := bloomery.Build(t.Context(), slices.Values(often(100, times)), c)
			if err != nil {
				t.Errorf("%v: 100 keys %d times each: %v", c, times, err)
				continue
			}
			if e, err := s.EstimateInterval(); err != nil || !e.Counted || e.Keys > 100 || e.Keys < 95 { // some look alike
				t.Errorf("%v: 100 keys %d times each: estimated %+v, %v", c, times, e, err)
			}
			settest.Check(t, s.Close())
		}
	}
}

// TestCapacityOfShards checks that a sharded set and one filter have the same Capacity: the errors of the estimates of
// its shards do not add up.
func TestCapacityOfShards(t *testing.T) {
	const keys = 20_000
	for _, spec := range []string{"standard", "ribbon", "rankindexed(counting=1)"} {
		for _, c := range []struct {
			times, capacity int
			want            error
		}{
			{1, keys, nil}, {1, keys - 1, filter.ErrFull},
			{2, keys, nil}, {2, keys * 985 / 1000, filter.ErrFull},
		} {
			for _, dir := range []string{"", filepath.Join(t.TempDir(), "set")} {
				config := bloomery.Config{Spec: spec, Capacity: uint64(c.capacity)}
				if dir != "" {
					config.Sharding = bloomery.Sharding{Dir: dir, Shards: 64}
				}
				s, err := bloomery.Build(t.Context(), func(yield func(uint64) bool) {
					for i := range keys * c.times {
						if !yield(uint64(i % keys)) {
							return
						}
					}
				}, config)
				if !errors.Is(err, c.want) {
					t.Errorf("%v: %d keys %d times each: %v, want %v", config, keys, c.times, err, c.want)
				}
				if err == nil {
					settest.Check(t, s.Close())
				}
			}
		}
	}
}

// TestFreeCells counts the cells that two filters leave free.
func TestFreeCells(t *testing.T) {
	var sets [2]*bloomery.Set
	for i := range sets {
		sets[i] = settest.Must(bloomery.New(bloomery.Config{Spec: "standard(m=20000,k=5)"}))
		for k := range uint64(300) {
			settest.Check(t, bloomery.Keyed[uint64](sets[i]).Add(uint64(200*i)+k))
		}
	}
	cells, ok := settest.EngineOf(t, sets[0]).Facts().Filter.(family.CellFilter)
	if !ok || cells.Cells().Number != 20000 || len(cells.Cells().Pairs) != 2 {
		t.Fatalf("%+v", cells)
	}
	free, err := cells.Free(settest.EngineOf(t, sets[1]).Facts().Filter)
	if err != nil || free < 17_000 || free > 18_000 {
		t.Errorf("%d free bits, %v", free, err)
	}
}
