package dleft

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

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
			c := Config{Keys: uint64(n), Counting: seed%2 == 1}
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

// TestFewRemainders builds tables in which a value has many keys, of which an order of the keys by remainder makes a
// full one.
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

// TestBuilder gives keys twice: they count once in the plain form and twice in the counting one. A builder that does
// not know the number of keys makes room for all that come, duplicates included, as one does that is told how many will
// come.
func TestBuilder(t *testing.T) {
	hs := filtertest.Hashes(1000, 9)
	for counter, want := range map[uint]uint64{0: 1, counterBits: 2} {
		f := build(t, Config{Keys: 1000, Remainder: 20, Counting: counter > 0}, append(hs[:1000:1000], hs...))
		if n := f.Info().Keys; n != want*1000 || countOf(f, hs[5]) != want {
			t.Errorf("counter=%d: %d keys, count %d", counter, n, countOf(f, hs[5]))
		}
		for _, keys := range [][]filter.Hash{hs, append(hs[:1000:1000], hs...)} {
			unknown := build(t, Config{Remainder: 20, Counting: counter > 0}, keys)
			if unknown.capacity != uint64(len(keys)) {
				t.Errorf("capacity %d of a builder that did not know its %d keys", unknown.capacity, len(keys))
			}
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Size: family.Sizing{FPR: math.NaN()}}, {Size: family.Sizing{FPR: 1e-11}}, {Size: family.Sizing{BitsPerKey: 5.3}},
		{Remainder: 3},
		{Remainder: 33}, {Remainder: 12, Size: family.Sizing{FPR: 0.1}}, {Keys: 1000, Size: family.Sizing{Bytes: 100}},
		{Keys: 2400, Size: family.Sizing{BitsPerKey: 4000}}, {Keys: 2400, Size: family.Sizing{Bytes: 13200}},
		{Keys: 1000, Buckets: 31}, {Counting: true, Size: family.Sizing{BitsPerKey: 7.9}},
	} {
		if _, err := New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("New(%+v): %v, want ErrConfig", c, err)
		}
	}
	for _, c := range []Config{{Capacity: math.MaxUint64}, {Buckets: maxBuckets + 1}, {Buckets: maxBuckets}, {Keys: 1 << 63}, {Size: family.Sizing{Bytes: 1 << 60}}} {
		if _, err := New(c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("New(%+v): %v, want ErrTooLarge", c, err)
		}
	}
	for _, c := range []struct {
		c    Config
		want string
	}{
		{Config{}, "dleft(buckets=1,capacity=1,remainder=7)"},
		{Config{Keys: 24}, "dleft(buckets=1,capacity=24,remainder=12)"},
		{Config{Keys: 25}, "dleft(buckets=2,capacity=25,remainder=11)"},
		{Config{Keys: 1000, Capacity: 2000, Counting: true}, "dleft(buckets=84,capacity=2000,counting=1,remainder=12)"},
		{Config{Keys: 2400, Size: family.Sizing{BitsPerKey: 16}}, "dleft(buckets=100,capacity=2400,remainder=12)"},
		{Config{Keys: 2400, Size: family.Sizing{BitsPerKey: 16}, Counting: true},
			"dleft(buckets=100,capacity=2400,counting=1,remainder=10)"},
		{Config{Keys: 2400, Size: family.Sizing{Bytes: 4800}}, "dleft(buckets=100,capacity=2400,remainder=12)"},
		{Config{Keys: 2400, Size: family.Sizing{BitsPerKey: 43}}, "dleft(buckets=100,capacity=2400,remainder=32)"},
		{Config{Keys: 2400, Size: family.Sizing{Bytes: 13000}}, "dleft(buckets=100,capacity=2400,remainder=32)"},
	} {
		if got := must(t, c.c).Info().Spec.String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.c, got, c.want)
		}
	}
}
