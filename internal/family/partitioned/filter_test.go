package partitioned

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

var long = flag.Bool("long", false, "run all cases of TestForecast, and ten billion queries: minutes")

func build(t testing.TB, c Config, hs []filter.Hash) *Filter {
	t.Helper()
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddMany(hs); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f.(*Filter)
}

// TestManyAbsentKeys measures a rate of 2e-9 at 32 bits per key with ten billion absent keys.
func TestManyAbsentKeys(t *testing.T) {
	if !*long {
		t.Skip("takes minutes: give -long")
	}
	const trials = uint64(10_000_000_000)
	for _, c := range []struct {
		bits   float64
		effort filter.Level
	}{{32, filter.Default}, {32, filter.Fast}} {
		f := build(t, Config{Size: family.Sizing{BitsPerKey: c.bits}, Effort: filter.Effort{Level: c.effort}},
			filtertest.Hashes(10_000, 1))
		var hits atomic.Uint64
		var wg sync.WaitGroup
		workers := uint64(runtime.GOMAXPROCS(0))
		for w := range workers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(w, 32))
				for range trials / workers {
					if f.Has(filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}) {
						hits.Add(1)
					}
				}
			})
		}
		wg.Wait()
		p := f.posteriorRate()
		lo, hi := stat.Interval(hits.Load(), trials, 0.95)
		t.Logf("%g bits per key, %s: %d of %.0e, observed %.3g (95%%: %.3g to %.3g), posterior %.3g", c.bits, c.effort, hits.Load(), float64(trials), float64(hits.Load())/float64(trials), lo, hi, p)
		if tail := stat.UpperTail(hits.Load(), trials, p); tail < 1e-4 || tail > 1-1e-4 {
			t.Errorf("%d hits, posterior rate %g", hits.Load(), p)
		}
	}
}

// TestObservedRate queries absent keys in filters so small that the ends of a bitmap matter, and in filters with
// several shards.
func TestObservedRate(t *testing.T) {
	for _, c := range []struct {
		n      int
		bits   float64
		trials uint64
	}{{20, 10, 1 << 20}, {300, 8, 1 << 21}, {10_000, 8, 1 << 23}, {200_000, 8, 1 << 23}, {10_000, 16, 1 << 24}} {
		if testing.Short() {
			if c.n > 10_000 || c.bits > 10 {
				continue
			}
			c.trials >>= 4
		}
		var seen uint64
		var want float64
		const seeds = 4
		for seed := range uint64(seeds) {
			f := build(t, Config{Size: family.Sizing{BitsPerKey: c.bits}, Effort: filter.Effort{Level: filter.Fast}},
				filtertest.Hashes(c.n, seed))
			want += f.posteriorRate() / seeds
			h := filter.NewHasher(seed)
			for i := range c.trials / seeds {
				if f.Has(h.SumUint64(i)) {
					seen++
				}
			}
		}
		if tail := stat.UpperTail(seen, c.trials, want); tail < 1e-6 || tail > 1-1e-6 {
			t.Errorf("n=%d, %g bits per key: %d false positives in %d, posterior rate %g: tail %g", c.n, c.bits, seen, c.trials, want, tail)
		}
	}
}

// TestSameBytes builds from shuffled keys with repetitions and other numbers of workers.
func TestSameBytes(t *testing.T) {
	hs := filtertest.Hashes(150_000, 1)
	a := build(t, Config{Effort: filter.Effort{Level: filter.Fast}, Workers: 1}, hs)
	hs = append(hs, hs[:1000]...)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(hs), func(i, j int) { hs[i], hs[j] = hs[j], hs[i] })
	b := build(t, Config{Effort: filter.Effort{Level: filter.Fast}, Workers: 3}, hs)
	if a.geometry != b.geometry || a.keys != b.keys || !slices.Equal(a.bitmap, b.bitmap) || !slices.Equal(a.shifts, b.shifts) {
		t.Error("the order of the keys makes a difference")
	}
}

// TestAdd adds the same number of keys again, and compares the rate with the formula for random shifts.
func TestAdd(t *testing.T) {
	hs := filtertest.Hashes(20_000, 1)
	f := build(t, Config{Size: family.Sizing{BitsPerKey: 16}}, hs[:10_000])
	before := f.posteriorRate()
	for _, h := range hs[10_000:] {
		_ = f.Add(h)
	}
	for _, h := range hs {
		if !f.Has(h) {
			t.Fatal("a key is lost")
		}
	}
	after := f.posteriorRate()
	k := float64(f.k)
	fill := math.Pow(before, 1/k)
	want := math.Pow(1-(1-fill)*math.Exp(-k*10_000/float64(f.bits)), k)
	if math.Abs(after/want-1) > 0.1 {
		t.Errorf("rate %g, want %g", after, want)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []Config{
		{Effort: filter.Effort{Level: "huge"}}, {Workers: -1}, {Size: family.Sizing{BitsPerKey: 65}},
		{Size: family.Sizing{Bytes: 100}},
		{Size: family.Sizing{FPR: 1e-30}}, {Size: family.Sizing{FPR: math.NaN()}}, {Size: family.Sizing{FPR: 0.1, Bytes: 7}},
	} {
		if _, _, err := c.Forecast(100_000); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if bits, _, err := (Config{}).Forecast(5e9); err != nil || bits > 8*5e9 || bits < 8*5e9-1e6 {
		t.Errorf("5e9 keys: %d bits, %v", bits, err)
	}
	if _, _, err := (Config{Size: family.Sizing{FPR: 1e-30}}).Forecast(1000); err == nil || !strings.Contains(err.Error(), "the lowest rate") {
		t.Errorf("an impossible rate: %v", err)
	}
	if _, _, err := (Config{Size: family.Sizing{Bytes: 1<<61 + 1}}).Forecast(100); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("2^64 bits: %v", err)
	}
	if _, _, err := (Config{}).Forecast(math.MaxUint64); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("2^64 keys: %v", err)
	}
	if _, _, err := (Config{Later: 1e9}).Forecast(10); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("a hundred million times the keys later: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, err := NewBuilder(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestFarOff builds filters for goals that few keys may not reach, and for many more later keys than early ones. The
// build must end, and a filter must keep the promise.
func TestFarOff(t *testing.T) {
	for seed := range uint64(8) {
		for _, c := range []Config{
			{Size: family.Sizing{FPR: 2.226e-18}}, {Effort: filter.Effort{Target: 0.01407}},
			{Effort: filter.Effort{Target: 0.0224}},
			{Size: family.Sizing{FPR: 0.01}, Later: 15_000},
		} {
			b, err := NewBuilder(c)
			if err != nil {
				t.Fatal(err)
			}
			_ = b.AddMany(filtertest.Hashes(20, seed))
			f, err := b.Build(t.Context())
			if err != nil {
				if !errors.Is(err, filter.ErrConfig) {
					t.Errorf("%+v: %v", c, err)
				}
				continue
			}
			if p := f.Info().FPRPosterior; p > max(c.Size.FPR, c.Effort.Target) {
				t.Errorf("%+v: %g", c, p)
			}
		}
	}
	if f := build(t, Config{Effort: filter.Effort{Target: 0.001}}, nil); f.keys != 0 {
		t.Error("keys from nowhere")
	}
}

// TestCrowdedBit sets one bit with more keys than a cell can count: all keys share their group and their base
// positions.
func TestCrowdedBit(t *testing.T) {
	hs := filtertest.Hashes(1000, 1)
	for i := range uint64(600) {
		hs = append(hs, filter.Hash{Hi: 1<<40 + i<<1, Lo: i}) // u_0 = 0 for all keys
	}
	for _, effort := range []filter.Effort{{Level: filter.Fast}, {Passes: 200}} {
		f := build(t, Config{Effort: effort}, hs)
		for i, h := range hs {
			if !f.Has(h) {
				t.Fatalf("key %d is lost", i)
			}
		}
	}
}

// TestEfforts builds with every kind of effort, and ends one early.
func TestEfforts(t *testing.T) {
	hs := filtertest.Hashes(20_000, 1)
	fast := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs).posteriorRate()
	t.Run("target", func(t *testing.T) {
		for _, target := range []float64{0.02, 0.0075, 0.0068} {
			if p := build(t, Config{Effort: filter.Effort{Target: target}}, hs).posteriorRate(); p > target {
				t.Errorf("target %g: %g", target, p)
			}
		}
		b, err := NewBuilder(Config{Effort: filter.Effort{Target: 0.003}})
		if err != nil {
			t.Fatal(err)
		}
		_ = b.AddMany(hs)
		if _, err := b.Build(t.Context()); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("a target that nothing reaches: %v", err)
		}
	})
	t.Run("budget", func(t *testing.T) {
		// The clock counts work instead of time, so that the result does not depend on the machine.
		const perKey, passes = 30 * time.Nanosecond, 150
		budget := time.Duration(len(hs)) * perKey * passes
		b, err := NewBuilder(Config{Effort: filter.Effort{Budget: budget}, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		b.Goal.Clock = anneal.NewClock(perKey)
		start := b.Goal.Clock.Now()
		_ = b.AddMany(hs)
		f, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := b.Goal.Clock.Now().Sub(start); took != budget {
			t.Errorf("%v took %v", budget, took)
		}
		if p := f.(*Filter).posteriorRate(); p > fast*0.95 {
			t.Errorf("%v gave %g, a fast search %g", budget, p, fast)
		}
	})
}

// TestLaterSmall checks that the rate is kept in filters so small that nearly all of their bits, or nearly none, are in
// reach of every shift.
func TestLaterSmall(t *testing.T) {
	const filters = 24
	for _, n := range []int{1, 3, 10, 20, 37, 50, 100} {
		late := (n + 9) / 10
		for _, fpr := range []float64{0.5, 0.1, 0.01} {
			var sum float64
			for seed := range uint64(filters) {
				hs := filtertest.Hashes(n+late, seed)
				f := build(t, Config{Size: family.Sizing{FPR: fpr}, Later: uint64(late)}, hs[:n])
				for _, h := range hs[n:] {
					_ = f.Add(h)
				}
				sum += f.Info().FPRPosterior
			}
			if mean := sum / filters; mean > 1.15*fpr { // the few later keys double the variation between filters
				t.Errorf("%d keys and %d later: a rate of %g is %.3g", n, late, fpr, mean)
			}
		}
	}
}

var keep = filter.Effort{Level: filter.Keep}

// TestKeep builds for other keys with the shifts of an earlier filter, several shards, and groups without keys.
func TestKeep(t *testing.T) {
	hs := filtertest.Hashes(102_000, 1)
	old := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:100_000])
	for _, keys := range [][]filter.Hash{hs[2000:], hs[:1000], nil, hs} {
		f := build(t, Config{From: old, Effort: keep}, keys)
		if !slices.Equal(f.shifts, old.shifts) || f.geometry != old.geometry {
			t.Fatalf("with %d keys the shifts or the geometry changed", len(keys))
		}
		added := newFilter(old.geometry, make([]uint64, len(old.bitmap)), old.shifts, 0)
		for _, h := range keys {
			_ = added.Add(h)
		}
		if !slices.Equal(f.bitmap, added.bitmap) {
			t.Errorf("with %d keys the bits are not those that the shifts give", len(keys))
		}
		if i := f.Info(); i.Late != 0 || i.FillSearched != i.Fill || i.Keys != uint64(len(keys)) {
			t.Errorf("%+v", i)
		}
	}
	if _, err := NewBuilder(Config{Effort: keep}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without an earlier filter: %v", err)
	}
}

// TestBatch queries in batches as if the filter were larger than the caches: below that HasMany is Has.
func TestBatch(t *testing.T) {
	hs := filtertest.Hashes(70_000, 1)
	for _, bits := range []float64{6, 8, 16, 40} {
		f := build(t, Config{Size: family.Sizing{BitsPerKey: bits}, Effort: filter.Effort{Level: filter.Fast}}, hs)
		asked := append(hs[:len(hs):len(hs)], filtertest.Hashes(70_001, 2)...)
		got := make([]bool, len(asked))
		f.hasMany(got, asked)
		for i, h := range asked {
			if got[i] != f.Has(h) || i < len(hs) && !got[i] {
				t.Fatalf("%g bits, key %d: %v, Has says %v", bits, i, got[i], f.Has(h))
			}
		}
	}
}

// TestForecast checks forecasts, and the divisions that they choose, against plain searches. A run tests a third of the
// grid.
func TestForecast(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := filtertest.Third(t, *long)
	for _, n := range []uint64{1, 10, 100, 1000, 16000} {
		for _, per := range []float64{1, 2, 3, 5, 8, 12, 20, 35, 60} {
			for _, passes := range []int{1, 24, 40, 64, 600} {
				for _, later := range []float64{0, 0.3, 1, 10} {
					if passes != 64 && later != 0 && later != 1 || passes == 600 && n != 1000 || !runs() {
						continue
					}
					bits := uint64(math.Ceil(per * float64(n) * (1 + later)))
					p := problem{n, bits, 0, later, passes, anneal.Windows(passes)}
					f := p.bestDivision()
					if f.k == 0 {
						continue
					}
					var want float64
					seeds := max(1, min(200, 8000/n))
					for seed := range seeds {
						want += simulate(f.division, p, seed) / float64(seeds)
					}
					// The error, as a share of the size: the number of additional bits that would compensate for it.
					off, bound := math.Log2(f.rate/want)/0.85/per, 0.01
					if n < 1000 {
						bound = map[uint64]float64{1: 0.35, 10: 0.12, 100: 0.05}[n]
					}
					if math.Abs(off) > bound && math.Abs(f.rate/want-1) > 0.05 {
						t.Errorf("%d keys, %g bits each, %d passes, %g later: forecast %+v, searched %.4g: off by %.2f%% of the size",
							n, per, passes, later, f, want, 100*off)
					}
				}
			}
		}
	}
}

// simulate computes what a forecast predicts: the rate of a division after all keys, or 2 if the keys do not fit.
func simulate(s division, p problem, seed uint64) float64 {
	g, ok := s.geometryFor(p.keys, p.bits)
	if !ok {
		return 2
	}
	r := rand.New(rand.NewPCG(seed, 0x706172746974))
	keys := make([]filter.Hash, p.keys)
	for i := range keys {
		keys[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	slices.SortFunc(keys, func(x, y filter.Hash) int { return cmp.Compare(x.Hi, y.Hi) })
	var st anneal.State
	layOut(&st, g, 0, keys)
	searchShard(&st, anneal.NewPart(p.passes), 0, nil)
	f := newFilter(g, make([]uint64, g.bitmapWords()), make([]uint64, g.shiftWords()), p.keys)
	f.storeShard(0, &st)
	return f.rateAfter(p.later * float64(p.keys))
}
