package twochoice

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

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
	for _, h := range hs {
		if !f.Has(h) {
			t.Fatal("a key is lost")
		}
	}
	return f.(*Filter)
}

// TestPlain compares a search, with and without noise, with an implementation that follows the paper: it keeps a set of
// owners for every bit, and caches nothing.
func TestPlain(t *testing.T) {
	g := geometry{shards: 1, bits: 900, choices: 3, k: 5, hashing: Independent}
	hs := filtertest.Hashes(120, 3)
	for _, noise := range []float64{0, 0.5, 2} {
		var s search
		s.layOut(g, hs)
		rnd, same := anneal.Random(9), anneal.Random(9)
		owners := make([]map[int]bool, g.bits)
		for i := range owners {
			owners[i] = map[int]bool{}
		}
		for round := range 6 {
			s.searchRound(noise, &rnd)
			for key, h := range hs {
				for _, o := range owners {
					delete(o, key)
				}
				best, least := 0, math.Inf(1)
				for j := range g.choices {
					// In units of 2^-16 bit, rounded down. The part below one bit, which is always present, breaks
					// ties.
					cost := math.Floor(float64(same.Next()>>32) * math.Floor(max(noise, 1-1./65536)*65536) / (1 << 32) / 1)
					for w, l := g.walkGroup(h, j), 0; l < g.k; l++ {
						if len(owners[g.nextPosition(&w)]) == 0 {
							cost += 65536
						}
					}
					if cost < least {
						best, least = j, cost
					}
				}
				for w, l := g.walkGroup(h, best), 0; l < g.k; l++ {
					owners[g.nextPosition(&w)][key] = true
				}
				if s.chosen[key] != uint8(best) && round == 0 {
					// In the first round, both contain all keys before this one and none after it.
					t.Fatalf("noise %g: key %d chose %d, plainly %d", noise, key, s.chosen[key], best)
				}
			}
			ones := 0
			for _, o := range owners {
				if len(o) > 0 {
					ones++
				}
			}
			if ones != s.ones {
				t.Fatalf("noise %g, round %d: %d bits, plainly %d", noise, round, s.ones, ones)
			}
		}
	}
}

// TestPublished checks a few rows of Tables 1, 2 and 3 of the paper, a third of them per run. The lab checks all rows
// with more trials. Tolerances are 4.5 standard deviations of the mean of these trials and the last digit printed.
func TestPublished(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n, trials = 10_000, 10
	runs := filtertest.Third(t, *long)
	for _, row := range []struct {
		bits       float64
		c, k       int
		rounds     int
		rate, fill float64
	}{
		{8, 2, 7, 1, 2.323e-2, 0.5296}, {16, 3, 13, 1, 3.607e-4, 0.4994}, {32, 2, 24, 1, 1.285e-7, 0.5016},
		{8, 2, 8, 15, 1.485e-2, 0}, {8, 3, 8, 40, 1.222e-2, 0}, {16, 3, 15, 30, 1.604e-4, 0}, {32, 2, 26, 10, 6.260e-8, 0},
	} {
		for _, hashing := range []Hashing{Independent, Double} {
			if !runs() {
				continue
			}
			var rates, fills []float64
			for trial := range trials {
				hs := filtertest.Hashes(n, uint64(50+trial))
				c := Config{Keys: n, Size: family.Sizing{BitsPerKey: row.bits}, Choices: row.c, K: row.k, Hashing: hashing,
					Greedy: true}
				var f *Filter
				if row.rounds == 1 {
					var err error
					if f, err = New(c); err != nil {
						t.Fatal(err)
					}
					for _, h := range hs {
						_ = f.Add(h)
					}
				} else {
					c.Effort.Passes = row.rounds
					f = build(t, c, hs)
				}
				fill := f.Info().Fill
				fills, rates = append(fills, fill), append(rates, FPR(fill, row.k, row.c))
			}
			mean, deviation := meanAndDeviation(rates)
			spread := 9 * deviation / math.Sqrt(float64(len(rates)))
			if math.Abs(mean-row.rate) > spread+row.rate/500 {
				t.Errorf("%g bits, c=%d, k=%d, %d rounds, %s: rate %.4g ± %.2g, published %.4g", row.bits, row.c, row.k, row.rounds, hashing, mean, spread, row.rate)
			}
			if fill, _ := meanAndDeviation(fills); row.fill != 0 && (math.Abs(fill-row.fill) > 0.0016 || math.Abs(Fill(row.bits, row.k, row.c)-row.fill) > 0.00011) {
				t.Errorf("%g bits, c=%d, k=%d: fill %.5f, by the equation %.5f, published %.4f", row.bits, row.c, row.k, fill, Fill(row.bits, row.k, row.c), row.fill)
			}
		}
	}
}

// TestNoise checks that a search with noise is better than the paper's search in the same number of rounds.
func TestNoise(t *testing.T) {
	hs := filtertest.Hashes(5000, 1)
	c := Config{Choices: 3, K: 9, Effort: filter.Effort{Passes: 100}}
	noise := build(t, c, hs).Info().FPRPosterior
	c.Greedy = true
	if greedy := build(t, c, hs).Info().FPRPosterior; noise > 0.95*greedy {
		t.Errorf("rate %g with noise, %g without", noise, greedy)
	}
}

// TestGrow adds keys one by one, to an empty filter and to a searched one.
func TestGrow(t *testing.T) {
	hs := filtertest.Hashes(4000, 7)
	f, err := New(Config{Keys: 4000, Size: family.Sizing{FPR: 1e-3}})
	if err != nil {
		t.Fatal(err)
	}
	searched := build(t, Config{}, hs[:2000])
	for i, h := range hs {
		_ = f.Add(h)
		if i >= 2000 {
			_ = searched.Add(h)
		}
	}
	for _, h := range hs {
		if !f.Has(h) || !searched.Has(h) {
			t.Fatal("a key is lost")
		}
	}
	if i := f.Info(); i.Keys != 4000 || i.Late != 0 || math.Abs(i.FPRPosterior/1e-3-1) > 0.1 || math.Abs(i.FPRPrior/1e-3-1) > 0.02 || i.BitsPerKey() > 14.2 {
		t.Errorf("grown: %+v", i)
	}
	if i := searched.Info(); i.Keys != 4000 || i.Late != 2000 || i.Fill <= i.FillSearched {
		t.Errorf("searched: %+v", i)
	}
}

// TestTies adds keys to a nearly empty filter, in which all groups cost the same. All groups must be chosen equally
// often.
func TestTies(t *testing.T) {
	const n = 30_000
	f, err := New(Config{Size: family.Sizing{Bytes: 1 << 24}, K: 4})
	if err != nil {
		t.Fatal(err)
	}
	var taken [defaultChoices]float64
	for _, h := range filtertest.Hashes(n, 1) {
		_ = f.Add(h)
		for j := range taken {
			if f.covers(f.shardOf(h)*f.bits, f.walkGroup(h, j)) {
				taken[j]++
			}
		}
	}
	for j, got := range taken {
		if want := float64(n) / defaultChoices; math.Abs(got-want) > 4.5*math.Sqrt(want) {
			t.Errorf("group %d is taken %g times, want %g", j, got, want)
		}
	}
}

// TestFrom continues a search from a filter, with the same keys and with changed ones.
func TestFrom(t *testing.T) {
	hs := filtertest.Hashes(3000, 8)
	f := build(t, Config{Shards: 3, Effort: filter.Effort{Passes: 40}}, hs[:2700])
	if again := build(t, Config{From: f, Effort: filter.Effort{Passes: 2}}, hs[:2700]); again.Info().Fill > f.Info().Fill {
		t.Errorf("fill %g, before %g", again.Info().Fill, f.Info().Fill)
	}
	if again := build(t, Config{From: f, Effort: filter.Effort{Passes: 200}}, hs[:2700]); again.Info().Fill >= f.Info().Fill {
		t.Errorf("a longer search gains nothing: fill %g, before %g", again.Info().Fill, f.Info().Fill)
	}
	changed := build(t, Config{From: f, Effort: filter.Effort{Passes: 40}}, hs[300:])
	if a, b := changed.Info(), f.Info(); a.Late != 0 || a.Keys != b.Keys || a.Spec != b.Spec ||
		math.Abs(a.FPRPosterior/b.FPRPosterior-1) > 0.05 {
		t.Errorf("%+v, before %+v", a, b)
	}
}

// TestBudget ends a search by time, on a clock that counts work. The two shards must share the time.
func TestBudget(t *testing.T) {
	const keys, perKey, rounds = 20_000, 60 * time.Nanosecond, 20
	f, took := byWork(t, Config{Effort: filter.Effort{Budget: keys * perKey * rounds}}, perKey, filtertest.Hashes(keys, 9))
	if made := float64(took) / float64(keys*perKey); made < rounds || made > rounds+1 {
		t.Errorf("%g rounds, want %d", made, rounds)
	}
	if p := f.Info().FPRPosterior; p > 0.018 { // a standard filter has 0.0216
		t.Errorf("rate %g", p)
	}
}

// byWork builds with one worker and a clock that counts work, and returns the time that passed on it.
func byWork(t *testing.T, c Config, perKey time.Duration, hs []filter.Hash) (*Filter, time.Duration) {
	t.Helper()
	c.Workers = 1
	b, err := NewBuilder(c)
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
	return f.(*Filter), b.Goal.Clock.Now().Sub(start)
}

// TestFull adds 300 keys that share their bits, removes all except one, and requires that these bits are still set.
func TestFull(t *testing.T) {
	var s search
	s.layOut(geometry{shards: 1, bits: 100, choices: 2, k: 2, hashing: Independent}, make([]filter.Hash, 300))
	for key := range 300 {
		s.putInGroup(key, 0)
	}
	for key := range 299 {
		s.takeOut(key)
	}
	for _, at := range s.groupPositions(299, 0) {
		if s.counts[at] == 0 {
			t.Error("a bit of the last key is lost")
		}
	}
}

// TestGreedyEnds checks that a search without noise ends before the given number of rounds if it cannot improve
// further.
func TestGreedyEnds(t *testing.T) {
	const keys = 2000
	c := Config{K: 8, Greedy: true, Effort: filter.Effort{Passes: filter.MaxPasses}}
	if _, took := byWork(t, c, 1, filtertest.Hashes(keys, 1)); took > 200*keys {
		t.Errorf("%d rounds", took/keys)
	}
}

// BenchmarkRound measures a round over shards of several sizes at 16 bits per key.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{4 << 10, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			g := geometry{shards: 1, bits: 16 * uint64(n), choices: 3, k: 15, hashing: Independent}
			var s search
			s.layOut(g, filtertest.Hashes(n, 1))
			rnd := anneal.Random(1)
			for b.Loop() {
				s.searchRound(1, &rnd)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}

// meanAndDeviation returns the mean and the standard deviation of values.
func meanAndDeviation(values []float64) (mean, deviation float64) {
	var squares float64
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / float64(len(values)-1))
}

// TestKeep replaces 1% of the keys. Few bits may change, and fewer bits must be set than with Add.
func TestKeep(t *testing.T) {
	keep := filter.Effort{Level: filter.Keep}
	hs := filtertest.Hashes(50_500, 1)
	old := build(t, Config{Effort: filter.Effort{Level: filter.Fast}}, hs[:50_000])
	f := build(t, Config{From: old, Effort: keep}, hs[500:])
	flips := 0
	for i := range f.words {
		flips += bits.OnesCount64(f.words[i] ^ old.words[i])
	}
	if most := 2 * 500 * f.k; f.geometry != old.geometry || flips > most {
		t.Errorf("%d bits differ, want at most %d", flips, most)
	}
	for _, h := range hs[50_000:] {
		_ = old.Add(h)
	}
	if a, b := f.Info().Fill, old.Info().Fill; a >= b {
		t.Errorf("fill %v, %v with all keys added", a, b)
	}
	if _, err := NewBuilder(Config{Effort: keep}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without an earlier filter: %v", err)
	}
}
