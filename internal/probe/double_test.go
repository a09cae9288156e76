package probe

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

func walk(start, step *[2]uint64, i int, m uint64) (uint64, int, bool) {
	return (start[0] + uint64(i)*step[0]) % m, 0, false
}

func newDouble(m uint64, k int) Double { return Double{Bits: m, K: k, Word: 64, Pairs: 1, Probe: walk} }

// randomFilter returns the words of a filter with n random keys, and their number of set bits.
func randomFilter(d Double, n int, r *rand.Rand) (words []uint64, ones uint64) {
	words = make([]uint64, (d.Bits+63)/64)
	for range n {
		start, step := d.randomPair(r), d.randomPair(r)
		for i := range d.K {
			at, _, _ := d.Probe(&start, &step, i, d.Bits)
			ones += 1 &^ (words[at/64] >> (at % 64))
			words[at/64] |= 1 << (at % 64)
		}
	}
	return words, ones
}

// TestDoubleExact checks that Posterior is the share of all pairs of a start and a step whose probes hit only set bits.
// The filters have 2^e bits, so no other bits of a hash matter.
func TestDoubleExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		m    uint64
		k, n int
	}{{64, 1, 3}, {64, 7, 1}, {64, 20, 3}, {128, 14, 4}, {512, 10, 30}} {
		d := newDouble(c.m, c.k)
		words, ones := randomFilter(d, c.n, r)
		present := 0
		for start := range c.m {
			for step := range c.m {
				in := true
				for i := range uint64(c.k) {
					at := (start + i*step) % c.m
					in = in && words[at/64]>>(at%64)&1 == 1
				}
				if in {
					present++
				}
			}
		}
		want := float64(present) / float64(c.m*c.m)
		if got := d.Posterior(words, ones); math.Abs(got-want) > 1e-12 {
			t.Errorf("m=%d k=%d n=%d: posterior %g, of all pairs %g", c.m, c.k, c.n, got, want)
		}
	}
}

// TestDoubleModel compares the rates of filters above modelBits and exactBits, which follow from a smaller model, with
// the shares of many steps: the special ones and random others, each with all of its starts. It allows an error of 30%
// of the excess over independent probes, several standard errors of both, and of 2% of the rate.
func TestDoubleModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		m    uint64
		k, n int
	}{{20032, 20, 690}, {1 << 15, 20, 1100}, {64 * 3 * 113, 14, 1100}, {40001, 7, 4000}} {
		d := newDouble(c.m, c.k)
		var posterior, want, plain float64
		const filters = 8
		for range filters {
			words, ones := randomFilter(d, c.n, r)
			posterior += d.Posterior(words, ones) / filters
			want += d.sampler().sampledRate(newCover(words, c.m), r, 10*effort) / filters
			plain += math.Pow(float64(ones)/float64(c.m), float64(c.k)) / filters
		}
		prior := d.FPR(uint64(c.n))
		for name, got := range map[string]float64{"prior": prior, "posterior": posterior} {
			if math.Abs(got-want) > 0.3*(want-plain)+0.02*want {
				t.Errorf("m=%d k=%d n=%d: %s %.3g, of many steps %.3g, independent %.3g", c.m, c.k, c.n, name, got, want, plain)
			}
		}
	}
}

// TestDoubleLarge checks the rate of large filters against the rate of independent probes.
func TestDoubleLarge(t *testing.T) {
	for _, c := range []struct {
		m, n uint64
		k    int
	}{{10 << 20, 1 << 20, 7}, {1 << 40, 1 << 36, 5}, {1 << 20, 1, 7}, {64, 1 << 60, 7}, {1, 5, 1}, {3, 5, 9}} {
		got, want := newDouble(c.m, c.k).FPR(c.n), FPR(c.n, c.m, c.k)
		if c.n > 1 && math.Abs(got/want-1) > 2e-3 {
			t.Errorf("%+v: rate %g, of independent probes %g", c, got, want)
		}
		if !(got >= 0 && got <= 1) {
			t.Errorf("%+v: rate %g", c, got)
		}
	}
}

// TestDoubleWork bounds the work for untrusted files: filters in which no probe fails early, with the largest number of
// probes, in a chain of many. It compares times with the time of a loop in the same run.
func TestDoubleWork(t *testing.T) {
	const links = 2000
	d := newDouble(exactBits, 1075)
	d.Parts = links
	words := make([]uint64, exactBits/64)
	for i := range words {
		words[i] = math.MaxUint64
	}
	words[0]--
	begin, sum := time.Now(), uint64(0)
	for r := range uint64(20_000_000 / len(words)) {
		for _, w := range words {
			sum += w ^ r
		}
	}
	unit := time.Since(begin) // 15 ms
	if sum == 0 {
		t.Fatal("the loop did nothing")
	}
	begin = time.Now()
	for range links {
		if got := d.Posterior(words, exactBits-1); got < 0.8 {
			t.Fatalf("rate %g of a filter with one bit that is not set", got)
		}
		d.FPR(1 << 20)
	}
	if took := time.Since(begin); took > 1300*unit {
		t.Errorf("%d links took %v, and 20 million words %v", links, took, unit)
	}
	d.Parts = 1
	begin = time.Now()
	d.Posterior(words, exactBits-1)
	if took := time.Since(begin); took > 330*unit {
		t.Errorf("one link took %v, and 20 million words %v", took, unit)
	}
}

// TestFit checks the sizes against the rate, and the error against the number of keys that it names.
func TestFit(t *testing.T) {
	for _, n := range []uint64{1, 3, 30, 1000} {
		for _, p := range []float64{0.1, 0.001, 1e-5} {
			m, k, err := Config{Keys: n, Size: family.Sizing{FPR: p}, Width: 1}.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			d := newDouble((m+63)/64*64, k)
			bits, err := d.Fit("x", n, p, 64, 1<<40)
			if err != nil {
				t.Errorf("n=%d p=%g: %v", n, p, err)
				continue
			}
			before := d.FPR(n)
			if d.Bits, m = bits, d.Bits; d.FPR(n) > 1.01*p || bits%64 != 0 || (bits > m) != (before > 1.01*p) {
				t.Errorf("n=%d p=%g: %d bits with a rate of %g, after %d bits with %g", n, p, bits, d.FPR(n), m, before)
			}
		}
	}
	_, err := newDouble(64, 30).Fit("x", 2, 1e-10, 64, 1<<40)
	if !errors.Is(err, filter.ErrConfig) {
		t.Errorf("error %v for two keys at 1e-9", err)
	}
	d := newDouble(64, 30)
	if _, err := d.Fit("x", 1000, 1e-9, 64, 1<<40); err != nil {
		t.Error(err)
	}
}
