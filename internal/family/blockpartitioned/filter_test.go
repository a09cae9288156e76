package blockpartitioned

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/stat"
)

var long = flag.Bool("long", false, "run all cases of TestForecast, and a billion queries")

func build(t testing.TB, c Config, hs []filter.Hash) *Filter {
	t.Helper()
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddMany(hs); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return f.(*Filter)
}

// hold fails the test unless f contains all keys.
func hold(t *testing.T, f family.Filter, hs []filter.Hash) {
	t.Helper()
	for i, h := range hs {
		if !f.Has(h) {
			t.Fatalf("key %d of %d is lost", i, len(hs))
		}
	}
}

// TestObserved queries for many absent keys where k is above eight and so needs both halves of Lo, and in both sizes of
// blocks.
func TestObserved(t *testing.T) {
	trials := 3_000_000
	switch {
	case testing.Short():
		trials = 100_000
	case *long:
		trials = 1_000_000_000
	}
	for _, c := range []Config{
		{Size: family.Sizing{BitsPerKey: 8}}, {Size: family.Sizing{BitsPerKey: 8}, Block: 1024},
		{Size: family.Sizing{BitsPerKey: 16}}, {Size: family.Sizing{BitsPerKey: 20}, Block: 1024},
		{Size: family.Sizing{BitsPerKey: 30}},
	} {
		c.Effort.Level = filter.Fast
		f := build(t, c, filtertest.Hashes(20_000, 1))
		r := rand.New(rand.NewPCG(2, 3))
		var hits uint64
		for range trials {
			if f.Has(filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}) {
				hits++
			}
		}
		p := f.Info().FPRPosterior
		t.Logf("%v: observed %.4g, posterior %.4g", f.geometry, float64(hits)/float64(trials), p)
		if tail := stat.UpperTail(hits, uint64(trials), p); tail < 1e-5 || tail > 1-1e-5 && hits > 0 {
			t.Errorf("%v: %d hits of %d, posterior rate %g", f.geometry, hits, trials, p)
		}
	}
}

// TestBudget ends a search by time. The clock counts work instead: a pass over a key takes 25 ns, as on a fast core,
// and nothing else takes time.
func TestBudget(t *testing.T) {
	const keys, perKey, passes = 40_000, 25 * time.Nanosecond, 120
	hs := filtertest.Hashes(keys, 1)
	search := func(budget time.Duration) (*Filter, time.Duration) {
		b, err := NewBuilder(Config{Effort: filter.Effort{Budget: budget}, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		b.Goal.Clock = anneal.NewClock(perKey)
		start := b.Goal.Clock.Now()
		if err := b.AddMany(hs); err != nil {
			t.Fatal(err)
		}
		f, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hold(t, f, hs)
		return f.(*Filter), b.Goal.Clock.Now().Sub(start)
	}
	budget := keys * perKey * passes
	f, took := search(budget)
	if took > budget || took < budget*9/10 {
		t.Errorf("%v took %v", budget, took)
	}
	if again, _ := search(budget); !slices.Equal(f.words, again.words) {
		t.Error("the clock of the machine has a say")
	}
	// The result must be about as good as a search with the same number of passes, and better than a fast search.
	p := f.Info().FPRPosterior
	for _, c := range []struct {
		e      filter.Effort
		factor float64
	}{{filter.Effort{Passes: passes}, 1.02}, {filter.Effort{Level: filter.Fast}, 0.95}} {
		if other := build(t, Config{Effort: c.e}, hs).Info().FPRPosterior; p > c.factor*other {
			t.Errorf("%v gave %g; %+v gave %g", budget, p, c.e, other)
		}
	}
}

// TestCrowded builds a block with too many keys for a search to help.
func TestCrowded(t *testing.T) {
	hs := filtertest.Hashes(5000, 1)
	for i := range uint64(20_000) {
		hs = append(hs, filter.Hash{Hi: 1<<40 + i, Lo: i * 0x9E3779B97F4A7C15})
	}
	hold(t, build(t, Config{}, hs), hs)
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []Config{
		{Block: 256}, {Workers: -1}, {Size: family.Sizing{BitsPerKey: 1}}, {Size: family.Sizing{BitsPerKey: 41}},
		{Size: family.Sizing{Bytes: 1000}},
		{Size: family.Sizing{FPR: 1e-20}}, {Effort: filter.Effort{Target: 0.01}}, {Effort: filter.Effort{Level: "huge"}},
		{Effort: filter.Effort{Level: filter.Max, Passes: 3}},
	} {
		if _, _, err := c.Forecast(100_000); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, _, err := (Config{Size: family.Sizing{FPR: 1e-20}}).Forecast(1000); err == nil || !strings.Contains(err.Error(), "have a rate of") {
		t.Errorf("an impossible rate: %v", err)
	}
	if _, _, err := (Config{Later: 1 << 40}).Forecast(math.MaxUint64); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("2^64 keys: %v", err)
	}
	if _, _, err := (Config{Later: 1 << 40}).Forecast(10); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("2^40 keys later: %v", err)
	}
	if _, _, err := (Config{}).Forecast(1 << 60); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("2^60 keys: %v", err)
	}
}

// TestBatch queries in batches as if the filter were larger than the caches: below that HasMany is Has.
func TestBatch(t *testing.T) {
	hs := filtertest.Hashes(5000, 1)
	for _, block := range []uint64{512, 1024} {
		f := build(t, Config{Block: block, Effort: filter.Effort{Level: filter.Fast}}, hs)
		asked := append(hs[:len(hs):len(hs)], filtertest.Hashes(5001, 2)...)
		dst := make([]bool, len(asked))
		probe.HasMany(probe.InCache, dst, asked, f.prefetch, f.hasEach)
		for i, h := range asked {
			if dst[i] != f.Has(h) {
				t.Fatalf("key %d: %v", i, dst[i])
			}
		}
	}
}

// TestFewKeysFarOff builds filters with few blocks, for rates that the forecast misses by far.
func TestFewKeysFarOff(t *testing.T) {
	for seed := range uint64(6) {
		start := time.Now()
		i := build(t, Config{Size: family.Sizing{FPR: 1e-5}}, filtertest.Hashes(500, seed)).Info()
		if i.FPRPosterior > 1e-5 {
			t.Errorf("%g", i.FPRPosterior)
		}
		t.Logf("%.2f bits per key in %v", i.BitsPerKey(), time.Since(start))
	}
}

// TestKeep builds filters of other keys with the shifts of an earlier filter, including blocks without keys and blocks
// with far too many keys.
func TestKeep(t *testing.T) {
	keep := filter.Effort{Level: filter.Keep}
	hs := filtertest.Hashes(51_000, 1)
	old := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:50_000])
	small := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:100])
	for _, c := range []struct {
		old  *Filter
		keys []filter.Hash
	}{{old, hs[1000:]}, {old, hs[:500]}, {old, nil}, {small, hs}} {
		f := build(t, Config{From: c.old, Effort: keep}, c.keys)
		want := newFilter(c.old.geometry, make([]uint64, len(c.old.words)), 0)
		want.copyHeads(c.old)
		for _, h := range c.keys {
			_ = want.Add(h)
		}
		if !slices.Equal(f.words, want.words) {
			t.Errorf("%d keys: the bits are not those that the shifts give", len(c.keys))
		}
	}
	if _, err := NewBuilder(Config{Effort: keep}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without an earlier filter: %v", err)
	}
}

// TestForecast checks forecasts, and the geometries that they choose, against plain searches. A run tests a third of
// the grid.
func TestForecast(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := filtertest.Third(t, *long)
	for _, block := range []uint64{512, 1024} {
		for _, per := range []float64{2, 3, 5, 8, 12, 20, 35} {
			for _, passes := range []int{1, 24, 40, 64, 150} {
				for _, later := range []float64{0, 0.3, 1, 10} {
					if passes != 64 && later != 0 && later != 1 || !runs() {
						continue
					}
					load := float64(block) / per / (1 + later)
					p := problem{block, 300, 0, load, later * load, passes, anneal.Words(passes)}
					f := p.forecastOf(p.bestGeometries()[0])
					want := simulate(f.blockGeometry, p, 300, 1)
					// The error, as a share of the size: the number of additional bits that would compensate for it.
					if off := math.Log2(f.rate/want) / 0.85 / per; math.Abs(off) > 0.01 && math.Abs(f.rate/want-1) > 0.05 {
						t.Errorf("blocks of %d, %g bits per key, %d passes, %g later: forecast %+v, searched %.4g: off by %.2f%% of the size",
							block, per, passes, later, f, want, 100*off)
					}
				}
			}
		}
	}
}

// simulate computes what a forecast predicts: it returns the mean rate of some blocks of random keys. The number of
// keys of block b is the quantile (b + 1/2) / blocks of the Poisson distribution, which varies less than random numbers
// of keys.
func simulate(s blockGeometry, q problem, blocks int, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0x626c6f636b))
	f := newFilter(geometry{s, uint64(blocks)}, make([]uint64, uint64(blocks)*s.block/64), 0)
	search := searcher{f: f, sizes: make([]uint32, s.groups)}
	part := anneal.NewPart(q.passes)
	p := math.Exp(-q.load) // the probability of n keys; below is the probability of at most n
	below, n := p, 0
	for b := range uint64(blocks) {
		for below < (float64(b)+0.5)/float64(blocks) && p > 0 {
			n++
			p *= q.load / float64(n)
			below += p
		}
		keys := make([]filter.Hash, n)
		for i := range keys {
			// lo is the smallest Hi of the block.
			lo, _ := bits.Div64(b, uint64(blocks)-1, uint64(blocks))
			keys[i] = filter.Hash{Hi: lo + r.Uint64N(math.MaxUint64/uint64(blocks)), Lo: r.Uint64()}
		}
		slices.SortFunc(keys, func(x, y filter.Hash) int { return cmp.Compare(x.Hi, y.Hi) })
		search.searchBlock(b, keys, part)
	}
	return f.rateAfter(q.later * float64(blocks))
}
