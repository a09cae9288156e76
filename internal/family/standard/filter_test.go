package standard

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
	"github.com/bloomery/bloomery/internal/stat"
)

// TestPublishedFPR compares the formula with published figures.
func TestPublishedFPR(t *testing.T) {
	for _, c := range []struct {
		n, m uint64
		k    int
		want float64
	}{
		{10_000, 80_000, 6, 0.0216}, {10_000, 160_000, 11, 4.59e-4}, {10_000, 320_000, 22, 2.11e-7},
		{80_000, 800_000, 1, 0.0952}, {80_000, 800_000, 7, 0.0082},
	} {
		if got := probe.FPR(c.n, c.m, c.k); math.Abs(got/c.want-1) > 0.005 {
			t.Errorf("FPR(%d, %d, %d) = %.4g, published %g", c.n, c.m, c.k, got, c.want)
		}
	}
	if k := probe.OptimalK(100_000_000, 800_000_000); k != 6 {
		t.Errorf("OptimalK at 8 bits per key = %d, want 6", k)
	}
}

// TestObservedRate measures rates near 1e-5 of few keys at many bits per key, over many seeds, where weak probes would
// be visible.
func TestObservedRate(t *testing.T) {
	const n, trials, seeds = 1000, 1_000_000, 12
	for _, bits := range []float64{20, 24} {
		var seen uint64
		var want float64
		for seed := range uint64(seeds) {
			f := made(t, Config{Keys: n, Size: family.Sizing{BitsPerKey: bits}})
			for _, h := range filtertest.Hashes(n, seed) {
				_ = f.Add(h)
			}
			for _, h := range filtertest.Hashes(trials, 1000+seed) {
				if f.Has(h) {
					seen++
				}
			}
			want += f.Info().FPRPosterior
		}
		rate := want / seeds
		if tail := stat.UpperTail(seen, seeds*trials, rate); tail < 1e-5 || tail > 1-1e-5 {
			t.Errorf("%g bits per key: %d false positives in %d, posterior rate %g: tail %g", bits, seen, seeds*trials, rate, tail)
		}
	}
}

// TestIntersect intersects filters of 20,000 keys each, 10,000 of which are common.
func TestIntersect(t *testing.T) {
	hs := filtertest.Hashes(30_000, 1)
	f, g := start(t, 20_000), start(t, 20_000)
	f.addMany(hs[:20_000])
	g.addMany(hs[10_000:])
	if err := f.Intersect(g, nil); err != nil {
		t.Fatal(err)
	}
	for _, h := range hs[10_000:20_000] {
		if !f.Has(h) {
			t.Fatal("the intersection lost a common key")
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []Config{
		{Size: family.Sizing{FPR: math.NaN()}}, {Size: family.Sizing{FPR: 1}}, {Size: family.Sizing{FPR: -0.1}},
		{Size: family.Sizing{BitsPerKey: math.Inf(1)}}, {Size: family.Sizing{BitsPerKey: -1}}, {K: 65}, {K: -1},
		{Bits: 8, Size: family.Sizing{FPR: 0.1}}, {Size: family.Sizing{FPR: 0.1, Bytes: 9}},
	} {
		if _, err := New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("New(%+v): %v, want ErrConfig", c, err)
		}
	}
	for _, c := range []Config{{Bits: 1 << 62}, {Keys: 1 << 63, Size: family.Sizing{BitsPerKey: 64}}, {Size: family.Sizing{Bytes: 1 << 60}}, {Bits: 1 << 61}} {
		if _, err := New(c); !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("New(%+v): %v, want ErrTooLarge", c, err)
		}
	}
}

func TestLargeSizes(t *testing.T) {
	m, k, err := Config{Keys: 5_000_000_000, Size: family.Sizing{BitsPerKey: 10}}.Geometry()
	if err != nil || m != 50_000_000_000 || k != 7 {
		t.Errorf("5·10^9 keys at 10 bits: m=%d k=%d %v", m, k, err)
	}
	if m, k, err = (Config{Keys: 5_000_000_000}).Geometry(); err != nil || m < 47_900_000_000 || m > 48_000_000_000 || k != 7 {
		t.Errorf("5·10^9 keys at 1%%: m=%d k=%d %v", m, k, err)
	}
}

// TestBeyond32Bits fills 1 GiB and checks that probes fall on both sides of bit 2^32. It is skipped with -short.
func TestBeyond32Bits(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 1 GiB")
	}
	f := made(t, Config{Bits: 1<<33 + 7, K: 3})
	hs := filtertest.Hashes(200_000, 1)
	high := 0
	for _, h := range hs {
		_ = f.Add(h)
		x := h.Lo
		for range f.K {
			if probe.Position(x, f.M) >= 1<<32 {
				high++
			}
			x = probe.Next(x, h.Hi)
		}
	}
	if d := float64(high) - 300_000; math.Abs(d) > 5*math.Sqrt(150_000) {
		t.Errorf("%d of 600000 probes lie beyond 2^32, want half", high)
	}
	for _, h := range hs {
		if !f.Has(h) {
			t.Fatal("a key is lost")
		}
	}
	if i := f.Info(); math.Abs(i.Fill*float64(f.M)/600_000-1) > 0.001 {
		t.Errorf("fill %g", i.Fill)
	}
}

// TestBatch calls hasMany, which HasMany calls only for filters larger than the caches. The larger values of k exceed
// the number of probes for which a batch has room.
func TestBatch(t *testing.T) {
	hs := filtertest.Hashes(20_000, 1)
	for _, k := range []int{1, 2, 3, 7, 10, 11, 30, MaxK} {
		f := made(t, Config{Keys: 20_000, Size: family.Sizing{BitsPerKey: 1.44 * float64(k)}, K: k})
		for _, h := range hs {
			_ = f.Add(h)
		}
		asked := append(hs[:len(hs):len(hs)], filtertest.Hashes(20_001, 2)...)
		got := make([]bool, len(asked))
		f.hasMany(got, asked)
		for i, h := range asked {
			if got[i] != f.Has(h) || i < len(hs) && !got[i] {
				t.Fatalf("k=%d, key %d: %v, Has says %v", k, i, got[i], f.Has(h))
			}
		}
	}
}

// TestBatchLarge checks batches of a filter that is larger than the caches, for which Add and Has use other code.
func TestBatchLarge(t *testing.T) {
	hs := filtertest.Hashes(40_000, 1)
	f, single := made(t, Config{Bits: 1 << 25, K: 7}), made(t, Config{Bits: 1 << 25, K: 7})
	f.addMany(hs[:20_000])
	for _, h := range hs[:20_000] {
		_ = single.Add(h)
	}
	if !slices.Equal(f.Words, single.Words) {
		t.Error("addMany sets other bits than Add")
	}

	got := make([]bool, len(hs))
	f.HasMany(got, hs)
	for i, h := range hs {
		if got[i] != f.Has(h) || i < 20_000 && !got[i] {
			t.Fatalf("key %d: %v, Has says %v", i, got[i], f.Has(h))
		}
	}
}

// made returns an empty filter.
func made(t testing.TB, c Config) *Filter {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// start returns an empty filter of the default rate.
func start(t testing.TB, keys uint64) *Filter {
	t.Helper()
	return made(t, Config{Keys: keys})
}

func TestMismatch(t *testing.T) {
	f := start(t, 100)
	for _, h := range filtertest.Hashes(100, 1) {
		_ = f.Add(h)
	}
	want := "standard(k=7,m=960) and standard(k=7,m=9594): filters do not match"
	if err := f.Merge(start(t, 1000), nil); err.Error() != want {
		t.Errorf("merge of another size: %v, want %s", err, want)
	}
}

// TestDocumented computes the example of docs/format/standard.md.
func TestDocumented(t *testing.T) {
	f := made(t, Config{Bits: 400, K: 7})
	hasher := filter.NewHasher(42)
	for _, h := range filtertest.DocumentedKeys(hasher) {
		if err := f.Add(h); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"`" + f.Spec.String() + "`", filtertest.DocumentedWords(f.Words)}
	for _, key := range []string{"key-7", "key-40"} {
		h := hasher.SumString(key)
		var at []uint64
		first := -1 // probe whose bit is 0
		x, by := h.Lo, h.Hi
		for i := range f.K {
			p := probe.Position(x, f.M)
			if f.Words[p/64]>>(p%64)&1 == 0 && first < 0 {
				first = i
			}
			at = append(at, p)
			x = probe.Next(x, by)
		}
		answer := "yes"
		if !f.Has(h) {
			answer = "no"
			want = append(want, fmt.Sprintf("The first bit of `%s` that is 0 is %d.", key, at[first]))
		}
		want = append(want, fmt.Sprintf("\n| `%s` | %016x | %016x | %s | %s |\n", key, h.Hi, h.Lo,
			filtertest.DocumentedList(at), answer))
	}
	filtertest.Documented(t, "standard.md", want...)
}
