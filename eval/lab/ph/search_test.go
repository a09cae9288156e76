package ph

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/experiment"
	"github.com/bloomery/bloomery/eval/lab/figure"
	"github.com/bloomery/bloomery/eval/lab/paper"
)

// TestFound queries a filter of the published search under both hashings. The filter must contain its keys, and absent
// keys at the rate p_a.
func TestFound(t *testing.T) {
	const absent = 100_000
	p := published{n: 500, m: 4000, g: 10, h: 64, k: 6}
	c := experiment.Config{Seed: 3}
	r := rand.New(rand.NewPCG(5, 6))
	var keys [][]byte
	for range p.n + absent {
		keys = append(keys, alter([]byte("thirteen bytes or so"), r))
	}
	for name, with := range map[string]functions{"random": p.random(c.Hashes(p.n+absent, 0)), "crc": p.crc(keys)} {
		f, err := p.search(t.Context(), with)
		if err != nil {
			t.Fatal(err)
		}
		if in := f.over(with, 0, p.n); in.Hits != uint64(p.n) {
			t.Errorf("%s: %d of %d keys are in the filter", name, in.Hits, p.n)
		}
		out := f.over(with, p.n, p.n+absent)
		sigma := math.Sqrt(f.rate() * absent)
		if math.Abs(float64(out.Hits)-f.rate()*absent) > 4.5*sigma {
			t.Errorf("%s: %d of %d absent keys, p_a is %.5f", name, out.Hits, out.Of, f.rate())
		}
		if f.rate() >= f.rateAfter(0) || f.rateAfter(1000) != f.rate() {
			t.Errorf("%s: passes lead from %.5f to %.5f", name, f.rateAfter(0), f.rate())
		}
	}
}

// TestSettled compares the search that ends when three digits of the fill are settled with the search to the end.
func TestSettled(t *testing.T) {
	p := published{n: 1000, m: 8000, g: 25, h: 128, k: 6}
	for trial := range 3 {
		with := p.random((&experiment.Config{Seed: 4}).Hashes(p.n, trial))
		early, err := p.search(t.Context(), with)
		late, err2 := p.searchUntil(t.Context(), with, nil)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		passes := late.settled()
		if len(early.Fills) != passes+1 || early.rate() != late.rateAfter(passes) || passes >= len(late.Fills)-1 {
			t.Errorf(
				"ends after %d passes with %.5f, of %d, of which %d settle it with %.5f",
				len(early.Fills)-1,
				early.rate(),
				len(late.Fills)-1,
				passes,
				late.rateAfter(passes),
			)
		}
	}
	for _, c := range []struct {
		fills []float64
		want  bool
	}{{nil, false}, {[]float64{0.5}, false}, {[]float64{0.5014, 0.5006}, true}, {[]float64{0.5006, 0.5004}, false},
		{[]float64{0.5, 0.5, 0.4}, false}} {
		if settled(c.fills) != c.want {
			t.Errorf("%v: %t", c.fills, !c.want)
		}
	}
}

// TestOverAltered requires the same result whatever number of altered payloads is queried at once.
func TestOverAltered(t *testing.T) {
	const all = 20_001
	p := published{n: 500, m: 4000, g: 10, h: 64, k: 6}
	r := rand.New(rand.NewPCG(7, 8))
	var keys [][]byte
	for range 2 * p.n {
		keys = append(keys, alter([]byte("four"), r))
	}
	f, err := p.search(t.Context(), p.crc(keys))
	if err != nil {
		t.Fatal(err)
	}
	member := map[string]bool{}
	for _, k := range keys[:p.n] {
		member[string(k)] = true
	}
	tallies := map[experiment.Tally]bool{}
	for _, atOnce := range []int{1, 7, 4096, all, 2 * all} {
		c := f.overAltered(rand.New(rand.NewPCG(9, 10)), keys[p.n:], member, all, atOnce)
		if c.Of != all || c.Hits == 0 {
			t.Errorf("%d at a time: %+v", atOnce, c)
		}
		tallies[c] = true
	}
	if len(tallies) != 1 {
		t.Errorf("pieces of different sizes give %v", tallies)
	}
}

// TestFewest compares brute force with theory, for groups and for balls, and countOnes with the exact law.
func TestFewest(t *testing.T) {
	for _, c := range []struct{ n, m, k, g, t int }{{1000, 8000, 6, 50, 10}, {3000, 8000, 1, 3000, 3}} {
		var ends []float64
		for i := range uint64(30) {
			fills := fewest(c.n, c.m, c.k, c.g, c.t, rand.NewPCG(1, i))
			if len(fills) != c.g {
				t.Fatalf("%d fills", len(fills))
			}
			ends = append(ends, fills[c.g-1])
		}
		r := figure.Mean("", ends)
		want := paper.GroupFill(c.n, c.m, c.k, c.g, c.t)
		if spread := r.High - r.Low; math.Abs(r.Measured-want) > 1.2*spread || spread > 0.01 {
			t.Errorf("%+v: %.5f, from %.5f to %.5f, theory %.5f", c, r.Measured, r.Low, r.High, want)
		}
	}
	const m, throws, runs = 100, 71, 20_000
	mean, sd := moments(paper.NewBits(m, 0, throws))
	r, bitmap := rand.NewPCG(7, 8), make([]uint64, 2)
	var seen []float64
	for range runs {
		seen = append(seen, float64(countOnes(r, bitmap, m, throws)))
	}
	if got := figure.Mean("", seen); math.Abs(got.Measured-mean) > 4.5*sd/math.Sqrt(runs) {
		t.Errorf("%d throws set %.3f of %d bits, by the law %.3f", throws, got.Measured, m, mean)
	}
	if got := deviation("", seen); math.Abs(got.Measured/sd-1) > 0.03 {
		t.Errorf("deviation %.3f, by the law %.3f", got.Measured, sd)
	}
}
