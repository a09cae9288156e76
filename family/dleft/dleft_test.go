package dleft

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

var long = flag.Bool("long", false, "hold the filter against a map over 10^7 operations, and fill 1000 filters of every size")

func must(t testing.TB, c Config) *Filter {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestModel(t *testing.T) {
	operations := 200_000
	if *long {
		operations = 10_000_000
	}
	// Remainders of 4 bits make most keys look like others, one bucket a subtable makes the filter full.
	configs := []Config{{Remainder: 4}, {Remainder: 12}, {Remainder: 4, Counter: 2}, {Remainder: 14, Counter: 2}, {Remainder: 8, Buckets: 1, Capacity: 32}}
	for _, c := range configs {
		filtertest.Model(t, operations/len(configs), func(keys uint64) filter.Filter {
			c.Keys = keys
			return must(t, c)
		})
	}
}

// TestPermutation takes all values of small tables: each subtable must permute them, and back must undo it.
func TestPermutation(t *testing.T) {
	for _, buckets := range []uint64{1, 2, 3, 16, 101} {
		g := geometry{buckets: buckets, remainder: 5}
		for i := range uint64(subtables) {
			seen := map[[2]uint64]bool{}
			for b := range buckets {
				for r := uint64(1); r <= g.remainders(); r++ {
					p := g.places(b, r)
					j := p.at[i]/8/g.width() - i*buckets
					if j >= buckets || p.remainder != r || seen[[2]uint64{j, r}] || g.back(i, j, r) != b {
						t.Fatalf("%d buckets, subtable %d: value (%d, %d) lies in bucket %d", buckets, i, b, r, j)
					}
					seen[[2]uint64{j, r}] = true
				}
			}
		}
	}
}

// TestLookAlikes is what permutations are for. In a table so small that most cells are copies of each other's, half of the keys
// are removed: none of the others may be lost. With independent buckets in the subtables it loses hundreds.
func TestLookAlikes(t *testing.T) {
	for _, counter := range []uint{0, counterBits} {
		for seed := range uint64(20) {
			const n = 2000
			f := must(t, Config{Keys: n, Remainder: MinRemainder, Counter: counter})
			hs := filtertest.Hashes(n, seed)
			for _, h := range hs {
				if err := f.Add(h); err != nil {
					t.Fatal(err)
				}
			}
			alike := map[place]uint64{}
			for _, h := range hs {
				alike[f.place(h)]++
			}
			if len(alike) > n*3/4 {
				t.Fatalf("%d values of %d keys: too many to try look-alikes", len(alike), n)
			}
			for i, h := range hs[:n/2] {
				if err := f.Remove(h); err != nil {
					t.Fatalf("seed %d, key %d: %v", seed, i, err)
				}
				alike[f.place(h)]--
			}
			for i, h := range hs[n/2:] {
				if got, want := f.Count(h), alike[f.place(h)]; got != want || !f.Has(h) {
					t.Fatalf("counter=%d seed=%d: key %d counts %d, want %d", counter, seed, i, got, want)
				}
			}
		}
	}
}

// TestCapacity fills tables to the capacity that they were sized for, key by key and by a builder.
func TestCapacity(t *testing.T) {
	for _, n := range []int{1, 10, 24, 48, 100, 240, 1000, 100_000} {
		seeds := 1000
		switch {
		case testing.Short():
			seeds = min(20, max(1, 100_000/n))
		case !*long:
			seeds = min(200, max(1, 400_000/n))
		}
		for seed := range uint64(seeds) {
			hs := filtertest.Hashes(n, seed)
			c := Config{Keys: uint64(n), Counter: uint(seed % 2 * counterBits)}
			f := must(t, c)
			for _, h := range hs {
				if err := f.Add(h); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			if n <= 1000 || seed < 3 {
				build(t, c, hs)
			}
		}
	}
}

// TestFewRemainders builds tables in which a value has many keys, of which an order of the keys by remainder makes a full one.
func TestFewRemainders(t *testing.T) {
	for seed := range uint64(3) {
		build(t, Config{Keys: 100_000, Remainder: MinRemainder}, filtertest.Hashes(100_000, seed))
	}
}

// TestChurn keeps a table at its capacity and replaces keys at random, ten times each.
func TestChurn(t *testing.T) {
	const n = 20_000
	f := must(t, Config{Keys: n})
	hs := filtertest.Hashes(11*n, 5)
	r := rand.New(rand.NewPCG(5, 6))
	for i, h := range hs {
		if i >= n {
			out := r.IntN(n)
			if err := f.Remove(hs[out]); err != nil {
				t.Fatal(err)
			}
			hs[out] = h
		}
		if err := f.Add(h); err != nil {
			t.Fatalf("after %d keys: %v", i, err)
		}
	}
	for _, h := range hs[:n] {
		if !f.Has(h) {
			t.Fatal("a key is lost")
		}
	}
}

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

// TestObservedRate measures few keys, where a bit of the hash that served two purposes would show, and many, in tables
// from which keys were removed.
func TestObservedRate(t *testing.T) {
	for _, c := range []struct {
		n         int
		remainder uint
	}{{24, 8}, {240, 12}, {1000, 4}, {1000, 12}, {1000, 16}, {30_000, 9}} {
		const seeds = 12
		trials := uint64(400_000)
		if testing.Short() {
			trials = 40_000
		}
		var seen uint64
		var want, prior float64
		for seed := range uint64(seeds) {
			f := must(t, Config{Keys: uint64(c.n), Remainder: c.remainder, Counter: uint(seed % 2 * counterBits)})
			hs := filtertest.Hashes(c.n+c.n/8, seed)
			for _, h := range hs {
				if err := f.Add(h); err != nil {
					t.Fatal(err)
				}
			}
			for _, h := range hs[c.n:] {
				if err := f.Remove(h); err != nil {
					t.Fatal(err)
				}
			}
			for _, h := range filtertest.Hashes(int(trials), 1000+seed) {
				if f.Has(h) {
					seen++
				}
			}
			want += f.Info().FPRPosterior
			prior += f.Info().FPRPrior
		}
		rate := want / seeds
		if tail := stat.UpperTail(seen, seeds*trials, rate); tail < 1e-5 || tail > 1-1e-5 {
			t.Errorf("n=%d remainder=%d: %d false positives in %d, posterior rate %g: tail %g", c.n, c.remainder, seen, seeds*trials, rate, tail)
		}
		// The number of different values has a standard deviation below that of a binomial number.
		m := float64((c.n-1)/load+1) * float64(uint64(1)<<c.remainder-1)
		if off := math.Abs(want-prior) * m; off > 5*math.Sqrt(seeds*float64(c.n)*min(1, prior/seeds))+1e-6 {
			t.Errorf("n=%d remainder=%d: posterior rate %g, prior %g", c.n, c.remainder, rate, prior/seeds)
		}
	}
}

// TestDistinct holds the number of different values against a set, in a table of which every bucket is looked at and in one
// of which it is some.
func TestDistinct(t *testing.T) {
	for n, within := range map[int]float64{1000: 1e-12, 2_000_000: 0.002} {
		if n > 1000 && testing.Short() {
			continue
		}
		f := must(t, Config{Keys: uint64(n), Remainder: 6})
		values := map[place]bool{}
		for _, h := range filtertest.Hashes(n, 7) {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
			values[f.place(h)] = true
		}
		if got, want := f.Info().FPRPosterior, float64(len(values))/f.values(); math.Abs(got/want-1) > within {
			t.Errorf("n=%d: posterior rate %g, want %g", n, got, want)
		}
	}
}

func TestPublishedRate(t *testing.T) {
	// Hua et al. (2008, section II.B): 12 bits a cell, 16 a key, for 2^-7; Bonomi et al.: 24·2^-r.
	bits, fpr, err := Config{Keys: 24_000, Size: filter.Sizing{FPR: 1. / 128}}.Forecast()
	if err != nil || bits != 16*24_000 || math.Abs(fpr*4096/24-1) > 0.004 {
		t.Errorf("%d bits, rate %g, %v", bits, fpr, err)
	}
	for _, c := range []struct {
		p    float64
		bits float64
		r    uint
	}{{0.01, 16, 12}, {0.001, 20, 15}, {0.0001, 24, 18}} {
		f := must(t, Config{Keys: 240_000, Size: filter.Sizing{FPR: c.p}})
		if got := float64(f.Info().Bits) / 240_000; got != c.bits || f.remainder != c.r || FPR(240_000, f.buckets, f.remainder) > c.p || FPR(240_000, f.buckets, f.remainder-1) <= c.p {
			t.Errorf("rate %g: %g bits a key, remainder %d", c.p, got, f.remainder)
		}
	}
}

// TestCopies adds one key until nothing more fits and takes it out again.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		counter uint
		most    uint64
	}{{0, 32}, {counterBits, 128}} {
		f := must(t, Config{Keys: 10_000, Remainder: 11, Counter: c.counter})
		hs := filtertest.Hashes(20, 3)
		for _, h := range hs[1:4] {
			_ = f.Add(h)
		}
		key := hs[0]
		for n := uint64(0); n < c.most; n++ {
			if err := f.Add(key); err != nil || f.Count(key) != n+1 {
				t.Fatalf("copy %d: %v, count %d", n+1, err, f.Count(key))
			}
		}
		was, keys := slices.Clone(f.words), f.keys
		if err := f.Add(key); !errors.Is(err, filter.ErrFull) || !slices.Equal(was, f.words) || f.keys != keys {
			t.Errorf("copy %d: %v", c.most+1, err)
		}
		for n := c.most; n > 0; n-- {
			if used, all := f.count(); c.counter != 0 && used != 3+(n+copies-1)/copies || all != f.keys {
				t.Fatalf("%d copies take %d cells, %d copies in all, %d keys", n, used, all, f.keys)
			}
			if err := f.Remove(key); err != nil || f.Count(key) != n-1 {
				t.Fatalf("removal of copy %d: %v, count %d", n, err, f.Count(key))
			}
		}
		was = slices.Clone(f.words)
		if err := f.Remove(key); !errors.Is(err, filter.ErrNotFound) || !slices.Equal(was, f.words) || f.keys != 3 {
			t.Errorf("removal of an absent key: %v", err)
		}
		for _, h := range hs[1:4] {
			if err := f.Remove(h); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(f.words, make([]uint64, len(f.words))) {
			t.Error("something is left in the cells")
		}
	}
}

// TestCopiesInFewCells adds and removes one key at random: its copies never take more cells than they need.
func TestCopiesInFewCells(t *testing.T) {
	f := must(t, Config{Keys: 10, Remainder: 11, Counter: counterBits})
	key, r := filtertest.Hashes(1, 3)[0], rand.New(rand.NewPCG(7, 8))
	for n := uint64(0); f.keys < 100; {
		if r.IntN(100) < 52 {
			if err := f.Add(key); err != nil {
				t.Fatal(err)
			}
			n++
		} else if err := f.Remove(key); err == nil {
			n--
		}
		if used, all := f.count(); used != (n+copies-1)/copies || all != n || f.Count(key) != n {
			t.Fatalf("%d copies take %d cells and count %d", n, used, all)
		}
	}
}

// TestFull adds far more keys than there is room for.
func TestFull(t *testing.T) {
	f := must(t, Config{Keys: 480, Remainder: 20})
	var in []filter.Hash
	full := 0
	for _, h := range filtertest.Hashes(2000, 8) {
		was := slices.Clone(f.words)
		switch err := f.Add(h); {
		case err == nil:
			in = append(in, h)
		case errors.Is(err, filter.ErrFull) && slices.Equal(was, f.words):
			full++
			if want := fmt.Sprintf("dleft with %d keys, sized for 480", len(in)); err.Error()[:len(want)] != want {
				t.Fatalf("%v, want %s", err, want)
			}
		default:
			t.Fatalf("%v, words changed: %v", err, !slices.Equal(was, f.words))
		}
	}
	if full == 0 || len(in) < 480 || f.Info().Keys != uint64(len(in)) || f.Info().Load() < 1 {
		t.Errorf("%d keys in, %d refused: %+v", len(in), full, f.Info())
	}
	for _, h := range in {
		if !f.Has(h) {
			t.Fatal("a key is lost")
		}
	}
	b, _ := NewBuilder(Config{Keys: 480})
	_ = b.AddMany(filtertest.Hashes(2000, 8))
	if _, err := b.Build(t.Context()); !errors.Is(err, filter.ErrFull) {
		t.Errorf("a builder of too many keys: %v", err)
	}
}

// TestBuilder gives keys twice: they count once in the plain form and twice in the counting one.
func TestBuilder(t *testing.T) {
	hs := filtertest.Hashes(1000, 9)
	for counter, want := range map[uint]uint64{0: 1, counterBits: 2} {
		f := build(t, Config{Keys: 1000, Remainder: 20, Counter: counter}, append(hs[:1000:1000], hs...))
		if n := f.Info().Keys; n != want*1000 || f.Count(hs[5]) != want {
			t.Errorf("counter=%d: %d keys, count %d", counter, n, f.Count(hs[5]))
		}
		unknown := build(t, Config{Remainder: 20, Counter: counter}, hs)
		if unknown.capacity != 1000 {
			t.Errorf("capacity %d of a builder that did not know its keys", unknown.capacity)
		}
	}
}

// TestCells holds the comparisons of sliced bits against cells one by one, for every width.
func TestCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for remainder := uint(MinRemainder); remainder <= MaxRemainder; remainder++ {
		for _, counter := range []uint{0, counterBits} {
			g := geometry{buckets: 5, remainder: remainder, counter: counter}
			f := &Filter{geometry: g, words: make([]uint64, g.words())}
			fill(f, r)
			for bucket := range subtables * g.buckets {
				at := bucket * g.width() * 8
				for cell := range cells {
					v, counts := f.at(at, cell), uint64(1)
					for j := range counter {
						counts += f.slice(at, remainder+j) >> cell & 1 << j
					}
					var match uint64
					for other := range cells {
						if f.at(at, other) == v {
							match |= 1 << other
						}
					}
					if got := f.match(at, v); got != match {
						t.Fatalf("remainder %d, bucket %d: cells %08b hold %d, match says %08b", remainder, bucket, match, v, got)
					}
					if got := f.copiesIn(at, 1<<cell); got != counts || f.full(at)>>cell&1 != 0 != (counts == 1<<counter) {
						t.Fatalf("%d copies in cell %d, want %d", got, cell, counts)
					}
				}
			}
		}
	}
}

// fill puts random bits into the buckets, few of them different.
func fill(f *Filter, r *rand.Rand) {
	for i := range f.cells() * f.width() {
		f.words[i/64] |= uint64(r.IntN(8)&1&r.IntN(2)) << (i % 64)
	}
}

// TestHas holds Has against match, for every width.
func TestHas(t *testing.T) {
	for remainder := uint(MinRemainder); remainder <= MaxRemainder; remainder++ {
		f := must(t, Config{Keys: 500, Remainder: remainder, Counter: remainder % 2 * counterBits})
		hs := filtertest.Hashes(500, uint64(remainder))
		for _, h := range hs {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		for i, h := range append(hs, filtertest.Hashes(2000, 99)...) {
			if got := f.Has(h); got != (f.Count(h) > 0) || i < 500 && !got {
				t.Fatalf("remainder %d, key %d: Has says %v, Count %d", remainder, i, got, f.Count(h))
			}
		}
	}
}

func TestDecode(t *testing.T) {
	f := must(t, Config{Keys: 100, Remainder: 9, Counter: 2}) // 27 words and a half
	for i, h := range filtertest.Hashes(100, 1) {
		for range i%3 + 1 {
			_ = f.Add(h)
		}
	}
	empty := func(w []uint64) (at uint64, cell int) {
		g := &Filter{geometry: f.geometry, words: w}
		for {
			if free := g.match(at, 0); free != 0 {
				return at, bits.TrailingZeros64(free)
			}
			at += f.width() * 8
		}
	}
	for name, c := range map[string]struct {
		change func(*filter.Encoded)
		ok     bool
	}{
		"nothing":            {func(*filter.Encoded) {}, true},
		"one key more":       {func(e *filter.Encoded) { e.Keys++ }, false},
		"no keys":            {func(e *filter.Encoded) { e.Keys = 0 }, false},
		"many keys":          {func(e *filter.Encoded) { e.Keys = math.MaxUint64 }, false},
		"another count":      {func(e *filter.Encoded) { e.Sections[0][1] = 0 }, false},
		"a word behind":      {func(e *filter.Encoded) { e.Sections[0][28] = 1 }, false},
		"half a word behind": {func(e *filter.Encoded) { e.Sections[0][27] |= 1 << 32 }, false},
		"an empty one marks": {func(e *filter.Encoded) {
			w := e.Sections[0]
			at, c := empty(w)
			(&Filter{f.geometry, w, 0}).flip(at, 10, c)
		}, false},
		"all ones": {func(e *filter.Encoded) {
			for i := range f.cells() * f.width() {
				e.Sections[0][i/64] |= 1 << (i % 64)
			}
			e.Keys = f.cells() * copies
		}, true},
		"the cells of others": {func(e *filter.Encoded) { slices.Reverse(e.Sections[0][:len(e.Sections[0])-1]); e.Keys = 0 }, false},
		"no counter": {func(e *filter.Encoded) {
			e.Spec = filter.NewSpec(Family, "buckets", 5, "capacity", 100, "remainder", 9)
		}, false},
		"no remainder":      {func(e *filter.Encoded) { e.Spec = e.Spec.With("remainder", 0) }, false},
		"no capacity":       {func(e *filter.Encoded) { e.Spec = e.Spec.With("capacity", 0) }, false},
		"a large capacity":  {func(e *filter.Encoded) { e.Spec = e.Spec.With("capacity", uint64(math.MaxUint64)) }, false},
		"capacity of cells": {func(e *filter.Encoded) { e.Spec = e.Spec.With("capacity", 160) }, true},
		"more than cells":   {func(e *filter.Encoded) { e.Spec = e.Spec.With("capacity", 161) }, false},
		"many buckets":      {func(e *filter.Encoded) { e.Spec = e.Spec.With("buckets", uint64(math.MaxUint64)) }, false},
		"a size":            {func(e *filter.Encoded) { e.Spec = e.Spec.With("bytes", 9) }, false},
		"counter=1":         {func(e *filter.Encoded) { e.Spec = e.Spec.With("counter", 1) }, false},
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
		for _, h := range filtertest.Hashes(300, 9) { // nothing of it may panic
			_, _ = got.Has(h), got.Count(h)
			_ = got.Add(h)
			_ = got.Remove(h)
		}
		if i := got.Info(); !(i.FPRPrior >= 0 && i.FPRPrior <= 1 && i.FPRPosterior >= 0 && i.FPRPosterior <= 1) {
			t.Errorf("%s: %+v", name, i)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Size: filter.Sizing{FPR: math.NaN()}}, {Size: filter.Sizing{FPR: 1e-11}}, {Size: filter.Sizing{BitsPerKey: 5.3}}, {Remainder: 3},
		{Remainder: 33}, {Counter: 1}, {Counter: 3}, {Remainder: 12, Size: filter.Sizing{FPR: 0.1}}, {Keys: 1000, Size: filter.Sizing{Bytes: 100}},
		{Keys: 1000, Buckets: 31}, {Counter: 2, Size: filter.Sizing{BitsPerKey: 7.9}},
	} {
		if _, err := New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("New(%+v): %v, want ErrConfig", c, err)
		}
	}
	for _, c := range []Config{{Capacity: math.MaxUint64}, {Buckets: maxBuckets + 1}, {Buckets: maxBuckets}, {Keys: 1 << 63}, {Size: filter.Sizing{Bytes: 1 << 60}}} {
		if _, err := New(c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("New(%+v): %v, want ErrTooLarge", c, err)
		}
	}
	for _, c := range []struct {
		c    Config
		want string
	}{
		{Config{}, "dleft(buckets=1,capacity=1,counter=0,remainder=7)"},
		{Config{Keys: 24}, "dleft(buckets=1,capacity=24,counter=0,remainder=12)"},
		{Config{Keys: 25}, "dleft(buckets=2,capacity=25,counter=0,remainder=11)"},
		{Config{Keys: 1000, Capacity: 2000, Counter: 2}, "dleft(buckets=84,capacity=2000,counter=2,remainder=12)"},
		{Config{Keys: 2400, Size: filter.Sizing{BitsPerKey: 16}}, "dleft(buckets=100,capacity=2400,counter=0,remainder=12)"},
		{Config{Keys: 2400, Size: filter.Sizing{BitsPerKey: 16}, Counter: 2}, "dleft(buckets=100,capacity=2400,counter=2,remainder=10)"},
		{Config{Keys: 2400, Size: filter.Sizing{Bytes: 4800}}, "dleft(buckets=100,capacity=2400,counter=0,remainder=12)"},
		{Config{Keys: 2400, Size: filter.Sizing{BitsPerKey: 4000}}, "dleft(buckets=100,capacity=2400,counter=0,remainder=32)"},
	} {
		if got := must(t, c.c).Info().Spec.String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.c, got, c.want)
		}
	}
}

// TestBatch asks in batches as if the filter were larger than the caches: below that HasMany is Has.
func TestBatch(t *testing.T) {
	hs := filtertest.Hashes(20_000, 1)
	f := build(t, Config{Keys: 20_000}, hs)
	asked := append(hs[:len(hs):len(hs)], filtertest.Hashes(20_001, 2)...)
	got := make([]bool, len(asked))
	f.hasMany(got, asked)
	for i, h := range asked {
		if got[i] != f.Has(h) {
			t.Fatalf("key %d: %v, Has says %v", i, got[i], f.Has(h))
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	const n = 1_000_000
	for _, counter := range []uint{0, counterBits} {
		f := must(b, Config{Keys: n, Capacity: n + 1000, Counter: counter})
		hs, absent := filtertest.Hashes(n, 1), filtertest.Hashes(n, 2)
		for _, h := range hs {
			_ = f.Add(h)
		}
		i, hits := 0, 0
		for _, c := range []struct {
			name string
			op   func(i int)
		}{
			{"op=has/hit=1", func(i int) { hits += btoi(f.Has(hs[i])) }},
			{"op=has/hit=0", func(i int) { hits += btoi(f.Has(absent[i])) }},
			{"op=count", func(i int) { hits += int(f.Count(hs[i])) }},
			{"op=add+remove", func(i int) { _ = f.Add(absent[i]); _ = f.Remove(absent[i]) }},
		} {
			b.Run(fmt.Sprintf("%s/family=dleft/n=1e6/counter=%d", c.name, counter), func(b *testing.B) {
				for b.Loop() {
					c.op(i)
					if i++; i == n {
						i = 0
					}
				}
			})
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
