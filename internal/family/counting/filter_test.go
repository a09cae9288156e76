package counting

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/stat"
)

func must(t testing.TB, c Config) *Filter {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestObservedRate measures the rate of few keys at many bits per key, where weak probes would be visible, after a
// third of the keys were removed.
func TestObservedRate(t *testing.T) {
	const n, trials, seeds = 1000, 500_000, 12
	for _, size := range []float64{40, 96} {
		var seen uint64
		var want, prior float64
		for seed := range uint64(seeds) {
			f := must(t, Config{Keys: n, Size: family.Sizing{BitsPerKey: size}})
			hs := filtertest.Hashes(3*n/2, seed)
			for _, h := range hs {
				_ = f.Add(h)
			}
			for _, h := range hs[n:] {
				if err := f.Remove(h); err != nil {
					t.Fatal(err)
				}
			}
			for _, h := range filtertest.Hashes(trials, 1000+seed) {
				if f.Has(h) {
					seen++
				}
			}
			want += f.Info().FPRPosterior
			prior += f.Info().FPRPrior
		}
		rate := want / seeds
		if tail := stat.UpperTail(seen, seeds*trials, rate); tail < 1e-5 || tail > 1-1e-5 {
			t.Errorf("%g bits per key: %d false positives in %d, posterior rate %g: tail %g", size, seen, seeds*trials, rate, tail)
		}
		if math.Abs(want/prior-1) > 0.15 {
			t.Errorf("%g bits per key: posterior rate %g, prior %g", size, rate, prior/seeds)
		}
	}
}

// TestRemovedIsGone compares the words with the words of a filter to which the removed keys were never added.
func TestRemovedIsGone(t *testing.T) {
	hs := filtertest.Hashes(2000, 1)
	f, want := must(t, Config{Keys: 2000}), must(t, Config{Keys: 2000})
	for i, h := range hs {
		_ = f.Add(h)
		if i%2 == 0 {
			_ = want.Add(h)
		}
	}
	for i := 1; i < len(hs); i += 2 {
		if err := f.Remove(hs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(f.words, want.words) || f.keys != want.keys || f.Stuck() != 0 {
		t.Error("removed keys leave something behind")
	}
}

// TestSaturation adds a key up to 40 times, more often than its counters can count, and removes it the same number of
// times. The key may remain only if its counters were stuck, and no other key may be lost.
func TestSaturation(t *testing.T) {
	for _, adds := range []int{14, 15, 16, 40} {
		f := must(t, Config{Keys: 1000})
		hs := filtertest.Hashes(500, 2)
		key := hs[0]
		for range adds {
			_ = f.Add(key)
		}
		if c, saturated := f.Count(key); c != uint64(min(adds, stuck)) || saturated != (adds >= stuck) {
			t.Errorf("%d additions: count %d, saturated %t", adds, c, saturated)
		}
		for _, h := range hs[1:] {
			_ = f.Add(h)
		}
		for i := range adds {
			if err := f.Remove(key); err != nil {
				t.Fatalf("removal %d of %d: %v", i, adds, err)
			}
		}
		if stays := adds >= stuck; f.Has(key) != stays || (f.Stuck() >= uint64(f.k)) != stays {
			t.Errorf("%d additions and removals: present %v, %d counters stuck", adds, f.Has(key), f.Stuck())
		}
		for _, h := range hs[1:] {
			if !f.Has(h) {
				t.Fatalf("%d additions and removals: another key is lost", adds)
			}
			if err := f.Remove(h); err != nil {
				t.Fatal(err)
			}
		}
		if n := f.Info().Keys; n != 0 {
			t.Errorf("%d keys are left", n)
		}
		if err := f.Remove(key); !errors.Is(err, filter.ErrNotFound) {
			t.Errorf("a removal from a filter without keys: %v", err)
		}
		if _, err := Decode(f.Encode()); err != nil {
			t.Error(err)
		}
	}
}

// TestBuilder adds the same few keys from several goroutines until their counters are stuck.
func TestBuilder(t *testing.T) {
	hs := filtertest.Hashes(30, 4)
	b, err := NewBuilder(Config{Counters: 100, K: 5})
	if err != nil {
		t.Fatal(err)
	}
	want := must(t, Config{Counters: 100, K: 5})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 50 {
				_ = b.AddMany(hs[:i%len(hs)])
			}
		})
		for i := range 50 {
			for _, h := range hs[:i%len(hs)] {
				_ = want.Add(h)
			}
		}
	}
	wg.Wait()
	got, err := b.Build(t.Context())
	if err != nil || !slices.Equal(got.(*Filter).words, want.words) || got.(*Filter).keys != want.keys || want.Stuck() == 0 {
		t.Errorf("the builder differs from additions one by one: %v, %+v", err, got.Info())
	}
}

// twice returns a key that probes a counter of f twice, and another one that probes that counter once.
func twice(t *testing.T, f *Filter) (double, single filter.Hash, counter uint64) {
	probed := func(h filter.Hash) map[uint64]int {
		var room [MaxK]uint64
		times := map[uint64]int{}
		for _, at := range f.probesOf(&room, h) {
			times[at]++
		}
		return times
	}
	hs := filtertest.Hashes(1000, 3)
	for _, double = range hs {
		for at, n := range probed(double) {
			if n != 2 {
				continue
			}
			for _, single = range hs {
				if probed(single)[at] == 1 {
					return double, single, at
				}
			}
		}
	}
	t.Fatal("no such keys")
	return
}

// TestOneCounterTwice removes a key that probes a counter of 1 twice. The removal must fail.
func TestOneCounterTwice(t *testing.T) {
	f := must(t, Config{Counters: 20, K: 3})
	double, single, at := twice(t, f)
	_ = f.Add(double)
	if f.counter(at) != 2 || countOf(f, double) != 1 {
		t.Fatalf("counter %d, count %d after one addition", f.counter(at), countOf(f, double))
	}
	_ = f.Add(single)
	if c := countOf(f, double); c != 1 {
		t.Errorf("count %d, want 1: three in a counter are one and a half", c)
	}
	if err := f.Remove(double); err != nil || f.counter(at) != 1 || !f.Has(single) {
		t.Fatalf("%v, counter %d", err, f.counter(at))
	}
	var room [MaxK]uint64
	for _, i := range f.probesOf(&room, double) { // all other counters of the key are large enough
		if i != at {
			f.words[i/inWord] |= 2 << (i % inWord * width)
		}
	}
	was := slices.Clone(f.words)
	if err := f.Remove(double); !errors.Is(err, filter.ErrNotFound) || countOf(f, double) != 0 {
		t.Errorf("removal that a counter does not allow: %v, count %d", err, countOf(f, double))
	}
	if !slices.Equal(was, f.words) || f.keys != 1 {
		t.Error("a removal that failed changed the filter")
	}
}

// TestMerge compares Merge with sums of single counters, some of which are stuck.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f, g := must(t, Config{Counters: 1000, K: 1}), must(t, Config{Counters: 1000, K: 1})
	for i := range f.words {
		f.words[i], g.words[i] = r.Uint64(), r.Uint64()&r.Uint64()
	}
	was := slices.Clone(f.words)
	if err := f.Merge(g, nil); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(1000) {
		a, b := was[i/inWord]>>(i%inWord*width)&stuck, g.counter(i)
		if got := f.counter(i); got != min(stuck, a+b) {
			t.Fatalf("counter %d: %d and %d give %d", i, a, b, got)
		}
	}
	for _, c := range []Config{{Counters: 999, K: 1}, {Counters: 1000, K: 2}} {
		if err := f.Merge(must(t, c), nil); !errors.Is(err, filter.ErrMismatch) {
			t.Errorf("merge with %+v: %v", c, err)
		}
	}
}

// TestCounts compares the three sums over words with sums over single counters.
func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f := must(t, Config{Counters: 16 * 1000, K: 1})
	var sum, used, full uint64
	for i := range f.words {
		f.words[i] = r.Uint64() & r.Uint64()
		if i%3 == 0 {
			f.words[i] = ^f.words[i]
		}
	}
	f.words[0] = math.MaxUint64
	for i := range f.m {
		c := f.counter(i)
		sum += c
		used += uint64(bits.Len64(c)+3) / 4
		full += c / stuck
	}
	if f.counterSum() != sum || f.nonzeroCounters() != used || f.Stuck() != full {
		t.Errorf("sum %d, used %d, stuck %d; want %d, %d, %d", f.counterSum(), f.nonzeroCounters(), f.Stuck(), sum, used, full)
	}
}

func TestDecode(t *testing.T) {
	f := must(t, Config{Counters: 1001, K: 4})
	for _, h := range filtertest.Hashes(100, 1) {
		_ = f.Add(h)
	}
	for name, c := range map[string]struct {
		change func(*family.Encoded)
		ok     bool
	}{
		"nothing":             {func(*family.Encoded) {}, true},
		"a counter behind":    {func(e *family.Encoded) { e.Sections[0][62] |= 1 << 36 }, false},
		"one key more":        {func(e *family.Encoded) { e.Keys++ }, false},
		"keys that overflow":  {func(e *family.Encoded) { e.Keys = 1<<62 + 100 }, false},
		"another sum":         {func(e *family.Encoded) { e.Sections[0][3] ^= 1 << 20 }, false},
		"keys, stuck":         {func(e *family.Encoded) { e.Sections[0][3] |= 15; e.Keys = math.MaxUint64 }, true},
		"no keys, all stuck":  {func(e *family.Encoded) { setAll(e.Sections[0][:62]); e.Keys = 0 }, true},
		"spec without k":      {func(e *family.Encoded) { e.Spec = family.NewSpec(Family, "m", 1001) }, false},
		"spec with a size":    {func(e *family.Encoded) { e.Spec = e.Spec.With("bytes", 9) }, false},
		"spec with k=0":       {func(e *family.Encoded) { e.Spec = e.Spec.With("k", 0) }, false},
		"spec of other names": {func(e *family.Encoded) { e.Spec = e.Spec.With("bits", 3) }, false},
	} {
		e := f.Encode()
		e.Sections = [][]uint64{slices.Clone(e.Sections[0])}
		c.change(&e)
		got, err := Decode(e)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		for _, h := range filtertest.Hashes(50, 9) { // none of these may panic
			_, _, _ = got.Has(h), countOf(got, h), got.Remove(h)
			_ = got.Add(h)
		}
		if i := got.Info(); !(i.FPRPrior >= 0 && i.FPRPrior <= 1 && i.FPRPosterior >= 0 && i.FPRPosterior <= 1) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

func setAll(words []uint64) {
	for i := range words {
		words[i] = math.MaxUint64
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Size: family.Sizing{FPR: math.NaN()}}, {Size: family.Sizing{FPR: 1}}, {Size: family.Sizing{BitsPerKey: math.Inf(1)}},
		{Size: family.Sizing{BitsPerKey: -1}}, {K: MaxK + 1}, {K: -1}, {Counters: 8, Size: family.Sizing{FPR: 0.1}},
	} {
		if _, err := New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("New(%+v): %v, want ErrConfig", c, err)
		}
	}
	for _, c := range []Config{{Counters: 1 << 60}, {Counters: math.MaxUint64}, {Keys: 1 << 63, Size: family.Sizing{BitsPerKey: 64}}, {Keys: 1 << 59}, {Counters: 1 << 59}} {
		if _, err := New(c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("New(%+v): %v, want ErrTooLarge", c, err)
		}
	}
	for _, c := range []struct {
		c    Config
		m    uint64
		k    int
		rate float64
	}{
		{Config{Keys: 100_000}, 959_296, 7, 0.01},
		{Config{Keys: 100_000, Size: family.Sizing{BitsPerKey: 40}}, 1_000_000, 7, 0.00819},
		{Config{Keys: 100_000, Size: family.Sizing{Bytes: 500_000}}, 1_000_000, 7, 0.00819},
	} {
		m, k, err := c.c.Geometry()
		if err != nil || k != c.k || math.Abs(float64(m)/float64(c.m)-1) > 1e-4 || math.Abs(probe.FPR(c.c.Keys, m, k)/c.rate-1) > 1e-3 {
			t.Errorf("%+v: m=%d k=%d rate %g, %v", c.c, m, k, probe.FPR(c.c.Keys, m, k), err)
		}
	}
}

// TestBatch calls hasMany, which HasMany calls only for filters larger than the caches.
func TestBatch(t *testing.T) {
	hs := filtertest.Hashes(20_000, 1)
	for _, k := range []int{1, 2, 3, 4, 7, 30, MaxK} {
		f := must(t, Config{Keys: 20_000, Size: family.Sizing{BitsPerKey: 5.77 * float64(k)}, K: k})
		for _, h := range hs {
			_ = f.Add(h)
		}
		asked := append(hs[:len(hs):len(hs)], filtertest.Hashes(20_001, 2)...)
		got := make([]bool, len(asked))
		probe.HasMany(probe.InCache, got, asked, f.prefetch, f.hasEach)
		for i, h := range asked {
			if want := countOf(f, h) > 0; got[i] != want || f.Has(h) != want || i < len(hs) && !want {
				t.Fatalf("k=%d, key %d: %v, Has says %v, Count %d", k, i, got[i], f.Has(h), countOf(f, h))
			}
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	const n = 1_000_000
	f := must(b, Config{Keys: n})
	hs, absent := filtertest.Hashes(n, 1), filtertest.Hashes(n, 2)
	for _, h := range hs {
		_ = f.Add(h)
	}
	i, hits := 0, 0
	for _, c := range []struct {
		name string
		op   func(i int)
	}{
		{"op=has/family=counting/n=1e6/hit=1", func(i int) { hits += btoi(f.Has(hs[i])) }},
		{"op=has/family=counting/n=1e6/hit=0", func(i int) { hits += btoi(f.Has(absent[i])) }},
		{"op=count/family=counting/n=1e6", func(i int) { hits += int(countOf(f, hs[i])) }},
		{"op=add+remove/family=counting/n=1e6", func(i int) { _ = f.Add(absent[i]); _ = f.Remove(absent[i]) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.op(i)
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// countOf returns the count of a key, saturated or not.
func countOf(c family.Counter, h filter.Hash) uint64 {
	n, _ := c.Count(h)
	return n
}

// TestDocumented computes the examples of docs/format/counting.md.
func TestDocumented(t *testing.T) {
	f, err := New(Config{Counters: 100, K: 2})
	if err != nil {
		t.Fatal(err)
	}
	hasher := filter.NewHasher(42)
	for _, h := range filtertest.DocumentedKeys(hasher) {
		if err := f.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"`" + f.builtSpec().String() + "`", filtertest.DocumentedWords(f.words),
		fmt.Sprintf("The sum of all counters is %d.", f.counterSum())}
	for _, key := range []string{"key-7", "key-41"} {
		var room [MaxK]uint64
		h := hasher.SumString(key)
		at := f.probesOf(&room, h)
		var counters []uint64
		for _, i := range at {
			counters = append(counters, f.counter(i))
		}
		n, _ := f.Count(h)
		want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s | %s | %d |\n", key, h.Hi, h.Lo,
			filtertest.DocumentedList(at), filtertest.DocumentedList(counters),
			map[bool]string{false: "no", true: "yes"}[f.Has(h)], n))
	}
	for _, c := range []struct {
		at, counters []uint64
		says         string
	}{
		{[]uint64{17, 93, 4, 60}, []uint64{3, 2, 2, 5}, ""},
		{[]uint64{17, 93, 17, 60}, []uint64{3, 2, 3, 5}, ": counter 17 has ⌊3/2⌋"},
		{[]uint64{17, 93, 17, 60}, []uint64{1, 2, 1, 5}, ", although the key is present"},
		{[]uint64{17, 93, 4, 60}, []uint64{15, 7, 15, 9}, ""},
		{[]uint64{17, 93, 4, 60}, []uint64{15, 15, 15, 15}, ", saturated"},
		{[]uint64{17, 93, 4, 60}, []uint64{15, 0, 15, 9}, ", the key is absent"},
	} {
		n, _ := counted(leastCount(c.at, c.counters))
		want = append(want, fmt.Sprintf("\n| %s | %s | %d%s |\n", filtertest.DocumentedList(c.at),
			filtertest.DocumentedList(c.counters), n, c.says))
	}
	filtertest.Documented(t, "counting.md", want...)
}
