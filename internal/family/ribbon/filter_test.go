package ribbon

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

var long = flag.Bool("long", false, "3,000 builds, 30 million absent keys for each rate, sizes up to 10 million keys")

func builder(t testing.TB, spec string, keys int) *Builder {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ConfigFromSpec(s, uint64(keys))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func finish(t testing.TB, b *Builder) *Filter {
	t.Helper()
	f, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f.(*Filter)
}

func build(t testing.TB, spec string, hs []filter.Hash) *Filter {
	t.Helper()
	b := builder(t, spec, len(hs))
	if err := b.AddMany(hs); err != nil {
		t.Fatal(err)
	}
	return finish(t, b)
}

// TestBuilds builds filters with numbers of keys up to 60,000, with more numbers near the sizes at which layers and
// tails begin and end, and queries every key.
func TestBuilds(t *testing.T) {
	t.Parallel()
	sizes := []int{
		0, 1, 2, 63, 64, 65, 255, 256, 257, 258, 320, 2047, 2048, 2049, 2170, 2240, 11_499, 11_500, 11_501, 60_000,
	}
	builds := 150
	if *long {
		builds = 3000
	}
	r := rand.New(rand.NewPCG(7, 8))
	specs := []string{
		"ribbon", "ribbon(r=1,w=128)", "ribbon(fpr=0.01)", "ribbon(r=1,wide=17)", "ribbon(bits_per_key=20,w=128)",
		"ribbon(r=32)",
	}
	for i := range builds {
		n := r.IntN(60_001)
		switch {
		case i < len(sizes):
			n = sizes[i]
		case i%3 == 0:
			n = r.IntN(600)
		case i%3 == 1: // one layer more or less
			n = max(0, []int{257, 4350, 4600, 8192, 11_500, 20_000}[r.IntN(6)]+r.IntN(200)-100)
		}
		spec := specs[i%len(specs)]
		hs := filtertest.Hashes(n, uint64(i))
		f := build(t, spec, hs)
		for j, h := range hs {
			if !f.Has(h) {
				t.Fatalf("build %d: key %d of %d is missing in %s", i, j, n, f.builtSpec())
			}
		}
		if f.keys != uint64(n) {
			t.Fatalf("build %d: %d keys, want %d", i, f.keys, n)
		}
	}
}

// TestObservedRate checks the posterior rate against random absent keys.
func TestObservedRate(t *testing.T) {
	const seeds = 3
	for _, c := range []struct {
		spec   string
		trials int
	}{
		{"ribbon(r=1)", 1 << 20}, {"ribbon(r=4,w=128)", 1 << 20}, {"ribbon(r=7)", 1 << 21}, {"ribbon(r=8)", 1 << 21},
		{"ribbon(r=10)", 1 << 22}, {"ribbon(r=16)", 1 << 23}, {"ribbon(fpr=0.01)", 1 << 20},
		{"ribbon(fpr=0.3,w=128)", 1 << 20}, {"ribbon(r=3,wide=1000)", 1 << 20},
	} {
		t.Run(c.spec, func(t *testing.T) {
			t.Parallel()
			trials := uint64(c.trials)
			if *long {
				trials = 30_000_000
			}
			dst, hs := make([]bool, 1<<12), make([]filter.Hash, 1<<12)
			for seed := range uint64(seeds) {
				f := build(t, c.spec, filtertest.Hashes([]int{200, 3000, 40_000}[seed], seed))
				rate, h, seen := f.posteriorRate(), filter.NewHasher(seed+50), uint64(0)
				for i := uint64(0); i < trials/seeds; i += uint64(len(hs)) {
					for j := range hs {
						hs[j] = h.SumUint64(i + uint64(j))
					}
					f.HasMany(dst, hs)
					for _, has := range dst {
						if has {
							seen++
						}
					}
				}
				asked := (trials/seeds + 1<<12 - 1) >> 12 << 12
				if tail := stat.UpperTail(seen, asked, rate); tail < 1e-6 || tail > 1-1e-6 {
					t.Errorf("seed %d, %s: %d false positives in %d, rate %g: tail %g",
						seed, f.builtSpec(), seen, asked, rate, tail)
				}
			}
		})
	}
}

// TestSizes checks sizes, in bits per key for each bit of a fingerprint, against limits for the mean and the largest of
// several builds. The prototype of the authors is also within 1% of the bound (SEA 2022, section 6).
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		spec          string
		n             int
		mean, largest float64 // at most
	}{
		{"ribbon", 1000, 1.035, 1.035}, {"ribbon", 10_000, 1.009, 1.009}, {"ribbon", 100_000, 1.004, 1.004},
		{"ribbon", 1_000_000, 1.003, 1.003}, {"ribbon", 10_000_000, 1.0025, 1.0025},
		{"ribbon(r=1,w=128)", 10_000, 1.026, 1.026}, {"ribbon(r=1,w=128)", 100_000, 1.0075, 1.0075},
		{"ribbon(r=1,w=128)", 1_000_000, 1.0045, 1.0045}, {"ribbon(r=1,w=128)", 10_000_000, 1.0042, 1.0042},
		{"ribbon(r=7)", 1_000_000, 1.003, 1.003}, {"ribbon(r=10)", 1_000_000, 1.003, 1.003},
	} {
		builds := 20
		if !*long {
			builds = min(20, 200_000/c.n)
		}
		var sum, worst float64
		for seed := range uint64(builds) {
			f := build(t, c.spec, filtertest.Hashes(c.n, 900+seed))
			bits := f.Info().BitsPerKey() / float64(f.r)
			sum, worst = sum+bits, max(worst, bits)
		}
		if builds == 0 {
			continue
		}
		mean := sum / float64(builds)
		t.Logf("%s, %d keys: mean %.5f, largest %.5f of %d builds", c.spec, c.n, mean, worst, builds)
		if worst > c.largest || builds == 20 && mean > c.mean {
			t.Errorf("%s, %d keys: %.5f bits per key for each bit of a fingerprint, at most %.5f, want %g and %g",
				c.spec, c.n, mean, worst, c.mean, c.largest)
		}
	}
}

// TestVariants checks that with w=128 and r=1 few builds have more than enough slots, and that most need one variant.
// The first and the fourth build need another variant.
func TestVariants(t *testing.T) {
	const builds = 12
	first := 0
	for seed := range uint64(builds) {
		f := build(t, "ribbon(r=1,w=128)", filtertest.Hashes(100_000, 713+seed))
		if f.allSlots() > enoughSlots(f.keys) {
			t.Errorf("build %d has %d slots, want at most %d", seed, f.allSlots(), enoughSlots(f.keys))
		}
		if f.seed == 0 {
			first++
		}
	}
	if first < builds*2/3 {
		t.Errorf("%d of %d builds keep their first variant", first, builds)
	}
}

// TestPromise checks that the posterior rate is at most the planned rate, and the size at most the chosen size, for any
// number of keys. With many keys a filter has at most 0.1 bits per key more than the bound.
func TestPromise(t *testing.T) {
	for _, n := range []int{0, 1, 100, 256, 257, 300, 1000, 4000, 30_000, 100_000} {
		for _, w := range []int{64, 128} {
			for _, rate := range []float64{0.9, 0.5, 0.4, 0.1, 0.0101, 0.01, 1. / 256, 0.0001, 1e-9} {
				f := build(t, fmt.Sprintf("ribbon(fpr=%g,w=%d)", rate, w), filtertest.Hashes(n, 3))
				if f.posteriorRate() > rate {
					t.Errorf("%d keys, %s: rate %g, want at most %g", n, f.builtSpec(), f.posteriorRate(), rate)
				}
				over := f.Info().BitsPerKey() + math.Log2(f.posteriorRate())
				if limit := 0.09 + 0.006*float64(f.r+1) + 0.01; n >= 30_000 && over > limit {
					t.Errorf("%d keys, %s: %.4f bits over the bound, want at most %.4f", n, f.builtSpec(), over, limit)
				}
				size := min(1.5-1.3*math.Log2(rate), MaxBits+1) // the largest size of a filter
				f = build(t, fmt.Sprintf("ribbon(bits_per_key=%g,w=%d)", size, w), filtertest.Hashes(n, 3))
				bits, least := float64(f.totalBits()), (size*0.99-0.06)*float64(n)
				if bits > math.Ceil(size*float64(n)) || n > 1000 && bits < least && f.r < MaxBits {
					t.Errorf("%d keys, %s: %.4f bits per key, want %.4f", n, f.builtSpec(), bits/float64(n), size)
				}
			}
		}
	}
}

// TestTooManyBits checks that a size that is too large for any fingerprint is an error and does not give a smaller
// filter.
func TestTooManyBits(t *testing.T) {
	for _, n := range []uint64{1, 100, 300, 1000, 100_000} {
		for _, spec := range []string{"ribbon", "ribbon(w=128)", "ribbon(value_bits=4)"} {
			s, err := filter.ParseSpec(spec)
			if err != nil {
				t.Fatal(err)
			}
			for size, ok := range map[float64]bool{32: true, 33: true, 48: false, 4096: false} {
				size += float64(family.Reader(s).Uint("value_bits"))
				for _, s := range []filter.Spec{s.With("bits_per_key", size), s.With("bytes", uint64(size*float64(n)/8))} {
					c, err := ConfigFromSpec(s, n)
					if err != nil {
						continue // too small for a key, or above the range
					}
					if _, _, err := c.Geometry(n); ok && err != nil && n > 8 || !ok && !errors.Is(err, filter.ErrConfig) {
						t.Errorf("%s, %d keys: %v", s, n, err)
					}
				}
			}
		}
	}
}

// TestLowestRate checks that 2^-32 is the lowest rate, and that all rates below it, including powers of two, are
// errors.
func TestLowestRate(t *testing.T) {
	for _, n := range []uint64{0, 3, 1000} {
		for _, rate := range []float64{0x1p-32, math.Nextafter(0x1p-32, 0), 0x1p-33, 0x1p-64, math.SmallestNonzeroFloat64} {
			r, _, err := Config{Size: family.Sizing{FPR: rate}}.Geometry(n)
			if ok := rate >= 0x1p-32; ok != (err == nil) || r > MaxBits || !ok && !errors.Is(err, filter.ErrConfig) {
				t.Errorf("%d keys, rate %g: r=%d, %v", n, rate, r, err)
			}
		}
	}
}

// TestWorkers builds filters of several segments with different numbers of workers, with and without a limit of memory,
// from keys that are added twice. The result must be the same.
func TestWorkers(t *testing.T) {
	hs := filtertest.Hashes(300_000, 4)
	for _, spec := range []string{"ribbon(r=3)", "ribbon(r=1,w=128,wide=300)"} {
		want := build(t, spec, hs)
		for i, h := range hs {
			if !want.Has(h) {
				t.Fatalf("%s: key %d is missing", want.builtSpec(), i)
			}
		}
		for workers := range 4 {
			b := builder(t, spec, 0)
			o := family.BuildOptions{Workers: workers}
			if workers > 1 {
				o.Memory, o.Dir = 1<<20, t.TempDir()
			}
			b.SetOptions(o)
			for part := range slices.Chunk(append(slices.Clone(hs), hs[:1000]...), 10_000) {
				if err := b.AddMany(part); err != nil {
					t.Fatal(err)
				}
			}
			f := finish(t, b)
			equal := slices.Equal(f.words, want.words) && slices.Equal(f.tail, want.tail)
			if !equal || f.builtSpec() != want.builtSpec() {
				t.Errorf("%s: another filter from %d workers", f.builtSpec(), workers)
			}
		}
	}
}

// TestSeedMemory checks that the keys of a variant respect the memory limit, and that builds with and without a limit
// are equal.
func TestSeedMemory(t *testing.T) {
	hs := filtertest.Hashes(3000, 4)
	want := build(t, "ribbon(seed=9)", hs)
	b := builder(t, "ribbon(seed=9)", 0)
	b.SetOptions(family.BuildOptions{Memory: 16 * 1000, Dir: t.TempDir()})
	keys := b.newKeys(turned(5))
	defer keys.Close()
	if err := errors.Join(keys.AddMany(hs), b.AddMany(hs)); err != nil || !keys.Spilled() {
		t.Errorf("%d keys of a variant in memory, with a limit of 1000: %v", len(hs), err)
	}
	if f := finish(t, b); !slices.Equal(f.words, want.words) || f.builtSpec().String() != want.builtSpec().String() {
		t.Errorf("%s, without a limit %s", f.builtSpec(), want.builtSpec())
	}
}

// TestNotRandom checks that hashes that are not random give an error or a filter, but not an endless loop.
func TestNotRandom(t *testing.T) {
	for name, hash := range map[string]func(i uint64) filter.Hash{
		"one start":  func(i uint64) filter.Hash { return filter.Hash{Hi: 1, Lo: i * golden} },
		"one Lo":     func(i uint64) filter.Hash { return filter.Hash{Hi: i * golden} },
		"one x":      func(i uint64) filter.Hash { return filter.Hash{Hi: i * golden, Lo: i * golden} },
		"few":        func(i uint64) filter.Hash { return filter.Hash{Hi: i % 5, Lo: i} },
		"high ones":  func(i uint64) filter.Hash { return filter.Hash{Hi: ^uint64(0), Lo: i} },
		"one bucket": func(i uint64) filter.Hash { return filter.Hash{Hi: i, Lo: i * golden} },
	} {
		for _, n := range []uint64{100, 3000, 30_000} {
			b := builder(t, "ribbon", 0)
			var hs []filter.Hash
			for i := range n {
				hs = append(hs, hash(i))
			}
			if err := b.AddMany(hs); err != nil {
				t.Fatal(err)
			}
			f, err := b.Build(t.Context())
			if err != nil {
				if !errors.Is(err, errHashes) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			for _, h := range hs {
				if !f.Has(h) {
					t.Fatalf("%s, %d keys: %x is missing", name, n, h)
				}
			}
		}
	}
}

// TestProgress checks that a long build reports increasing shares.
func TestProgress(t *testing.T) {
	b := builder(t, "ribbon(r=1)", 0)
	var last float64
	reports := 0
	b.Progress = func(p filter.Progress) {
		if reports++; p.Done < last || p.Done > 1 || p.Left < 0 {
			t.Errorf("%+v after %g", p, last)
		}
		last = p.Done
	}
	if err := b.AddMany(filtertest.Hashes(300_000, 1)); err != nil {
		t.Fatal(err)
	}
	if finish(t, b); reports == 0 {
		t.Error("no report")
	}
}

// TestDefaultWidth checks that filters of few bits per key have a width of 128 unless w is set, and need at most 0.1
// bits per key more than the bound.
func TestDefaultWidth(t *testing.T) {
	hs := filtertest.Hashes(100_000, 6)
	for spec, want := range map[string]uint{
		"ribbon(fpr=0.2)": 128, "ribbon(fpr=0.36)": 128, "ribbon(fpr=0.05)": 64, "ribbon(bits_per_key=3)": 128,
		"ribbon(bits_per_key=5)": 64, "ribbon(r=1)": 64, "ribbon(fpr=0.2,w=64)": 64,
	} {
		f := build(t, spec, hs)
		over := f.Info().BitsPerKey() + math.Log2(f.posteriorRate())
		if f.w != want || want == 128 && over > 0.1 {
			t.Errorf("%s: w=%d, %.4f bits over the bound", spec, f.w, over)
		}
	}
}

// TestLayers requires that the layers and the tail together store all keys, and that none of them stores more keys than
// it has slots.
func TestLayers(t *testing.T) {
	for _, n := range []int{0, 100, 5000, 100_000} {
		hs := filtertest.Hashes(n, 5)
		f := build(t, "ribbon(r=1)", hs)
		counts, all := f.Layers(hs), uint64(0)
		for i, keys := range counts {
			all += keys
			// A dependent equation that happens to hold needs no slot. With one bit, this is every second dependent
			// equation.
			if room := f.room(i); float64(keys) > 1.05*float64(room)+20 {
				t.Errorf("%d keys: part %d has %d in %d slots", n, i, keys, room)
			}
		}
		if all != uint64(n) || len(counts) != len(f.layers)+1 {
			t.Errorf("%d keys: %v", n, counts)
		}
	}
}

// room returns the slots of a layer or, for the number after the last layer, of the tail.
func (f *Filter) room(i int) uint64 {
	if i == len(f.layers) {
		return f.slots
	}
	return f.layers[i].blocks * 64
}

// TestHas compares Has and HasMany with Get in filters with and without values, wide blocks and layers. Absent keys
// test bits that present keys cannot test.
func TestHas(t *testing.T) {
	sizes := []int{0, 1, 256, 300, 5_000, 300_000}
	if testing.Short() {
		sizes = sizes[:5]
	}
	for _, spec := range []string{
		"ribbon(r=1)", "ribbon", "ribbon(r=16,w=128)", "ribbon(fpr=0.3)", "ribbon(fpr=0.003,w=128)", "ribbon(r=32)",
	} {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/%d", spec, n), func(t *testing.T) {
				hs := filtertest.Hashes(n, 1)
				f := build(t, spec, hs)
				hs = append(hs[:min(n, 20_000):min(n, 20_000)], filtertest.Hashes(20_000, 2)...)
				dst := make([]bool, len(hs))
				f.HasMany(dst, hs)
				for i, h := range hs {
					if _, want := f.Get(h); f.Has(h) != want || dst[i] != want {
						t.Fatalf("key %d: Has %t, HasMany %t, want %t", i, f.Has(h), dst[i], want)
					}
				}
				f.HasManyCold(dst, hs)
				for i, h := range hs {
					if dst[i] != f.Has(h) {
						t.Fatalf("key %d: HasManyCold %t", i, dst[i])
					}
				}
			})
		}
	}
}
