package partitioned

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestReference runs the paper's algorithm and holds the outcome against its promise: fills
// fall, choices are different functions, all bits of all keys and no others are set, and the rate is far below that of a
// standard filter; then against the search of this package, which must be better.
func TestReference(t *testing.T) {
	const n, m, g, h, k = 1000, 8000, 25, 256, 6
	hs := filtertest.Hashes(n, 4)
	r := Reference{Keys: n, Groups: g, Functions: h, K: k, Bits: ReferenceBits(m, g, k, h)}
	if r.Bits != m-g*k*8 {
		t.Fatalf("%d bits are left", r.Bits)
	}
	r.Group, r.Bit = RandomFunctions(hs, g, r.Bits)
	c, err := r.Search(t.Context(), 20)
	if err != nil {
		t.Fatal(err)
	}
	set := make([]bool, r.Bits)
	for key := range n {
		chosen := c.Functions[r.Group(key)]
		if len(chosen) != k || len(slices.Compact(slices.Sorted(slices.Values(chosen)))) != k {
			t.Fatalf("group %d chose %v", r.Group(key), chosen)
		}
		for _, j := range chosen {
			set[r.Bit(key, j)] = true
		}
	}
	if !slices.Equal(set, c.Set) {
		t.Error("the bits are not those of the keys")
	}
	for i := 1; i < len(c.Fills); i++ {
		if c.Fills[i] > c.Fills[i-1] {
			t.Errorf("the fill rises from %g to %g", c.Fills[i-1], c.Fills[i])
		}
	}
	greedy := math.Pow(c.Fills[len(c.Fills)-1], k)
	ours := build(t, Config{Effort: filter.Effort{Level: filter.Default}}, hs).posterior()
	t.Logf("%d passes, fills %.4f, rate %.4f; the search has %.4f", len(c.Fills)-1, c.Fills, greedy, ours)
	if greedy > 0.017 || ours > greedy {
		t.Errorf("rate %g, the search has %g", greedy, ours)
	}
}

// TestReferenceFast holds SearchFast against Search: few bits, so that functions meet, groups without keys, more passes
// than there are changes, and as many functions as are taken.
func TestReferenceFast(t *testing.T) {
	for i, r := range []Reference{
		{Keys: 300, Groups: 10, Functions: 40, K: 5, Bits: 2000},
		{Keys: 300, Groups: 10, Functions: 40, K: 5, Bits: 130},
		{Keys: 20, Groups: 40, Functions: 7, K: 7, Bits: 50},
		{Keys: 50, Groups: 1, Functions: 64, K: 3, Bits: 1},
		{Keys: 0, Groups: 3, Functions: 4, K: 2, Bits: 10},
	} {
		r.Group, r.Bit = RandomFunctions(filtertest.Hashes(r.Keys, uint64(i)), r.Groups, r.Bits)
		for _, passes := range []int{0, 1, 30} {
			plain, err := r.Search(t.Context(), passes)
			fast, err2 := r.SearchFast(t.Context(), passes)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if !reflect.DeepEqual(plain, fast) {
				t.Errorf("case %d, %d passes: fills %v, plain %v", i, passes, fast.Fills, plain.Fills)
			}
		}
	}
	r := Reference{Keys: 4, Groups: 1, Functions: 1 << 30, K: 1, Bits: 9, Group: func(int) int { return 0 }}
	if _, err := r.SearchFast(t.Context(), 1); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("2^32 visits: %v", err)
	}
}

// TestReferenceStop ends both searches after a pass: they then have what so many passes give. What never stops goes on to the
// end, and the first choice is made whatever Stop says.
func TestReferenceStop(t *testing.T) {
	r := Reference{Keys: 300, Groups: 10, Functions: 40, K: 5, Bits: 2000}
	r.Group, r.Bit = RandomFunctions(filtertest.Hashes(r.Keys, 6), r.Groups, r.Bits)
	whole, err := r.Search(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	most := len(whole.Fills) - 1
	if most < 3 {
		t.Fatalf("%d passes", most)
	}
	for _, passes := range []int{1, 2, most} {
		want, err := r.Search(t.Context(), passes)
		if err != nil {
			t.Fatal(err)
		}
		stopped, asked := r, 0
		stopped.Stop = func(fills []float64) bool {
			asked++
			return len(fills)-1 == passes
		}
		plain, err := stopped.Search(t.Context(), 30)
		fast, err2 := stopped.SearchFast(t.Context(), 30)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if !reflect.DeepEqual(plain, want) || !reflect.DeepEqual(fast, want) {
			t.Errorf("stopped after %d passes: fills %v, fast %v, want %v", passes, plain.Fills, fast.Fills, want.Fills)
		}
		if passes < most && asked != 2*passes {
			t.Errorf("asked %d times in two searches of %d passes", asked, passes)
		}
	}
	r.Stop = func([]float64) bool { return true }
	if c, err := r.SearchFast(t.Context(), 30); err != nil || len(c.Fills) != 2 {
		t.Errorf("stopped at once: fills %v, %v", c.Fills, err)
	}
	r.Stop = func([]float64) bool { return false }
	if c, err := r.SearchFast(t.Context(), 30); err != nil || !reflect.DeepEqual(c, whole) {
		t.Errorf("never stopped: fills %v, want %v, %v", c.Fills, whole.Fills, err)
	}
}

// TestPublished reproduces the first row of Table 2 with the paper's parameters, 0.0098, and sets its time beside ours.
func TestPublished(t *testing.T) {
	if !*long {
		t.Skip("takes minutes: give -long")
	}
	const n, m, g, h, k = 10_000, 80_000, 250, 16384, 6
	hs := filtertest.Hashes(n, 1)
	r := Reference{Keys: n, Groups: g, Functions: h, K: k, Bits: ReferenceBits(m, g, k, h)}
	r.Group, r.Bit = RandomFunctions(hs, g, r.Bits)
	start := time.Now()
	c, err := r.SearchFast(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	rate := math.Pow(c.Fills[len(c.Fills)-1], k)
	start = time.Now()
	ours := build(t, Config{Size: filter.Sizing{BitsPerKey: 8}}, hs)
	t.Logf("paper: rate %.4f after %d passes, %v; here %.4f, %v (%.0f times as fast)", rate, len(c.Fills)-1, took,
		ours.posterior(), time.Since(start), float64(took)/float64(time.Since(start)))
	if math.Abs(rate/0.0098-1) > 0.03 {
		t.Errorf("rate %.4f, published 0.0098", rate)
	}
}
