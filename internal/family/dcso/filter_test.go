package dcso

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/probe"
)

// TestClasses compares the rates of filters whose number of bits a power of two divides with the observed rate. The
// bound is five standard deviations of the number of false positives, and 3% of the rate.
func TestClasses(t *testing.T) {
	const trials = 200_000
	for _, c := range []struct {
		m    uint64
		k    int
		far  bool // from the rate of independent probes
		keys uint64
	}{
		{m: 1 << 20, k: 7, keys: 100_000, far: true}, {m: 3 << 18, k: 10, keys: 50_000, far: true},
		{m: 100 << 14, k: 7, keys: 150_000, far: true}, {m: (1<<14 + 1) << 6, k: 7, keys: 100_000},
		{m: 64 * 1001, k: 7, keys: 6000},
		{m: 1 << 21, k: 4, keys: 1_000_000, far: true},
		{m: 1<<20 - 1, k: 7, keys: 100_000}, {m: 1 << 12, k: 7, keys: 400, far: true},
		{m: 1 << 23, k: 7, keys: 800_000, far: true},
		{m: 6 * 10007, k: 9, keys: 6000}, {m: 64, k: 3, keys: 10, far: true},
	} {
		f := must(New(Config{Config: probe.Config{M: c.m, K: c.k}}))(t)
		r := rand.New(rand.NewPCG(3, c.m))
		for range c.keys {
			if err := f.Add(filter.Hash{Lo: r.Uint64()}); err != nil {
				t.Fatal(err)
			}
		}
		hits := 0.0
		for range trials {
			if f.Has(filter.Hash{Lo: r.Uint64()}) {
				hits++
			}
		}

		i := f.Info()
		if want := i.FPRPosterior * trials; math.Abs(hits-want) > 5*math.Sqrt(want+1)+0.03*want {
			t.Errorf("m=%d, %d keys: %.0f of %d absent keys present, rate %.4g", c.m, c.keys, hits, trials, i.FPRPosterior)
		}
		if plain := probe.FPR(c.keys, c.m, c.k); (i.FPRPosterior > 1.2*plain) != c.far {
			t.Errorf("m=%d, %d keys: rate %.4g, of independent probes %.4g", c.m, c.keys, i.FPRPosterior, plain)
		}
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestSizes checks that a size for a rate is the size of the program, unless so many classes of few bits increase the
// rate of that size.
func TestSizes(t *testing.T) {
	odd := 0
	for n := uint64(500); n < 20_000; n++ {
		real := uint64(float64(n) * -math.Log(0.001) / math.Pow(math.Ln2, 2))
		m, k, err := Config{Config: probe.Config{Keys: n, Size: family.Sizing{FPR: 0.001}}}.Geometry()
		if err != nil || k != 10 || real%64 != 0 && m != real {
			t.Fatalf("%d keys: %d bits, %d probes, %v; the program takes %d", n, m, k, err, real)
		}
		if real%64 == 0 {
			odd += int(m % 2)
		}
	}
	if odd < 100 {
		t.Errorf("%d sizes are odd instead of multiples of 64", odd)
	}
}

// TestManyClasses checks that a hostile filter does not make Info slow: all bits are set, each in a class of its own.
func TestManyClasses(t *testing.T) {
	s := Spec(1<<21, MaxK, 1)
	words := slices.Repeat([]uint64{math.MaxUint64}, 1<<15)
	f := must(Decode(family.Encoded{Spec: s, Keys: 1, Sections: [][]uint64{words}}))(t)
	begin := time.Now()
	if i := f.Info(); math.Abs(i.FPRPosterior-1) > 1e-9 || time.Since(begin) > 5*time.Second {
		t.Errorf("%v in %v", i, time.Since(begin))
	}
}

// TestDocumented computes the example of docs/format/dcso.md.
func TestDocumented(t *testing.T) {
	page := string(must(os.ReadFile("../../../docs/format/dcso.md"))(t))
	h := must(filter.ForeignHasher(filter.FNV1))(t)
	f := must(New(Config{Config: probe.Config{M: 401, K: 7}, Room: 40}))(t)
	for i := range 40 {
		f.set([]filter.Hash{h.SumString(fmt.Sprintf("key-%d", i))}, false)
	}

	want := []string{fmt.Sprintf("`%s`", f.Spec)}
	for _, w := range f.Words {
		want = append(want, fmt.Sprintf(" %016x", w))
	}
	for _, key := range []string{"key-7", "key-40"} {
		sum := h.SumString(key)
		var at []string
		for i, x := 0, sum.Lo%prime; i < f.K; i++ {
			x = nextProbe(x)
			at = append(at, fmt.Sprint(x%f.M))
		}
		answer := map[bool]string{true: "yes", false: "no"}[f.Has(sum)]
		want = append(want, fmt.Sprintf("| `%s` | %016x | %s | %s |", key, sum.Lo, strings.Join(at, ", "), answer))
	}
	for _, w := range want {
		if !strings.Contains(page, w) {
			t.Errorf("docs/format/dcso.md lacks %q", w)
		}
	}
}
