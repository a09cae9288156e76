package main

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestNew fills an empty set in every way and queries it in every way.
func TestNew(t *testing.T) {
	for _, spec := range append(slices.Clone(concurrentSpecs), "twochoice(bits_per_key=16)") {
		set := must(bloomery.New(bloomery.Config{Spec: spec, Keys: 100}))(t)
		h := set.Hasher()
		present := set.Contains([]byte("bytes")) || set.ContainsString("string")
		if present || bloomery.Keyed[uint64](set).Contains(1) || set.ContainsHash(h.SumString("hash")) {
			t.Errorf("%s: an empty set contains a key", spec)
		}
		texts, ids, hashes := bloomery.Keyed[string](set), bloomery.Keyed[uint64](set), bloomery.Keyed[filter.Hash](set)
		err := errors.Join(
			set.Add([]byte("bytes")), set.AddString("string"), ids.Add(1), hashes.Add(h.SumString("hash")),
			texts.AddMany([]string{"many", "keys"}), hashes.AddMany([]filter.Hash{h.SumString("hashes")}))
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		holds(t, set, []string{"bytes", "string", "hash", "many", "keys", "hashes"})
		if !ids.Contains(1) || set.Len() != 7 {
			t.Errorf("%s: %v", spec, set)
		}
		if e, err := set.EstimateInterval(); math.Abs(e.Keys-7) > 2 || err != nil {
			t.Errorf("%s: estimated %+v keys of 7, %v", spec, e, err)
		}
		if text := set.Info().String(); !strings.Contains(text, ": 7 keys, ") || !strings.Contains(text, " bits per key") {
			t.Errorf("%s: %s", spec, text)
		}
		if i := set.Info(); i.Keys != 7 || i.Bits == 0 || i.Spec.Family() != set.Spec().Family() {
			t.Errorf("%s: %+v", spec, i)
		}
		if err := set.Reset(); err != nil || set.Len() != 0 || set.ContainsString("bytes") {
			t.Errorf("%s: after Reset: %v, %v", spec, set, err)
		}
	}
	for _, spec := range []string{"fuse(width=8)", "partitioned(bits_per_key=8)", "blockpartitioned(bits_per_key=8)"} {
		_, err := bloomery.New(bloomery.Config{Spec: spec, Keys: 100})
		unsupported(t, spec+": New", err, "standard")
	}
}

// TestEstimate compares two sets with 100 common keys.
func TestEstimate(t *testing.T) {
	var sets [2]*bloomery.Set
	for i := range sets {
		sets[i] = must(bloomery.New(bloomery.Config{Spec: "standard(m=20000,k=5)"}))(t)
		for k := range uint64(300) {
			if err := bloomery.Keyed[uint64](sets[i]).Add(uint64(200*i) + k); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := must(sets[0].EstimateOverlap(sets[1]))(t)
	for what, e := range map[string]struct {
		is   bloomery.Estimate
		want float64
	}{"a": {o.A, 300}, "b": {o.B, 300}, "union": {o.Union, 500}, "intersection": {o.Intersection, 100}} {
		if e.is.Counted || e.is.Low > e.want || e.want > e.is.High || math.Abs(e.is.Keys-e.want) > 10 {
			t.Errorf("%s: %+v, want %g", what, e.is, e.want)
		}
	}
	if a := must(sets[0].EstimateInterval())(t); a != o.A {
		t.Errorf("%+v, want %+v", a, o.A)
	}
}

// TestTestAndAdd adds each key twice. The second time the key must be present.
func TestTestAndAdd(t *testing.T) {
	for _, spec := range slices.Concat(concurrentSpecs, foreignSpecs, []string{"twochoice(bits_per_key=16)"}) {
		set := must(bloomery.New(bloomery.Config{Spec: spec, Keys: 100}))(t)
		hash := set.Hasher().SumString("hash")
		raw := strings.HasPrefix(spec, "bitsandblooms")
		for round, want := range []bool{false, true} {
			for what, testAndAdd := range map[string]func() (bool, error){
				"bytes":   func() (bool, error) { return set.TestAndAdd([]byte("bytes")) },
				"string":  func() (bool, error) { return bloomery.Keyed[string](set).TestAndAdd("string") },
				"integer": func() (bool, error) { return bloomery.Keyed[uint64](set).TestAndAdd(1) },
				"hash":    func() (bool, error) { return bloomery.Keyed[filter.Hash](set).TestAndAdd(hash) },
			} {
				present, err := testAndAdd()
				if raw && what == "hash" {
					if !errors.Is(err, errors.ErrUnsupported) {
						t.Errorf("%s: TestAndAdd of a hash: %v", spec, err)
					}
					continue
				}
				if present != want || err != nil {
					t.Errorf("%s: %s, round %d: %t, %v", spec, what, round, present, err)
				}
			}
		}
		if n := set.Len(); n != 4 && !(raw && n == 3) {
			t.Errorf("%s: %d keys", spec, n)
		}
	}
	fuse := built(t, words("key ", 100), bloomery.Config{Spec: "fuse(width=8)"})
	_, err := bloomery.Keyed[string](fuse).TestAndAdd("new")
	unsupported(t, "fuse: TestAndAdd", err, "Needs.Add")
}

// TestRemove adds each key twice and removes it three times.
func TestRemove(t *testing.T) {
	for _, spec := range removableSpecs {
		set := must(bloomery.New(bloomery.Config{Spec: spec, Keys: 100}))(t)
		texts, ids, hashes := bloomery.Keyed[string](set), bloomery.Keyed[uint64](set), bloomery.Keyed[filter.Hash](set)
		hash := set.Hasher().SumString("hash")
		adds := []func() error{
			func() error { return set.Add([]byte("bytes")) }, func() error { return set.AddString("string") },
			func() error { return ids.Add(1) }, func() error { return hashes.Add(hash) },
		}
		removes := []func() error{
			func() error { return set.Remove([]byte("bytes")) }, func() error { return texts.Remove("string") },
			func() error { return ids.Remove(1) }, func() error { return hashes.Remove(hash) },
		}
		for i := range adds {
			if err := errors.Join(adds[i](), adds[i](), removes[i]()); err != nil || set.Len() != 1 {
				t.Errorf("%s: %v, %v", spec, set, err)
			}
			if err := removes[i](); err != nil || set.Len() != 0 {
				t.Errorf("%s: %v, %v", spec, set, err)
			}
			if err := removes[i](); !errors.Is(err, filter.ErrNotFound) {
				t.Errorf("%s: removing an absent key: %v", spec, err)
			}
		}
	}
	plain := must(bloomery.New(bloomery.Config{Keys: 100}))(t)
	unsupported(t, "Remove", plain.Remove([]byte("key")), "counting")
	unsupported(t, "Remove of a string", bloomery.Keyed[string](plain).Remove("key"), "rankindexed")
	unsupported(t, "Remove of an integer", bloomery.Keyed[uint64](plain).Remove(1), "counting")
	unsupported(t, "Remove of a hash", bloomery.Keyed[filter.Hash](plain).Remove(filter.Hash{}), "counting")
}

// TestRemoval removes a list with strangers. The removal must be refused, and then succeed by force.
func TestRemoval(t *testing.T) {
	for _, spec := range removableSpecs {
		keys := words("key ", 20_000)
		set := built(t, keys, bloomery.Config{Spec: spec})
		short := must(set.Removal(bloomery.JobConfig{}))(t)
		defer short.Close()
		if err := short.AddMany([][]byte{[]byte(keys[0]), []byte("unknown")}); err != nil {
			t.Fatal(err)
		}
		got, err := short.Commit(t.Context())
		if err != nil || got.Removed+got.NotFound != 2 || got.Strangers >= bloomery.MaxStrangers {
			t.Errorf("%s: %+v, %v", spec, got, err)
		}
		list := must(set.Removal(bloomery.JobConfig{Building: bloomery.Building{Memory: 1 << 16, TempDir: t.TempDir()}}))(t)
		defer list.Close()
		err = errors.Join(list.AddMany(slicesOf(words("stranger ", 20_000))), list.AddMany([][]byte{[]byte(keys[1])}))
		if err != nil {
			t.Fatal(err)
		}
		before := set.Len()
		seen := must(list.Look(t.Context()))(t)
		got, err = list.Commit(t.Context())
		if !errors.Is(err, filter.ErrStrangers) || got != seen || set.Len() != before {
			t.Errorf("%s: %+v after %+v, %v", spec, got, seen, err)
		}
		list.Force()
		if got, err := list.Commit(t.Context()); err != nil || got.Lost == 0 || set.Len() != before-got.Removed {
			t.Errorf("%s: by force: %+v, %v", spec, got, err)
		}
	}
}

func TestCount(t *testing.T) {
	for _, spec := range []string{
		"rankindexed(fpr=0.001,counting=1)", "counting(fpr=0.001)",
	} {
		set := must(bloomery.New(bloomery.Config{Spec: spec, Keys: 100}))(t)
		for range 3 {
			if err := errors.Join(set.AddString("key"), bloomery.Keyed[uint64](set).Add(5)); err != nil {
				t.Fatal(err)
			}
		}
		if err := bloomery.Keyed[uint64](set).Remove(5); err != nil {
			t.Fatal(err)
		}
		for what, count := range map[string]func() (uint64, bool, error){
			"3 bytes":  func() (uint64, bool, error) { return set.Count([]byte("key")) },
			"3 string": func() (uint64, bool, error) { return bloomery.Keyed[string](set).Count("key") },
			"3 hash": func() (uint64, bool, error) {
				return bloomery.Keyed[filter.Hash](set).Count(set.Hasher().SumString("key"))
			},
			"2 integer": func() (uint64, bool, error) { return bloomery.Keyed[uint64](set).Count(5) },
			"0 absent":  func() (uint64, bool, error) { return bloomery.Keyed[string](set).Count("absent") },
		} {
			if n, saturated, err := count(); n != uint64(what[0]-'0') || saturated || err != nil {
				t.Errorf("%s: %s: %d, %t, %v", spec, what, n, saturated, err)
			}
		}
	}
	_, _, err := built(t, words("key ", 100), bloomery.Config{}).Count([]byte("key 1"))
	unsupported(t, "Count", err, "counting")
}

func TestValues(t *testing.T) {
	set := must(bloomery.New(bloomery.Config{Spec: "rankindexed(fpr=0.0001,value_bits=4)", Keys: 100}))(t)
	a, b, c := []byte("a"), []byte("b"), []byte("c")
	if err := errors.Join(set.AddValue(a, 3), set.Upsert(b, 4), set.Upsert(b, 5), set.Add(c), set.Put(c, 6)); err != nil {
		t.Fatal(err)
	}
	for want, key := range map[uint64][]byte{3: a, 5: b, 6: c} {
		if v, ok, err := set.Get(key); v != want || !ok || err != nil {
			t.Errorf("Get(%s) = %d, %t, %v; want %d", key, v, ok, err, want)
		}
	}
	if set.Len() != 3 {
		t.Errorf("%d keys", set.Len())
	}
	if _, ok, err := set.Get([]byte("d")); ok || err != nil {
		t.Errorf("an absent key has a value, %v", err)
	}
	if err := set.Put([]byte("d"), 1); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("Put of an absent key: %v", err)
	}
	if err := set.Upsert(a, 16); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("a value of five bits: %v", err)
	}
	plain := built(t, words("key ", 100), bloomery.Config{})
	_, _, err := plain.Get(a)
	for what, err := range map[string]error{
		"Get": err, "AddValue": plain.AddValue(a, 1), "Put": plain.Put(a, 1), "Upsert": plain.Upsert(a, 1),
	} {
		unsupported(t, what, err, "rankindexed")
	}
}

// TestCombine merges, intersects, clones and compares.
func TestCombine(t *testing.T) {
	left, right := words("left ", 500), words("right ", 500)
	both := words("both ", 500)
	for _, spec := range []string{"standard(m=20000,k=7)", "blocked(blocks=40,k=6)", "counting(m=20000,k=5)"} {
		c := bloomery.Config{Spec: spec}
		a, b := built(t, append(slices.Clone(left), both...), c), built(t, append(slices.Clone(right), both...), c)
		union := must(a.Clone())(t)
		if !union.Equal(a) || !a.Equal(union) || a.Equal(b) || a.Equal(nil) {
			t.Errorf("%s: Equal", spec)
		}
		if err := union.AddString(both[0]); err != nil || union.Len() != a.Len()+1 || union.Equal(a) {
			t.Errorf("%s: after a repeated key: %v, Equal to %v, %v", spec, union, a, err)
		}
		if err := union.Merge(b); err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		holds(t, union, slices.Concat(left, both, right))
		if union.Equal(a) || a.ContainsString(right[0]) && a.ContainsString(right[1]) && a.ContainsString(right[2]) {
			t.Errorf("%s: Merge into a clone changed the original", spec)
		}
		other := built(t, right, bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{Seed: 1}})
		for what, err := range map[string]error{
			"nil": a.Merge(nil), "an empty one": a.Merge(new(bloomery.Set)), "another seed": a.Merge(other),
			"another size": a.Merge(built(t, right, bloomery.Config{Spec: "standard(m=1000,k=7)"})),
		} {
			if !errors.Is(err, filter.ErrMismatch) {
				t.Errorf("%s: Merge with %s: %v", spec, what, err)
			}
		}
	}
	a := built(t, append(slices.Clone(left), both...), bloomery.Config{Spec: "standard(m=20000,k=7)"})
	b := built(t, append(slices.Clone(right), both...), bloomery.Config{Spec: "standard(m=20000,k=7)"})
	if err := a.Intersect(nil); !errors.Is(err, filter.ErrMismatch) {
		t.Errorf("Intersect(nil): %v", err)
	}
	if err := a.Intersect(b); err != nil {
		t.Fatal(err)
	}
	holds(t, a, both)
	gone := 0
	for _, k := range left {
		if !a.ContainsString(k) {
			gone++
		}
	}
	if gone < 450 {
		t.Errorf("of 500 keys that only one set had, %d are gone", gone)
	}
	fuse := built(t, left, bloomery.Config{Spec: "fuse(width=8)"})
	unsupported(t, "fuse: Merge", fuse.Merge(must(fuse.Clone())(t)), "standard")
	unsupported(t, "fuse: Intersect", fuse.Intersect(must(fuse.Clone())(t)), "standard")
	unsupported(t, "fuse: Reset", fuse.Reset(), "standard")
	_, err := fuse.Trimmed()
	unsupported(t, "fuse: Trimmed", err, "rankindexed")
	_, err = fuse.Optimizer(bloomery.JobConfig{})
	unsupported(t, "fuse: Optimizer", err, "partitioned")
}

// TestTrimmed writes a set in its trimmed form, which must be smaller, and reads it as the same set.
func TestTrimmed(t *testing.T) {
	keys := words("key ", 2000)
	set := built(t, keys, bloomery.Config{Spec: "rankindexed(fpr=0.01)"})
	trimmed := must(set.Trimmed())(t)
	short, full := bytesOf(t, trimmed), bytesOf(t, set)
	if len(short) >= len(full) {
		t.Errorf("trimmed to %d bytes of %d", len(short), len(full))
	}
	var back bloomery.Set
	if err := back.UnmarshalBinary(short); err != nil {
		t.Fatal(err)
	}
	holds(t, &back, keys)
	if !back.Equal(set) {
		t.Error("the set that comes back is another one")
	}
	if i := back.FileInfo(); i.Bytes != uint64(len(short)) || !i.Trimmed || i.Version == 0 {
		t.Errorf("the file is %+v", i)
	}
	if i := set.FileInfo(); i != (bloomery.FileInfo{}) {
		t.Errorf("a set without a file has %+v", i)
	}
	if again := bytesOf(t, must(back.Full())(t)); !bytes.Equal(again, full) {
		t.Error("the full form has other bytes")
	}
}

func TestRate(t *testing.T) {
	keys := words("key ", 2000)
	for _, spec := range specs {
		set := built(t, keys, bloomery.Config{Spec: spec})
		r := rateOf(t, set, 20_000)
		promised := set.Info().FPRPosterior
		if r.Trials != 20_000 || !r.Holds(promised) || r.Low > r.Observed || r.High < r.Observed {
			t.Errorf("%s: %+v; promised %g", spec, r, promised)
		}
	}
}

// TestVerifier queries for members, for absent keys that include a member, and for random keys.
func TestVerifier(t *testing.T) {
	keys := words("key ", 2000)
	set := built(t, keys, bloomery.Config{Spec: specs[0]})
	members := slicesOf(keys)
	v := must(set.Verifier(bloomery.JobConfig{Building: bloomery.Building{Memory: 1 << 20, TempDir: t.TempDir()},
		Absent: 20_001}))(t)
	defer v.Close()
	absent := append(slicesOf(words("absent ", 20_000)), members[7])
	err := errors.Join(v.AddAbsent(absent), v.AskMembers(members), v.AskRandom(t.Context(), 20_000, 1, nil))
	var r bloomery.Verification
	if err == nil {
		r, err = v.Commit(t.Context())
	}
	right := r.Members == 2000 && r.FalseNegatives == 0 && r.Rate.Trials == 40_000
	if err != nil || !right || !r.Rate.Holds(set.Info().FPRPosterior) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestZero queries and changes the zero Set.
func TestZero(t *testing.T) {
	var s bloomery.Set
	key := []byte("key")
	dst := []bool{true}
	bloomery.Keyed[[]byte](&s).ContainsMany(dst, [][]byte{key})
	if dst[0] || s.Contains(key) || s.ContainsString("key") || s.ContainsHash(filter.Hash{}) ||
		bloomery.Keyed[uint64](&s).Contains(1) {
		t.Error("a zero Set contains a key")
	}
	if e, err := s.EstimateInterval(); s.Len() != 0 || e.Keys != 0 || s.Info().Keys != 0 {
		t.Errorf("a zero Set has keys: %+v, %v", e, err)
	}
	_, testAndAdd := s.TestAndAdd(key)
	_, _, count := s.Count(key)
	_, _, get := s.Get(key)
	_, marshal := s.MarshalBinary()
	_, trimmed := s.Trimmed()
	_, optimizer := s.Optimizer(bloomery.JobConfig{})
	_, addition := s.Addition(bloomery.JobConfig{})
	_, removal := s.Removal(bloomery.JobConfig{})
	_, allower := s.Allower(bloomery.JobConfig{})
	for what, err := range map[string]error{
		"Add": s.Add(key), "Remove": s.Remove(key), "TestAndAdd": testAndAdd, "Count": count, "Get": get,
		"Put": s.Put(key, 1), "AddValue": s.AddValue(key, 1), "Upsert": s.Upsert(key, 1), "Reset": s.Reset(),
		"Merge": s.Merge(&s), "Intersect": s.Intersect(&s), "MarshalBinary": marshal, "Trimmed": trimmed,
		"Save": s.Save(t.Context(), t.TempDir()+"/f"), "Optimizer": optimizer, "Addition": addition, "Removal": removal,
		"Allower": allower,
	} {
		if err == nil {
			t.Errorf("%s of a zero Set succeeds", what)
		}
	}
	if clone, err := s.Clone(); err != nil || !clone.Equal(&s) {
		t.Errorf("Clone: %v, %v", clone, err)
	}
	if err := errors.Join(s.Err(), s.Close()); err != nil {
		t.Error(err)
	}
}

// unsupported checks the error for a missing ability of a family: it names a family that has the ability.
func unsupported(t *testing.T, what string, err error, family string) {
	t.Helper()
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), family) {
		t.Errorf("%s: %v; want an error wrapping errors.ErrUnsupported that names %s", what, err, family)
	}
}
