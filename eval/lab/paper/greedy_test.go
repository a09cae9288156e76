package paper

import (
	"context"
	"errors"
	"flag"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// long is set if the published search also runs at full size.
var long = flag.Bool("long", false, "run the published search at full size too: about a minute")

// searched builds a filter of internal/family/partitioned and returns its rate p_a.
func searched(t *testing.T, c partitioned.Config, hs []filter.Hash) float64 {
	t.Helper()
	b, err := partitioned.NewBuilder(c)
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
	return f.Info().FPRPosterior
}

// TestGreedy runs the published search: fills fall, the choices of a group are different functions, exactly the bits of
// the keys are set, and the rate is far below the rate of a standard filter. The search of internal/family/partitioned
// must be better.
func TestGreedy(t *testing.T) {
	const n, m, g, h, k = 1000, 8000, 25, 256, 6
	hs := filtertest.Hashes(n, 4)
	r := Greedy{Keys: n, Groups: g, Functions: h, K: k, Bits: GreedyBits(m, g, k, h)}
	if r.Bits != m-g*k*8 {
		t.Fatalf("%d bits are left", r.Bits)
	}
	r.Group, r.Bit = RandomFunctions(hs, g, r.Bits)
	c, err := r.searchSlowly(t.Context(), 20)
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
		t.Error("the bits are not the bits of the keys")
	}
	for i := 1; i < len(c.Fills); i++ {
		if c.Fills[i] > c.Fills[i-1] {
			t.Errorf("the fill rises from %g to %g", c.Fills[i-1], c.Fills[i])
		}
	}
	greedy := math.Pow(c.Fills[len(c.Fills)-1], k)
	ours := searched(t, partitioned.Config{Effort: filter.Effort{Level: filter.Default}}, hs)
	t.Logf("%d passes, fills %.4f, rate %.4f; the search has %.4f", len(c.Fills)-1, c.Fills, greedy, ours)
	if greedy > 0.017 || ours > greedy {
		t.Errorf("rate %g, the search has %g", greedy, ours)
	}
}

// TestGreedyFast compares Search with searchSlowly: with few bits, so that functions collide, with groups without keys,
// with more passes than change anything, and with K = H.
func TestGreedyFast(t *testing.T) {
	for i, r := range []Greedy{
		{Keys: 300, Groups: 10, Functions: 40, K: 5, Bits: 2000},
		{Keys: 300, Groups: 10, Functions: 40, K: 5, Bits: 130},
		{Keys: 20, Groups: 40, Functions: 7, K: 7, Bits: 50},
		{Keys: 50, Groups: 1, Functions: 64, K: 3, Bits: 1},
		{Keys: 0, Groups: 3, Functions: 4, K: 2, Bits: 10},
	} {
		r.Group, r.Bit = RandomFunctions(filtertest.Hashes(r.Keys, uint64(i)), r.Groups, r.Bits)
		for _, passes := range []int{0, 1, 30} {
			plain, err := r.searchSlowly(t.Context(), passes)
			fast, err2 := r.Search(t.Context(), passes)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			if !reflect.DeepEqual(plain, fast) {
				t.Errorf("case %d, %d passes: fills %v, plain %v", i, passes, fast.Fills, plain.Fills)
			}
		}
	}
	r := Greedy{Keys: 4, Groups: 1, Functions: 1 << 30, K: 1, Bits: 9, Group: func(int) int { return 0 }}
	if _, err := r.Search(t.Context(), 1); !errors.Is(err, filter.ErrTooLarge) {
		t.Errorf("2^32 visits: %v", err)
	}
}

// TestGreedyStop requires that a search that is stopped after pass p has the same result as a search of p passes, that
// a search that is never stopped runs to its end, and that one pass is made before Stop is called.
func TestGreedyStop(t *testing.T) {
	r := Greedy{Keys: 300, Groups: 10, Functions: 40, K: 5, Bits: 2000}
	r.Group, r.Bit = RandomFunctions(filtertest.Hashes(r.Keys, 6), r.Groups, r.Bits)
	whole, err := r.searchSlowly(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	most := len(whole.Fills) - 1
	if most < 3 {
		t.Fatalf("%d passes", most)
	}
	for _, passes := range []int{1, 2, most} {
		want, err := r.searchSlowly(t.Context(), passes)
		if err != nil {
			t.Fatal(err)
		}
		stopped, asked := r, 0
		stopped.Stop = func(fills []float64) bool {
			asked++
			return len(fills)-1 == passes
		}
		plain, err := stopped.searchSlowly(t.Context(), 30)
		fast, err2 := stopped.Search(t.Context(), 30)
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
	if c, err := r.Search(t.Context(), 30); err != nil || len(c.Fills) != 2 {
		t.Errorf("stopped at once: fills %v, %v", c.Fills, err)
	}
	r.Stop = func([]float64) bool { return false }
	if c, err := r.Search(t.Context(), 30); err != nil || !reflect.DeepEqual(c, whole) {
		t.Errorf("never stopped: fills %v, want %v, %v", c.Fills, whole.Fills, err)
	}
}

// TestGreedyPublished reproduces the first row of Table 2, 0.0098, with the parameters of the paper, and logs the times
// of the published search and of ours.
func TestGreedyPublished(t *testing.T) {
	if !*long {
		t.Skip("takes a minute: give -long")
	}
	const n, m, g, h, k = 10_000, 80_000, 250, 16384, 6
	hs := filtertest.Hashes(n, 1)
	r := Greedy{Keys: n, Groups: g, Functions: h, K: k, Bits: GreedyBits(m, g, k, h)}
	r.Group, r.Bit = RandomFunctions(hs, g, r.Bits)
	start := time.Now()
	c, err := r.Search(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	rate := math.Pow(c.Fills[len(c.Fills)-1], k)
	start = time.Now()
	ours := searched(t, partitioned.Config{Size: family.Sizing{BitsPerKey: 8}}, hs)
	t.Logf("paper: rate %.4f after %d passes, %v; here %.4f, %v (%.0f times as fast)", rate, len(c.Fills)-1, took,
		ours, time.Since(start), float64(took)/float64(time.Since(start)))
	if math.Abs(rate/0.0098-1) > 0.03 {
		t.Errorf("rate %.4f, published 0.0098", rate)
	}
}

// searchSlowly runs the algorithm as the paper describes it, in Keys·Functions·K steps per pass.
func (r Greedy) searchSlowly(ctx context.Context, passes int) (GreedyChoice, error) {
	members, _ := r.members()
	counts := make([]int, r.Bits)
	choose := func(keys []int) []int { return r.choose(counts, keys) }
	remove := func(keys []int, j int) { r.count(counts, keys, j, -1) }
	return r.search(ctx, passes, members, counts, choose, remove)
}

// choose chooses K functions for the keys of a group, one after the other, counts their bits and returns them.
func (r Greedy) choose(counts []int, keys []int) (chosen []int) {
	taken := make([]bool, r.Functions)
	for range r.K {
		best, fewest := -1, 0
		for j := range r.Functions {
			if taken[j] {
				continue
			}
			fresh := 0
			for _, key := range keys {
				b := r.Bit(key, j)
				if counts[b] == 0 {
					fresh++
				}
				counts[b]++
			}
			r.count(counts, keys, j, -1)
			if best < 0 || fresh < fewest {
				best, fewest = j, fresh
			}
		}
		taken[best] = true
		chosen = append(chosen, best)
		r.count(counts, keys, best, 1)
	}
	return chosen
}

func (r Greedy) count(counts []int, keys []int, j, by int) {
	for _, key := range keys {
		counts[r.Bit(key, j)] += by
	}
}
