package settest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/except"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/internal/stat"
)

// allowing builds a Set of n members with exceptions for allowed other keys.
func allowing(t testing.TB, c bloomery.Config, n, allowed int) *bloomery.Set {
	t.Helper()
	c.Allow = settest.Numbered("allowed", allowed)
	set, err := bloomery.Build(context.Background(), settest.Numbered("member", n), c)
	if err != nil {
		t.Fatalf("%s, %d members, %d allowed: %v", c.Spec, n, allowed, err)
	}
	return set
}

// TestAllow queries all members and all allowed keys, for each of our families, and bounds the false-positive rate of
// other keys.
func TestAllow(t *testing.T) {
	for _, f := range families.All() {
		if f.Foreign() {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			size := "bits_per_key=6"
			if f.Can.Has(family.CanSearch) {
				size += ",passes=1" // the exceptions matter, not the rate
			}
			for _, n := range []int{0, 1, 100, 3000, 100_000} {
				for seed := range uint64(3) {
					allowed := n
					switch {
					case n == 100_000 && (seed > 0 || f.Can.Has(family.CanSearch)):
						continue
					case n <= 100:
						allowed = 5000
					}
					c := bloomery.Config{Spec: f.Name + "(" + size + ")", Hashing: bloomery.Hashing{Seed: seed}}
					what := fmt.Sprintf("%s, %d keys, seed %d", c.Spec, n, seed)
					s := allowing(t, c, n, allowed)
					settest.Exact(t, what, s, n, allowed)
					checkAllowInfo(t, what, s, n, allowed)
				}
			}
		})
	}
}

// checkAllowInfo compares Info and the rate of other keys with the Set without exceptions.
func checkAllowInfo(t *testing.T, what string, s *bloomery.Set, n, allowed int) {
	plain, cascade := settest.Split(t, s)
	if cascade == nil {
		t.Fatalf("%s: no exceptions", what)
	}
	var exceptions uint64
	for key := range settest.Numbered("allowed", allowed) {
		if plain.Contains(key) {
			exceptions++
		}
	}
	i := s.Info()
	if i.Allowed != uint64(allowed) || i.Exceptions != exceptions || i.Bits != plain.Info().Bits+i.ExceptionBits {
		t.Errorf("%s: Info has %d, %d and %d, want %d keys with %d exceptions",
			what, i.Allowed, i.Exceptions, i.ExceptionBits, allowed, exceptions)
	}
	var hits, mainHits uint64
	const trials = 20_000
	for key := range settest.Numbered("other", trials) {
		switch has, had := s.Contains(key), plain.Contains(key); {
		case has && !had:
			t.Fatalf("%s: the exceptions make %s present", what, key)
		case had:
			mainHits++
			if has {
				hits++
			}
		}
	}
	// A false positive of the filter becomes absent if level 1 contains it: with about the rate of level 1, at most ½.
	most := 0.5
	if e := float64(exceptions); e > 0 && n > 0 {
		most = min(1.5*math.Sqrt(0.5)*e/float64(n), 0.6)
	}
	if n >= 3000 && stat.UpperTail(mainHits-hits, mainHits, most) < 1e-6 {
		t.Errorf("%s: %d of %d other false positives became absent, want a share of at most %.3f",
			what, mainHits-hits, mainHits, most)
	}
}

// TestAllowLevelRate checks the false positives of level 1 among members against the rate of a filter that is
// independent of the main one.
func TestAllowLevelRate(t *testing.T) {
	for _, family := range []string{"standard", "blocked", "fuse", "rankindexed"} {
		spec := family + "(fpr=0.01)"
		s := allowing(t, bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{Seed: 9}}, 100_000, 400_000)
		_, c := settest.Split(t, s)
		words, size := c.Words(), c.Sizes()[0]
		first := words[3+words[0]:][:size.Words]
		one, err := except.Decode(append([]uint64{1, 0, 0, words[3]}, first...)) // level 1 alone
		settest.Check(t, err)
		rate := math.Pow(float64(bitvec.OnesCount(first))/float64(64*size.Words), float64(size.Probes))
		hits := uint64(0)
		for key := range settest.Numbered("member", 100_000) {
			if !one.Has(s.Hasher().Sum(key)) {
				hits++
			}
		}
		low, high := stat.Interval(hits, 100_000, 1-1e-6)
		t.Logf("%s: %d exceptions, level 1 at %.4f has %.4f of the members",
			spec, c.Exceptions(), rate, float64(hits)/1e5)
		if rate < low || rate > high {
			t.Errorf("%s: level 1 has %d of 100,000 members; its fill predicts a rate of %.4f", spec, hits, rate)
		}
	}
}

// TestAllowForms checks that every way to write and read a Set keeps the exceptions.
func TestAllowForms(t *testing.T) {
	ctx := context.Background()
	const n, allowed = 200_000, 100_000
	s := allowing(t, bloomery.Config{Spec: "standard(fpr=0.05)"}, n, allowed)
	path := filepath.Join(t.TempDir(), "a.bloom")
	settest.Check(t, s.Save(ctx, path))
	file := settest.Must(s.MarshalBinary())
	forms := map[string]func() (*bloomery.Set, error){
		"mapped":    func() (*bloomery.Set, error) { return bloomery.Open(ctx, path) },
		"in memory": func() (*bloomery.Set, error) { return bloomery.Open(ctx, path, bloomery.InMemory()) },
		"bytes":     func() (*bloomery.Set, error) { return bloomery.FromBytes(file) },
		"read":      func() (*bloomery.Set, error) { return bloomery.Read(bytes.NewReader(file)) },
		"clone":     s.Clone,
		"snapshot":  s.Clone,
		"unmarshal": func() (*bloomery.Set, error) { o := new(bloomery.Set); return o, o.UnmarshalBinary(file) },
		"live": func() (*bloomery.Set, error) {
			l, err := bloomery.OpenLive(ctx, path)
			if err != nil {
				return nil, err
			}
			defer l.Close()
			var o *bloomery.Set
			l.View(func(set *bloomery.Set) { o, err = set.Clone() })
			return o, err
		},
	}
	for name, form := range forms {
		o, err := form()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		settest.Exact(t, name, o, n, allowed)
		again, err := o.MarshalBinary()
		if err != nil || !bytes.Equal(again, file) || !o.Equal(s) {
			t.Errorf("%s: not the same file again: %v", name, err)
		}
		settest.Check(t, o.Close())
	}
	e := settest.EngineOf(t, s)
	o := one.New(e.Facts().Filter, s.Hasher())
	if engine.SetPlanned(e, 0) != nil || !o.Equal(e) {
		t.Error("a set without a planned rate differs")
	}
}

// TestAllowCounts checks that the counts and values of allowed keys are 0.
func TestAllowCounts(t *testing.T) {
	plain := allowing(t, bloomery.Config{Spec: "standard"}, 50, 50)
	_, _, counts := plain.Count(nil)
	_, _, values := plain.Get(nil)
	for _, err := range []error{counts, values} {
		if !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, filter.ErrExceptions) {
			t.Errorf("standard has neither counts nor values: %v", err)
		}
	}
	for _, spec := range []string{
		"counting(bits_per_key=12)", "rankindexed(counting=1,fpr=0.1)",
		"rankindexed(fpr=0.1,value_bits=4)"} {
		s := allowing(t, bloomery.Config{Spec: spec}, 2000, 5000)
		bits, _ := s.ValueBits()
		for key := range settest.Numbered("allowed", 5000) {
			if n, _, err := s.Count(key); err != nil || n != 0 {
				t.Fatalf("%s: count of %s is %d: %v", spec, key, n, err)
			}
			if v, ok, err := s.Get(key); (err == nil) != (bits > 0) || ok || v != 0 {
				t.Fatalf("%s: value of %s: %d, %t, %v", spec, key, v, ok, err)
			}
		}
		for key := range settest.Numbered("member", 2000) {
			if n, _, err := s.Count(key); err == nil && n == 0 {
				t.Fatalf("%s: count of %s is 0", spec, key)
			}
			if _, ok, err := s.Get(key); err == nil && !ok {
				t.Fatalf("%s: no value of %s", spec, key)
			}
		}
	}
}

// TestAllowMillion checks that a blocklist beside the million most frequent names costs less than one bit per key at a
// rate of 1%.
func TestAllowMillion(t *testing.T) {
	const members, allowed = 133_604, 1_000_000
	s := allowing(t, bloomery.Config{Spec: "standard(fpr=0.01)"}, members, allowed)
	settest.Exact(t, "a million allowed keys", s, members, allowed)
	if i := s.Info(); i.Exceptions < 9000 || i.Exceptions > 11_500 || i.ExceptionBits > 85*members/100 {
		t.Errorf("%d exceptions in %d bits", i.Exceptions, i.ExceptionBits)
	}
}

// TestAllowReadOnly checks that every change of a Set with exceptions is refused and leaves the Set unchanged.
func TestAllowReadOnly(t *testing.T) {
	ctx, key := context.Background(), []byte("new")
	for _, spec := range []string{
		"counting", "standard", "partitioned(bits_per_key=8,effort=fast)", "rankindexed(fpr=0.1,value_bits=4)", "fuse",
	} {
		s := allowing(t, bloomery.Config{Spec: spec}, 500, 2000)
		was := settest.Must(s.MarshalBinary())
		other := settest.Must(bloomery.Build(ctx, settest.Numbered("member", 500), bloomery.Config{Spec: spec}))
		_, optimized := settest.Optimize(ctx, s, settest.Numbered("member", 500))
		for name, err := range map[string]error{
			"Add": s.Add(key), "AddMany": bloomery.Keyed[[]byte](s).AddMany([][]byte{key}),
			"Remove": s.Remove(key), "Merge": s.Merge(other),
			"Merge into": other.Merge(s), "Intersect": s.Intersect(other), "Intersect with": other.Intersect(s),
			"Reset": s.Reset(), "Optimize": optimized, "AddValue": s.AddValue(key, 1),
			"Put": s.Put(key, 1), "Upsert": s.Upsert(key, 1),
			"TestAndAdd": func() error { _, err := s.TestAndAdd(key); return err }(),
			"Removal":    func() error { _, err := settest.RemoveMany(s, [][]byte{key}); return err }(),
			"writers":    func() error { _, err := bloomery.FromBytes(was, bloomery.WithConcurrent()); return err }(),
		} {
			if !errors.Is(err, filter.ErrExceptions) || !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %s: %v", spec, name, err)
			}
		}
		if is, err := s.MarshalBinary(); err != nil || !bytes.Equal(is, was) {
			t.Errorf("%s: the set has changed: %v", spec, err)
		}
	}
}

func TestAllowTrimmed(t *testing.T) {
	s := allowing(t, bloomery.Config{Spec: "rankindexed(fpr=0.05)"}, 5000, 20_000)
	small := settest.Must(s.Trimmed())
	file := settest.Must(small.MarshalBinary())
	o := settest.Must(bloomery.FromBytes(file))
	settest.Exact(t, "trimmed", o, 5000, 20_000)
	trimmed := o.FileInfo().Trimmed
	if whole, _ := s.MarshalBinary(); len(file) >= len(whole) || !trimmed || !o.Equal(s) {
		t.Errorf("%d bytes trimmed, %d in full", len(file), len(whole))
	}
}

func TestAllowConflict(t *testing.T) {
	c := bloomery.Config{Spec: "blocked(fpr=0.01)", Allow: func(yield func([]byte) bool) {
		_ = yield([]byte("free")) && yield([]byte("member-7.example")) && yield([]byte("member-3.example")) &&
			yield([]byte("member-7.example"))
	}}
	_, err := bloomery.Build(context.Background(), settest.Numbered("member", 100), c)
	var both *filter.AllowedError
	if !errors.As(err, &both) || !errors.Is(err, filter.ErrAllowed) ||
		fmt.Sprint(both.Keys) != "[member-3.example member-7.example]" {
		t.Fatalf("%v", err)
	}
	const want = `key "member-3.example" is a member and allowed, and so are 1 others; take it out of one of the lists`
	if err.Error() != want {
		t.Errorf("error %q", err)
	}
}

func TestAllowRefused(t *testing.T) {
	ctx := context.Background()
	for spec, c := range map[string]bloomery.Config{
		"guava": {}, "redisbloom": {}, "bitsandblooms": {}, "spark": {}, "dcso": {},
		"blocked(layout=split)": {Hashing: bloomery.Hashing{ID: filter.XXH64}},
		"standard":              {Concurrent: true}, "fuse": {Hashing: bloomery.Hashing{ID: filter.Uint64}},
	} {
		c.Spec, c.Allow = spec, settest.Numbered("allowed", 1)
		if _, err := bloomery.Build(ctx, settest.Numbered("member", 1), c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "set")
	c := bloomery.Config{Spec: "blocked(layout=split)", Hashing: bloomery.Hashing{ID: filter.XXH64},
		Allow:    settest.Numbered("allowed", 1),
		Sharding: bloomery.Sharding{Shards: 2}}
	if _, err := settest.BuildShards(ctx, settest.Numbered("member", 1), dir, c); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("shards: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder of shards: %v", err)
	}
	if _, err := bloomery.New(bloomery.Config{Allow: settest.Numbered("allowed", 1)}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("New: %v", err)
	}
}

// TestAllower adds exceptions to a Set from a file, first with wrong members, and then replaces them.
func TestAllower(t *testing.T) {
	ctx := context.Background()
	const n, allowed = 300_000, 50_000
	built := settest.Must(bloomery.Build(ctx, settest.Numbered("member", n), bloomery.Config{Spec: "blocked(fpr=0.02)"}))
	path := filepath.Join(t.TempDir(), "a.bloom")
	settest.Check(t, built.Save(ctx, path))
	s := settest.Must(bloomery.Open(ctx, path))
	defer s.Close()
	apply := func(list, members string, allowed, n int) error {
		a := settest.Must(s.Allower(bloomery.JobConfig{Like: bloomery.Like{Set: s}}))
		settest.Check(t, intake.Copies(ctx, settest.Numbered(list, allowed), a.AllowMany))
		for key := range settest.Numbered(members, n) {
			settest.Check(t, a.AddMembers([][]byte{key}))
		}
		return a.Commit(ctx)
	}
	if err := apply("allowed", "member", allowed, n-1); !errors.Is(err, filter.ErrKeys) {
		t.Errorf("one member too few: %v", err)
	}
	if err := apply("allowed", "stranger", allowed, n); !errors.Is(err, filter.ErrKeys) {
		t.Errorf("other members: %v", err)
	}
	for _, list := range []string{"allowed", "others", "allowed"} {
		settest.Check(t, apply(list, "member", allowed, n))
		for key := range settest.Numbered(list, allowed) {
			if s.Contains(key) {
				t.Fatalf("%s is present", key)
			}
		}
	}
	settest.Exact(t, "applied", s, n, allowed)
	sizes := settest.SizesOfExceptions(t, s)
	settest.Check(t, apply("more", "member", allowed*21/20, n))
	if fmt.Sprint(sizes) != fmt.Sprint(settest.SizesOfExceptions(t, s)) {
		t.Errorf("5%% more exceptions: levels %v, then %v", sizes, settest.SizesOfExceptions(t, s))
	}
}
