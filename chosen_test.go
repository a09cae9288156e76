package bloomery_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/plan"
)

// TestChosenRate: which rate is chosen by a Spec, by needs and by a Config.
func TestChosenRate(t *testing.T) {
	for _, c := range []struct {
		config bloomery.Config
		keys   int
		want   float64
	}{
		{bloomery.Config{}, 100, 0.01},
		{bloomery.Config{Spec: "standard(fpr=0.003)"}, 100, 0.003},
		{bloomery.Config{Spec: "standard(fpr=0.003)", FPRChosen: 0.02}, 100, 0.02},
		{bloomery.Config{Spec: "standard(fpr=0.7)"}, 100, 0.7},
		{bloomery.Config{Spec: "standard(capacity=5000)"}, 0, 0.01},
		{bloomery.Config{Spec: "standard(bits_per_key=10)"}, 1000, 0.0082},
		{bloomery.Config{Spec: "standard(bits_per_key=10)", Keys: 1000}, 1000, 0.0082},
		{bloomery.Config{Spec: "standard(bits_per_key=10,capacity=5000)"}, 1000, 0.00819},
		{bloomery.Config{Spec: "standard(bits_per_key=0.5)"}, 1000, 0}, // 0.86: useless
		{bloomery.Config{Spec: "standard(bytes=1)"}, 1000, 0},
		{bloomery.Config{Spec: "standard(k=3,m=1000)"}, 100, 0},
		{bloomery.Config{Spec: "standard(bytes=1000)", FPRChosen: 0.02}, 100, 0.02},
		{bloomery.Config{Spec: "fuse(width=8)"}, 1000, 0},
		{bloomery.Config{Spec: "fuse(bits_per_key=9.5)"}, 1000, 0.0156},
		{bloomery.Config{Spec: "bitsandblooms(fpr=0.02)"}, 100, 0.02},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.02}}, 100, 0.02},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.02}, Keys: 100}, 100, 0.02},
		{bloomery.Config{Needs: plan.Needs{Remove: true}, Keys: 100}, 100, 0.01},
		{bloomery.Config{Capacity: 1000}, 100, 0.01},
		{bloomery.Config{Needs: plan.Needs{FPR: 0.02, Bytes: 10_000}}, 100, 0.02},
		{bloomery.Config{Needs: plan.Needs{Merge: true, Bytes: 10_000}}, 100, 0},
	} {
		set := build(t, words(c.keys), c.config)
		if got := set.Info().FPRChosen; got != c.want || set.Info().FPRChosen != got {
			t.Errorf("%v: %v, want %v", c.config, got, c.want)
		}
		if c.config.Spec == "" || c.keys == 0 {
			continue
		}
		c.config.Keys = uint64(c.keys)
		if set, err := bloomery.New(c.config); err == nil && set.Info().FPRChosen != c.want {
			t.Errorf("New(%v): %v, want %v", c.config, set.Info().FPRChosen, c.want)
		}
	}
	searched := build(t, words(1000), bloomery.Config{Spec: "partitioned(bits_per_key=8,effort=fast)"})
	if p := searched.Info().FPRPosterior; math.Abs(searched.Info().FPRChosen/p-1) > 0.005 {
		t.Errorf("after a search: chosen %v, posterior %v", searched.Info().FPRChosen, p)
	}
	later := build(t, words(1000), bloomery.Config{Spec: "partitioned(bits_per_key=8,effort=fast,later=1000)"})
	if p := later.Info().FPRPosterior; later.Info().FPRChosen < 1.5*p {
		t.Errorf("with later keys: chosen %v, posterior without them %v", later.Info().FPRChosen, p)
	}
	for _, c := range []bloomery.Config{
		{FPRChosen: 1}, {FPRChosen: -0.1}, {FPRChosen: math.NaN()}, {MaxFPR: 1}, {MaxFPR: math.NaN()},
	} {
		if _, err := bloomery.NewBuilder(t.Context(), c); !errors.Is(err, filter.ErrConfig) || c.Check() == nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// TestChosenKept: the chosen rate outlives every way to copy, store, change and replace a Set.
func TestChosenKept(t *testing.T) {
	for _, f := range families.All() {
		if f.Can.Has(family.CanRawKeys) {
			continue
		}
		text := f.Name + "(fpr=0.02)"
		if f.Can.Has(family.CanSearch) {
			text = f.Name + "(effort=fast,fpr=0.02)"
		}
		set := build(t, words(200), bloomery.Config{Spec: text})
		keep := func(what string, s *bloomery.Set, err error) {
			t.Helper()
			if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, filter.ErrFull) {
				return
			}
			if err != nil || s.Info().FPRChosen != 0.02 {
				t.Errorf("%s: %s: chosen %v, %v", f.Name, what, s.Info().FPRChosen, err)
			}
		}
		copied, err := set.Clone()
		keep("Clone", copied, err)
		if small, err := set.Trimmed(); err == nil {
			keep("Trimmed", small, err)
		}
		path := save(t, set)
		opened, err := bloomery.Open(t.Context(), path)
		keep("Open", opened, err)
		if !opened.Equal(set) {
			t.Errorf("%s: opened, the set is another", f.Name)
		}
		keep("Add", copied, copied.AddString("another"))
		keep("Merge", copied, copied.Merge(set))
		keep("Reset", copied, copied.Reset())
		if f.Can.Has(family.CanSearch) {
			keep("Optimize", opened, bloomery.Optimize(t.Context(), opened, slices.Values(bytesOf(words(200)))))
		}
		file, err := set.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var unmarshaled bloomery.Set
		keep("UnmarshalBinary", &unmarshaled, unmarshaled.UnmarshalBinary(file))
		read, err := bloomery.Read(bytes.NewReader(file))
		keep("Read", read, err)
		if f.Can.Has(family.CanConcurrent) {
			shared, err := bloomery.Read(bytes.NewReader(file), bloomery.WithConcurrent())
			keep("WithConcurrent", shared, err)
			copied, err := shared.Clone()
			keep("Clone of a Set for many writers", copied, err)
			again, err := copied.MarshalBinary()
			if err != nil || !bytes.Equal(again, file) {
				t.Errorf("%s: another file: %v", f.Name, err)
			}
		}
		live, err := bloomery.OpenLive(t.Context(), path)
		if err != nil || live.Info().FPRChosen != 0.02 {
			t.Errorf("%s: Live: %v", f.Name, err)
		}
		_ = live.Close()
	}
	const spec = "standard(k=3,m=900)"
	low, high := bloomery.Config{Spec: spec, FPRChosen: 0.01}, bloomery.Config{Spec: spec, FPRChosen: 0.02}
	for _, c := range [][2]bloomery.Config{{low, high}, {high, low}, {high, {Spec: spec}}} {
		a, b := build(t, words(5), c[0]), build(t, words(5), c[1])
		if a.Equal(b) {
			t.Error("sets with different chosen rates are equal")
		}
		if err := a.Merge(b); err != nil || a.Info().FPRChosen != 0.02 {
			t.Errorf("merged: %v, %v", a.Info().FPRChosen, err)
		}
	}
}

func bytesOf(words []string) (all [][]byte) {
	for _, w := range words {
		all = append(all, []byte(w))
	}
	return all
}

// TestMaxFPR: a filter with too high a rate is not built.
func TestMaxFPR(t *testing.T) {
	for spec, want := range map[string]error{"standard(bytes=1)": filter.ErrRate, "bitsandblooms(bytes=8)": filter.ErrRate,
		"standard(fpr=0.01)": nil, "standard(fpr=0.02)": filter.ErrRate, "fuse(width=2)": filter.ErrRate,
		"partitioned(bits_per_key=2,effort=fast)": filter.ErrRate} {
		b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: spec, MaxFPR: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.AddMany(bytesOf(words(1000))); err != nil {
			t.Fatal(err)
		}
		set, err := b.Build(t.Context())
		var rate *engine.RateError
		if !errors.Is(err, want) || (err == nil) != (set != nil) {
			t.Errorf("%s: %v", spec, err)
		}
		if want != nil && (!errors.As(err, &rate) || rate.Keys != 1000 || rate.Most != 0.01) {
			t.Errorf("%s: %+v", spec, rate)
		}
	}
}

// TestKeysExact: a Builder that gets another number of keys than Config.Keys returns an error.
func TestKeysExact(t *testing.T) {
	for _, f := range families.All() {
		for added, announced := range map[int]uint64{10: 11, 20: 19, 5000: 100, 30: 30, 40: 0} {
			b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: specOf(f), Keys: announced})
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range words(added) {
				if i%2 == 0 {
					err = b.AddString(w)
				} else {
					err = b.AddMany([][]byte{[]byte(w)})
				}
				if err != nil {
					break // rankindexed may be full
				}
			}
			set, err := b.Build(t.Context())
			var keys *intake.KeysError
			wrong := announced != 0 && uint64(added) != announced
			if wrong != errors.Is(err, filter.ErrKeys) || wrong != errors.As(err, &keys) || (set == nil) != wrong ||
				wrong && (keys.Added != uint64(added) || keys.Announced != announced) {
				t.Errorf("%s: %d keys, %d announced: %v", f.Name, added, announced, err)
			}
			_ = b.Close()
		}
	}
}

// random returns n random hashes.
func random(seed, n int) []filter.Hash {
	r := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// TestExceeds builds filters of every family, many seeds, sizes and rates: none of the right size exceeds its rate, and
// all with three times the keys do, where keys can be added. A third of the sizes and rates in a run.
func TestExceeds(t *testing.T) {
	for _, f := range families.All() {
		if f.NewBuilder == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			runs := filtertest.Third(t, false)
			for _, rate := range []float64{0.1, 0.01, 1e-4, 1e-6} {
				if f.Can.Has(family.CanSearch) && rate != 0.01 {
					continue
				}
				for _, n := range []int{1, 2, 3, 5, 10, 50, 200, 1000, 10_000, 100_000} {
					if n == 100_000 && rate != 0.01 || !runs() {
						continue
					}
					trials := min(50, max(1, 10_000/n))
					if f.Can.Has(family.CanSearch) || f.Foreign() { // sizes take a while
						trials = min(trials, 5)
					}
					s := family.NewSpec(f.Name, "fpr", rate)
					if f.Can.Has(family.CanSearch) {
						s = s.With("effort", "fast")
					}
					for seed := range trials {
						if err := spread(t, f, s, n, seed, rate); err != nil {
							t.Fatalf("%s, %d keys, seed %d: %v", s, n, seed, err)
						}
					}
				}
			}
		})
	}
}

// spread builds a filter of n keys, and adds 3n further keys if it can.
func spread(t *testing.T, f families.Family, s filter.Spec, n, seed int, rate float64) error {
	b, err := f.NewBuilder(s, uint64(n))
	if f.Foreign() && errors.Is(err, filter.ErrConfig) {
		return nil // the other system has no filter that keeps this rate for so few keys
	}
	if err != nil {
		return err
	}
	if err := b.AddMany(random(seed, n)); err != nil {
		return err
	}
	built, err := b.Build(t.Context())
	if err != nil {
		return err
	}
	if i := built.Info(); exceeds(i, rate) {
		return fmt.Errorf("false warning: %+v", i)
	}
	a, ok := built.(family.Adder)
	if !ok {
		return nil
	}
	for _, h := range random(-1-seed, 3*n) {
		if err := a.Add(h); err != nil {
			return nil // a family with a limit is full instead
		}
	}
	if i := built.Info(); n >= 50 && i.FPRPosterior > 2*rate && !exceeds(i, rate) {
		return fmt.Errorf("no warning at 4 times the keys: %+v", i)
	}
	return nil
}

// TestExceedsByKeys: keys chosen to fill a filter raise the rate although their number is as planned.
func TestExceedsByKeys(t *testing.T) {
	const n, rate = 10_000, 0.01
	i := filter.Info{Keys: n, FPRPrior: rate, FPRPosterior: 0.075} // no two probes at one place
	if !exceeds(i, rate) {
		t.Error("no warning")
	}
	for _, x := range []struct {
		info filter.Info
		want bool
	}{
		{filter.Info{FPRPosterior: 0.6}, true}, {filter.Info{FPRPosterior: 0.4}, false},
		{filter.Info{FPRPosterior: 0.6, FPRPrior: 0.6, FPRChosen: 0.59}, false},
		{filter.Info{FPRPosterior: 0.6, FPRPrior: 0.6, FPRChosen: 0.5}, true}, {filter.Info{}, false},
	} {
		if x.info.Exceeded() != x.want {
			t.Errorf("%+v: %v", x.info, !x.want)
		}
	}
	if err := engine.CheckRate(i, 0); err != nil {
		t.Error(err)
	}
}

// exceeds reports whether a filter with this rate chosen has left it.
func exceeds(i filter.Info, rate float64) bool {
	i.FPRChosen = rate
	return i.Exceeded()
}

// TestSetChosen sets and removes the chosen rate of a Set.
func TestSetChosen(t *testing.T) {
	set := build(t, words(100), bloomery.Config{Spec: "standard(bytes=200)"})
	for rate, ok := range map[float64]bool{0.02: true, 0: true, 1: false, -1: false, math.NaN(): false} {
		was := set.Info().FPRChosen
		err := engine.SetChosen(bloomery.EngineOf(set), rate)
		if ok && (err != nil || set.Info().FPRChosen != rate) {
			t.Errorf("%v: %v, chosen %v", rate, err, set.Info().FPRChosen)
		}
		if !ok && (!errors.Is(err, filter.ErrConfig) || set.Info().FPRChosen != was) {
			t.Errorf("%v: %v, chosen %v", rate, err, set.Info().FPRChosen)
		}
	}
}

// TestDefaultForSize: a static list gets a ribbon of the size that was asked for, at every number of keys.
func TestDefaultForSize(t *testing.T) {
	for _, keys := range []uint64{300, 2000, 20_000, 1e6, 3e6, 1e7, 1e9} {
		for _, perKey := range []float64{1.2, 2, 4, 5, 6.7, 8, 10, 12.3, 16, 20} {
			c := bloomery.Config{Keys: keys, Needs: plan.Needs{BitsPerKey: perKey}}
			choice, err := c.Choose(t.Context())
			want := fmt.Sprintf("ribbon(bits_per_key=%v)", perKey)
			if err != nil || choice.Spec.String() != want && choice.Spec.String() != want[:len(want)-1]+",w=128)" {
				t.Errorf("%d keys, %v bits a key: %v, %v", keys, perKey, choice.Spec, err)
			}
		}
	}
}
