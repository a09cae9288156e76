package twochoice

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
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

// plain is the filter as the paper describes it: a set of bits, and groups of positions.
type plain struct {
	geometry
	words []uint64
}

// groupsOf returns the positions of all groups of a key.
func (p plain) groupsOf(h filter.Hash) (groups [][]uint64) {
	shard, by := bits.Mul64(h.Hi, p.shards)
	for s := range uint64(p.choices) {
		var group []uint64
		x := h.Lo
		for range p.k {
			at, _ := bits.Mul64(x, p.bits-uint64(p.choices)+1)
			group = append(group, shard*p.bits+at+s)
			x = bits.RotateLeft64(9*x, 25) + by
		}
		groups = append(groups, group)
	}
	return groups
}

// fresh returns the number of positions of a group whose bits are not set.
func (p plain) fresh(group []uint64) (n int) {
	for _, at := range group {
		n += int(^p.words[at/64] >> (at % 64) & 1)
	}
	return n
}

// with returns the words with the bits of a group set.
func (p plain) with(group []uint64) []uint64 {
	words := slices.Clone(p.words)
	for _, at := range group {
		words[at/64] |= 1 << (at % 64)
	}
	return words
}

// TestPlain adds keys to filters of all kinds of geometries. Each key must set the bits of one of its best groups, and
// no others, and all queries must have the answers of a plain filter.
func TestPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 44))
	for range 300 {
		c := 2 + r.IntN(maxChoices-1)
		g := geometry{shards: 1, bits: uint64(c + r.IntN(500)), choices: c, k: 1 + r.IntN(MaxK)}
		if r.IntN(3) == 0 {
			g.shards, g.bits = 1+r.Uint64N(5), minShard+r.Uint64N(70)
		}
		f, p := &Filter{geometry: g, words: make([]uint64, g.wordCount())}, plain{g, make([]uint64, g.wordCount())}
		hs := filtertest.Hashes(r.IntN(80), r.Uint64())
		for _, h := range hs {
			_ = f.Add(h)
			groups, least := p.groupsOf(h), math.MaxInt
			for _, group := range groups {
				least = min(least, p.fresh(group))
			}
			if !slices.ContainsFunc(groups, func(group []uint64) bool {
				return p.fresh(group) == least && slices.Equal(p.with(group), f.words)
			}) {
				t.Fatalf("%v: no group of %d new bits was set", g, least)
			}
			copy(p.words, f.words)
		}

		hs = append(hs, filtertest.Hashes(100, r.Uint64())...)
		got := make([]bool, len(hs))
		f.HasMany(got, hs)
		for i, h := range hs {
			want := slices.ContainsFunc(p.groupsOf(h), func(group []uint64) bool { return p.fresh(group) == 0 })
			if f.Has(h) != want || got[i] != want {
				t.Fatalf("%v: Has = %v, HasMany = %v, want %v", g, f.Has(h), got[i], want)
			}
		}
	}
}

// TestRates compares the rates of filters of keys added one by one, and after a search, with the goals of this family.
// They are means of several sets of keys; the tolerance is 4.5 standard deviations. docs/families/twochoice.md has the
// same rates.
func TestRates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 10_000
	runs := filtertest.Third(t, *long)
	for _, row := range []struct {
		bits         float64
		c, k, rounds int
		rate         float64
	}{
		{8, 2, 7, 1, 2.249e-2}, {8, 3, 7, 1, 2.292e-2}, {16, 3, 13, 1, 3.47e-4}, {16, 8, 16, 1, 2.98e-4},
		{32, 3, 25, 1, 9.63e-8}, {32, 8, 28, 1, 5.9e-8}, {8, 8, 10, 200, 8.4e-3}, {16, 8, 17, 200, 8.48e-5},
	} {
		if !runs() {
			continue
		}
		var rates []float64
		for trial := range max(3, 20/row.rounds) {
			c := Config{Keys: n, Size: family.Sizing{BitsPerKey: row.bits}, Choices: row.c, K: row.k}
			c.Effort.Passes = row.rounds
			f, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			hs := filtertest.Hashes(n, uint64(50+trial))
			if row.rounds > 1 {
				f = build(t, c, hs)
			} else {
				for _, h := range hs {
					_ = f.Add(h)
				}
			}
			rates = append(rates, f.Info().FPRPosterior)
		}
		mean, deviation := meanAndDeviation(rates)
		if spread := 4.5*deviation/math.Sqrt(float64(len(rates))) + row.rate/100; math.Abs(mean-row.rate) > spread {
			t.Errorf("%g bits, c=%d, k=%d, %d rounds: rate %.4g ± %.2g, want %.4g",
				row.bits, row.c, row.k, row.rounds, mean, spread, row.rate)
		}
	}
}

// TestObserved compares the share of absent keys that filters report as present with the rate by fill, for small
// filters, where the dependence of groups and of positions would show, and for full ones. The bound is 4 standard
// deviations plus half a percent.
func TestObserved(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	runs := filtertest.Third(t, *long)
	for _, x := range []struct {
		n            int
		bits, shards uint64
		c, k         int
	}{
		{1, 20, 1, 3, 5}, {1, 100, 1, 3, 3}, {2, 64, 1, 3, 8}, {10, 100, 1, 8, 8}, {10, 160, 1, 16, 6}, {10, 300, 1, 3, 3},
		{300, 4096, 1, 3, 9}, {1200, 4096, 4, 8, 8}, {4, 12, 1, 12, 2}, {10_000, 160_000, 1, 3, 13},
		{10_000, 160_000, 1, 8, 16},
	} {
		if !runs() {
			continue
		}
		var seen, want, variance float64
		const trials = 3_000_000
		each := trials / max(3, 20_000/x.n)
		for seed := range uint64(trials / each) {
			f := &Filter{geometry: geometry{shards: x.shards, bits: x.bits, choices: x.c, k: x.k}}
			f.words = make([]uint64, f.wordCount())
			for _, h := range filtertest.Hashes(x.n, seed) {
				_ = f.Add(h)
			}
			found := 0.0
			for _, h := range filtertest.Hashes(each, 1<<40+seed) {
				if f.Has(h) {
					found++
				}
			}
			expected := f.Info().FPRPosterior * float64(each)
			seen, want = seen+found, want+expected
			variance += (found - expected) * (found - expected)
		}
		if d := 4*math.Sqrt(variance) + want/200; math.Abs(seen-want) > d {
			t.Errorf("%+v: %g false positives, want %.1f ± %.1f", x, seen, want, d)
		}
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
	var taken [addedChoices]float64
	for _, h := range filtertest.Hashes(n, 1) {
		_ = f.Add(h)
		for j := range taken {
			if f.groups(h)>>j&1 == 1 {
				taken[j]++
			}
		}
	}
	for j, got := range taken {
		if want := float64(n) / addedChoices; math.Abs(got-want) > 4.5*math.Sqrt(want) {
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

// BenchmarkAdd adds keys to a filter in the caches, at 16 bits per key.
func BenchmarkAdd(b *testing.B) {
	for _, c := range []int{3, 8, 16} {
		b.Run(fmt.Sprintf("choices=%d", c), func(b *testing.B) {
			hs := filtertest.Hashes(4096, 1)
			f, err := New(Config{Keys: 4096, Size: family.Sizing{BitsPerKey: 16}, Choices: c})
			if err != nil {
				b.Fatal(err)
			}
			for i := 0; b.Loop(); i++ {
				_ = f.Add(hs[i%4096])
			}
		})
	}
}

// BenchmarkRound measures a round over shards of several sizes at 16 bits per key.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{4 << 10, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			g := geometry{shards: 1, bits: 16 * uint64(n), choices: 3, k: 15}
			var s anneal.State
			layOut(&s, g, filtertest.Hashes(n, 1))
			rnd := anneal.Random(1)
			s.First(&rnd)
			for b.Loop() {
				s.Pass(5, &rnd)
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
