package rih

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestRIHPublished compares all computed values with the paper: the rows of differ must disagree, all others agree.
func TestRIHPublished(t *testing.T) {
	differ := map[string]bool{
		"load > 128, Poisson tail":                                                    true,
		"ε = 0.1%, J2/B, %, for Z1 = 63 by equation 1":                                true,
		"ε = 0.01%, rate λ/2^r, published configuration":                              true,
		"ε = 0.1%, d-left by formula, at the rate of the rank-indexed configuration":  true,
		"ε = 0.01%, d-left by formula, at the rate of the rank-indexed configuration": true,
		"ε = 0.01%, rank-indexed, % of a Bloom filter of that rate":                   true,
		"ε = 0.1%, Bloom filter of rate λ/2^r that compresses to the rank-indexed":    true,
		"ε = 0.01%, Bloom filter of rate λ/2^r that compresses to the rank-indexed":   true,
		"ε = 0.01%, Bloom filter of rate ε that compresses to the d-left":             true,
	}
	agree, not := 0, 0
	for _, e := range []experiment.Experiment{table1, table2, table3, table4, table5} {
		r, err := e.Do(t.Context(), experiment.Config{Quick: true, Trials: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if row.Agrees == nil {
				continue
			}
			// In Table IV the d-left sizes agree.
			want := !differ[row.Label] || e.Name == table4.Name
			if *row.Agrees != want {
				t.Errorf(
					"%s, %s: %g published, %g ± %.2g computed",
					e.Name,
					row.Label,
					*row.Published,
					row.Measured,
					row.Tolerance,
				)
			}
			if *row.Agrees {
				agree++
			} else {
				not++
			}
		}
	}
	if agree < 39 || not != len(differ) {
		t.Errorf("%d rows agree and %d do not", agree, not)
	}
}

// TestRIHConfig tests geometry, share, overflow, rounded and digits of a configuration.
func TestRIHConfig(t *testing.T) {
	c := configs[0]
	g := c.geometry(paperKeys, false)
	if g.Buckets != 2604 || g.Pools[1] != 467 || g.Pools[2] != 71 || g.Counting || c.rate() != 0.01 {
		t.Errorf("%+v, rate %g", g, c.rate())
	}
	// The share of equation 1 is the lowest that keeps the bound.
	share := c.share(45)
	if at, below := c.overflow(45, share+1e-9), c.overflow(45, share-100./2604+1e-9); at > paperOverflow ||
		below <= paperOverflow {
		t.Errorf("%.3f%%: bound %g, with one extension less %g", share, at, below)
	}
	low, high := c.rounded(func(c config) float64 { return 1 / c.lambda })
	if math.Abs(low-1/0.645) > 1e-12 || math.Abs(high-1/0.635) > 1e-12 {
		t.Errorf("%g to %g", low, high)
	}
	if r := c.digits("", 1.6, 0.1, func(c config) float64 { return 1 / c.lambda }); !*r.Agrees ||
		math.Abs(r.Tolerance-0.05-1/0.635+1/0.64) > 1e-12 {
		t.Errorf("%+v", r)
	}
}

// TestOverloads compares the loads of thrown balls with the Poisson distribution.
func TestOverloads(t *testing.T) {
	over := overloads(rand.NewPCG(1, 2), 50_000, 8, 12)
	for k, share := range over {
		want := stat.PoissonTail(8, k)
		if math.Abs(share-want) > 5*math.Sqrt(want*(1-want)/50_000)+1e-4 {
			t.Errorf("load > %d: %g, want %g", k, share, want)
		}
	}
	if len(over) != 13 {
		t.Errorf("%d loads", len(over))
	}
}

// TestCompressAnyTo requires the result of Compressed for whole numbers of probes.
func TestCompressAnyTo(t *testing.T) {
	for _, c := range []struct {
		bits float64
		k    int
	}{{28, 4}, {48, 3}, {14, 2}, {92, 1}} {
		rate, size := paper.Compressed(c.bits, c.k)
		if bits, k := compressAnyTo(rate, size); math.Abs(bits/c.bits-1) > 1e-6 || math.Abs(k-float64(c.k)) > 1e-6 {
			t.Errorf("rate %g to %g bits: %g bits with %g probes, want %g with %d", rate, size, bits, k, c.bits, c.k)
		}
	}
	if bits, k := compressAnyTo(1./1024, 100); math.Abs(bits-10/math.Ln2) > 1e-9 || math.Abs(k-10) > 1e-9 {
		t.Errorf("without compression: %g bits with %g probes", bits, k)
	}
}

// TestTrimmed compares the bits of a trimmed filter with the formula.
func TestTrimmed(t *testing.T) {
	const n = 5000
	_, g, err := searches(n, 0.01, false)
	if err != nil {
		t.Fatal(err)
	}
	c := experiment.Config{Seed: 1}
	bits, err := trimmed(g, c.Hashes(n, 1))
	want := float64(g.Buckets)*float64(g.Chains)/n + float64(g.Remainder) + 1
	if err != nil || bits < want || bits > want+64./n {
		t.Errorf("%g bits per key, want %g: %v", bits, want, err)
	}
	g = rankindexed.Geometry{Capacity: 10, Buckets: 1, Chains: 4, Cells: [3]int{9}, Remainder: 3}
	if _, err := trimmed(g, c.Hashes(10, 1)); err == nil {
		t.Error("ten keys in nine cells")
	}
}
