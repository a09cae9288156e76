package dleft

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

var long = flag.Bool("long", false, "compare the filter with a map over 10^7 operations, and fill 1000 filters of every size")

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
	// Remainders of 4 bits make most keys look like others. One bucket per subtable makes the filter full.
	configs := []Config{{Remainder: 4}, {Remainder: 12}, {Remainder: 4, Counting: true}, {Remainder: 14, Counting: true}, {Remainder: 8, Buckets: 1, Capacity: 32}}
	for _, c := range configs {
		filtertest.Model(t, operations/len(configs), func(keys uint64) family.Filter {
			c.Keys = keys
			return must(t, c)
		})
	}
}

// TestPermutation checks, for all values of small tables, that each subtable permutes them and that back undoes it.
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

// TestLookAlikes removes half of the keys of a table so small that most keys look like others: none of the other keys
// may be lost. With independent buckets instead of permutations hundreds are.
func TestLookAlikes(t *testing.T) {
	for _, counter := range []uint{0, counterBits} {
		for seed := range uint64(20) {
			const n = 2000
			f := must(t, Config{Keys: n, Remainder: MinRemainder, Counting: counter > 0})
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
				if got, want := countOf(f, h), alike[f.place(h)]; got != want || !f.Has(h) {
					t.Fatalf("counter=%d seed=%d: key %d counts %d, want %d", counter, seed, i, got, want)
				}
			}
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

// TestCopies adds one key until there is no more room and removes it again.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		counter uint
		most    uint64
	}{{0, 32}, {counterBits, 128}} {
		f := must(t, Config{Keys: 10_000, Remainder: 11, Counting: c.counter > 0})
		hs := filtertest.Hashes(20, 3)
		for _, h := range hs[1:4] {
			_ = f.Add(h)
		}
		key := hs[0]
		for n := uint64(0); n < c.most; n++ {
			if err := f.Add(key); err != nil || countOf(f, key) != n+1 {
				t.Fatalf("copy %d: %v, count %d", n+1, err, countOf(f, key))
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
			if err := f.Remove(key); err != nil || countOf(f, key) != n-1 {
				t.Fatalf("removal of copy %d: %v, count %d", n, err, countOf(f, key))
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

// TestLeast checks that each copy of a key goes to the bucket with the fewest keys, the leftmost of equals.
func TestLeast(t *testing.T) {
	f := must(t, Config{Keys: 1000})
	key := filtertest.Hashes(1, 3)[0]
	p := f.place(key)
	for n := range 4 * cells {
		if err := f.Add(key); err != nil {
			t.Fatal(err)
		}
		for i, at := range p.at {
			want := n / subtables
			if i <= n%subtables {
				want++
			}
			if got := int(f.copiesIn(at, 255&^f.match(at, 0))); got != want {
				t.Fatalf("%d keys: %d in subtable %d, want %d", n+1, got, i, want)
			}
		}
	}
}

// TestCopiesInFewCells adds and removes one key at random: its copies never use more cells than they need.
func TestCopiesInFewCells(t *testing.T) {
	f := must(t, Config{Keys: 10, Remainder: 11, Counting: true})
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
		if used, all := f.count(); used != (n+copies-1)/copies || all != n || countOf(f, key) != n {
			t.Fatalf("%d copies take %d cells and count %d", n, used, all)
		}
	}
}

// TestFull adds many more keys than there is room for.
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
	if full == 0 || len(in) < 480 || f.Info().Keys != uint64(len(in)) || f.Info().Keys < f.Info().Capacity {
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

// TestCells compares the operations on sliced bits with operations on single cells, for every width.
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

// fill sets random bits of the buckets, so that few remainders are different.
func fill(f *Filter, r *rand.Rand) {
	for i := range f.cells() * f.width() {
		f.words[i/64] |= uint64(r.IntN(8)&1&r.IntN(2)) << (i % 64)
	}
}

// TestHas compares Has with match, for every width.
func TestHas(t *testing.T) {
	for remainder := uint(MinRemainder); remainder <= MaxRemainder; remainder++ {
		f := must(t, Config{Keys: 500, Remainder: uint(remainder), Counting: remainder%2 == 1})
		hs := filtertest.Hashes(500, uint64(remainder))
		for _, h := range hs {
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
		for i, h := range append(hs, filtertest.Hashes(2000, 99)...) {
			if got := f.Has(h); got != (countOf(f, h) > 0) || i < 500 && !got {
				t.Fatalf("remainder %d, key %d: Has says %v, Count %d", remainder, i, got, countOf(f, h))
			}
		}
	}
}

// TestBatch calls hasMany, which HasMany calls only for filters larger than the caches.
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
		f := must(b, Config{Keys: n, Capacity: n + 1000, Counting: counter > 0})
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
			{"op=count", func(i int) { hits += int(countOf(f, hs[i])) }},
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

// countOf returns the count of a key, saturated or not.
func countOf(c family.Counter, h filter.Hash) uint64 {
	n, _ := c.Count(h)
	return n
}

// TestKernel compares the assembly with holds, for all lengths of remainders, in tables so small that absent keys share
// remainders with present ones.
func TestKernel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for remainder := MinRemainder; remainder <= 20; remainder++ {
		for _, counting := range []bool{false, true} {
			for _, capacity := range []uint64{1, 30, 1000} {
				f, err := New(Config{Capacity: capacity, Remainder: uint(remainder), Counting: counting})
				if err != nil {
					t.Fatal(err)
				}
				var hs []filter.Hash
				for range 3 * capacity {
					hs = append(hs, filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()})
				}
				for _, h := range hs[:capacity] {
					if err := f.Add(h); err != nil {
						t.Fatal(err)
					}
				}
				for _, h := range hs[:capacity] { // the remainder of a present key in another bucket
					hs = append(hs, filter.Hash{Hi: h.Hi, Lo: r.Uint64()})
				}
				many := make([]bool, len(hs))
				f.HasMany(many, hs)
				for i, h := range hs {
					p := f.place(h)
					if want := f.holds(&p); f.Has(h) != want || many[i] != want {
						t.Fatalf("remainder %d, key %d of %d: %v, %v in a batch, want %v", remainder, i, len(hs), f.Has(h), many[i], want)
					}
				}
			}
		}
	}
}
