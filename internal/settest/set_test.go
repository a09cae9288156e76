package settest_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/engine/shards"
	"github.com/bloomery/bloomery/internal/settest"
)

// integer returns the key of an integer: 8 bytes, and decimal digits in redisbloom.
func integer(s *bloomery.Set, n uint64) []byte {
	return settest.Must(s.Hasher().Form().AppendUint64(nil, n))
}

// TestForeign builds filters of other systems and checks that they contain their keys before and after a file is
// written and read.
func TestForeign(t *testing.T) {
	keys := strings.Fields("one two three four a-key-that-is-longer-than-thirty-two-bytes-so-that-blocks-matter")
	for spec, hash := range map[string]filter.HashID{
		"guava": filter.Murmur3, "bitsandblooms": filter.Murmur3Twice,
		"redisbloom": filter.Murmur64A, "spark": filter.Murmur3x86, "dcso": filter.FNV1,
		"blocked(layout=split)": filter.XXH64,
	} {
		set := settest.Must(bloomery.Build(t.Context(), slices.Values(keys),
			bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{ID: hash}}))
		empty := settest.Must(bloomery.New(bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{ID: hash},
			Keys: uint64(len(keys) + 1)}))
		for _, s := range []*bloomery.Set{set, empty} {
			settest.Check(t, s.Add(integer(s, 77)))
		}
		var b bytes.Buffer
		settest.Must(set.WriteTo(&b))
		again, err := bloomery.Read(&b)
		if err != nil || again.Hasher().ID() != hash || again.Info().Keys != uint64(len(keys)+1) {
			t.Fatalf("%s: %v", spec, err)
		}
		dst := make([]bool, len(keys))
		all := make([][]byte, len(keys))
		for i, k := range keys {
			all[i] = []byte(k)
		}
		bloomery.Keyed[[]byte](again).ContainsMany(dst, all)
		for i, k := range keys {
			if !dst[i] || !again.ContainsString(k) || !again.Contains([]byte(k)) || empty.ContainsString(k) {
				t.Errorf("%s: %s", spec, k)
			}
		}
		ints := bloomery.Keyed[uint64](again)
		if !ints.Contains(77) || ints.Contains(78) || !bloomery.Keyed[uint64](empty).Contains(77) {
			t.Errorf("%s: integers", spec)
		}
		if n := testing.AllocsPerRun(100, func() {
			if hash != filter.Murmur3Twice { // Murmur3Twice is called through an interface, which copies the key
				again.Contains(all[0])
				again.ContainsString(keys[0])
				bloomery.Keyed[uint64](again).Contains(5)
			}
		}); n != 0 {
			t.Errorf("%s: asking allocates %v times", spec, n)
		}
	}
	secret := filter.NewSecret()
	for _, c := range []bloomery.Config{{Spec: "guava", Hashing: bloomery.Hashing{ID: filter.XXH64}},
		{Spec: "guava", Hashing: bloomery.Hashing{Secret: secret}},
		{Spec: "standard", Hashing: bloomery.Hashing{ID: filter.XXH64}},
		{Spec: "blocked", Hashing: bloomery.Hashing{ID: filter.XXH64}}, {Spec: "blocked(layout=split)",
			Hashing: bloomery.Hashing{ID: filter.XXH64, Secret: secret}},
		{Spec: "guava", Hashing: bloomery.Hashing{ID: filter.XXH3}}, {Spec: "standard", Hashing: bloomery.Hashing{ID: 99}}} {
		c.Keys = 10
		if _, err := bloomery.New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestSetComeAndGo adds keys, sets values, and removes keys. Families that do not support an operation must refuse it.
func TestSetComeAndGo(t *testing.T) {
	key := []byte("key")
	set := settest.Must(bloomery.New(bloomery.Config{Spec: "rankindexed(value_bits=4)", Keys: 100}))
	if err := set.Put(key, 16); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("Put of five bits: %v", err)
	}
	if err := set.Put(key, 7); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("Put of an absent key: %v", err)
	}
	settest.Check(t, errors.Join(set.AddValue(key, 5), set.Put(key, 7)))
	trimmed := settest.Must(set.Trimmed())
	var full, sent bytes.Buffer
	if err := errors.Join(write(&full, set), write(&sent, trimmed)); err != nil || sent.Len() >= full.Len() {
		t.Errorf("%d bytes, trimmed %d: %v", full.Len(), sent.Len(), err)
	}
	back := settest.Must(bloomery.Read(&sent))
	for _, s := range []*bloomery.Set{set, back} {
		if v, ok, err := s.Get(key); v != 7 || !ok || err != nil {
			t.Errorf("Get: %d, %t, %v", v, ok, err)
		}
		if n, saturated, err := s.Count(key); n != 1 || saturated || err != nil {
			t.Errorf("Count: %d, %v", n, err)
		}
		if err := s.Remove(key); err != nil || s.Contains(key) {
			t.Errorf("Remove: %v", err)
		}
		if err := s.Remove(key); !errors.Is(err, filter.ErrNotFound) {
			t.Errorf("Remove of nothing: %v", err)
		}
		if _, ok, _ := s.Get(key); ok {
			t.Error("Get of nothing")
		}
	}
	plain := settest.Must(bloomery.New(bloomery.Config{Keys: 100}))
	_, _, get := plain.Get(key)
	_, _, count := plain.Count(key)
	_, trim := plain.Trimmed()
	for what, err := range map[string]error{"Put": plain.Put(key, 1), "Get": get, "Count": count,
		"Remove": plain.Remove(key), "Trimmed": trim} {
		if !errors.Is(err, filter.ErrUnsupported) || !strings.Contains(err.Error(), "standard(k=7,m=960) does not ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func write(w io.Writer, s *bloomery.Set) error {
	_, err := s.WriteTo(w)
	return err
}

// TestSnapshotApart changes a Set and its Snapshot. Neither may contain the keys of the other.
func TestSnapshotApart(t *testing.T) {
	const spec = "rankindexed(capacity=1000)"
	keys := []string{"a", "b"}
	dir, file := filepath.Join(t.TempDir(), "set"), filepath.Join(t.TempDir(), "f.bloom")
	settest.Must(settest.BuildShards(t.Context(), slices.Values(keys), dir, bloomery.Config{Spec: spec,
		Sharding: bloomery.Sharding{Shards: 2}}))
	// The file is large enough that Open maps it.
	large := settest.Build(t, settest.Words(2_000_000/16), bloomery.Config{Spec: "standard(bytes=2000000)"})
	settest.Check(t, large.Save(t.Context(), file))
	open := func(path string, o ...bloomery.Option) *bloomery.Set {
		s := settest.Must(bloomery.Open(t.Context(), path, o...))
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	for name, s := range map[string]*bloomery.Set{
		"plain":    settest.Build(t, keys, bloomery.Config{Spec: spec}),
		"writers":  settest.Build(t, keys, bloomery.Config{Spec: spec, Concurrent: true}),
		"raw keys": settest.Build(t, keys, bloomery.Config{Spec: "bitsandblooms(m=10000,k=3)"}),
		"mapped":   open(file), "sharded": open(dir), "sharded, writers": open(dir, bloomery.WithConcurrent()),
	} {
		shot, err := s.Clone()
		if err != nil {
			t.Fatal(name, err)
		}
		if shot == s {
			t.Errorf("%s: the Snapshot is the Set", name)
		}
		before := shot.Len()
		if err := errors.Join(s.AddString("only the set"), shot.AddString("only the snapshot")); err != nil {
			t.Fatal(name, err)
		}
		if s.ContainsString("only the snapshot") || shot.ContainsString("only the set") {
			t.Errorf("%s: a change of one is in the other", name)
		}
		if !s.ContainsString("only the set") || !shot.ContainsString("only the snapshot") || shot.Len() != before+1 {
			t.Errorf("%s: a change is lost", name)
		}
		if shot.Info().FPRPlanned != s.Info().FPRPlanned || shot.Spec() != s.Spec() {
			t.Errorf("%s: %v and %v", name, s, shot)
		}
	}
	var zero bloomery.Set
	if shot, err := zero.Clone(); err != nil || shot.ContainsString("a") {
		t.Errorf("of the zero Set: %v, %v", shot, err)
	}
}

// TestNoCopy checks that saving, comparing and estimating a plain Set do not copy its filter.
func TestNoCopy(t *testing.T) {
	const size = 8 << 20
	s := settest.Build(t, settest.Words(1000), bloomery.Config{Spec: "standard(bytes=8388608)"})
	o := settest.Build(t, settest.Words(1000), bloomery.Config{Spec: "standard(bytes=8388608)"})
	for what, do := range map[string]func() error{
		"Save":             func() error { return s.Save(t.Context(), filepath.Join(t.TempDir(), "f")) },
		"EstimateInterval": func() error { _, err := s.EstimateInterval(); return err },
		"EstimateOverlap":  func() error { _, err := s.EstimateOverlap(o); return err },
		"Merge":            func() error { return s.Merge(o) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := do()
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > size/2 {
			t.Errorf("%s allocates %d bytes for a filter of %d: %v", what, n, size, err)
		}
	}
}

// TestAnswersAgree queries Sets of all families for keys of all lengths, by every method of a Set. All must answer as
// the Engine in Go does for the hash of the key.
func TestAnswersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 400
	texts, integers := make([][]byte, 4*n), make([]uint64, 4*n)
	for i := range texts {
		texts[i] = make([]byte, r.IntN(1+i%200))
		for j := range texts[i] {
			texts[i][j] = byte(r.Uint32())
		}
		integers[i] = r.Uint64()
	}
	for _, spec := range []string{
		"standard(fpr=0.1)", "standard(fpr=0.001)", "blocked(fpr=0.1)", "blocked(fpr=0.000001)",
		"blocked(fpr=0.1,layout=split)",
		"fuse(width=4)", "fuse(width=8)", "fuse(width=16)", "fuse(width=20)", "ribbon(r=3)",
		"ribbon(r=12)", "ribbon(r=5,w=128)",
		"partitioned(effort=fast,fpr=0.05)", "blockpartitioned(effort=fast,fpr=0.05)",
		"twochoice(effort=fast,fpr=0.05)",
		"rankindexed(fpr=0.1)", "rankindexed(fpr=0.1,bucket=512)", "rankindexed(fpr=0.1,growth=8)",
		"counting(fpr=0.1)", "guava(fpr=0.1)",
		"redisbloom(fpr=0.1)", "bitsandblooms(fpr=0.1)", "spark(fpr=0.1)", "spark(fpr=0.1,version=2)", "dcso(fpr=0.1)",
	} {
		for _, hash := range []bloomery.Config{
			{Spec: spec}, {Spec: spec, Hashing: bloomery.Hashing{Seed: r.Uint64()}}, {Spec: spec,
				Hashing: bloomery.Hashing{Secret: &filter.Secret{1, 2, 3}}},
			{Spec: spec, Hashing: bloomery.Hashing{ID: filter.XXH64}},
		} {
			s, err := bloomery.Build(t.Context(), slices.Values(texts[:n]), hash)
			if err != nil {
				if hash.Hashing.Seed == 0 && hash.Hashing.ID == 0 && hash.Hashing.Secret == nil {
					t.Errorf("%s: %v", spec, err)
				}
				continue // the family has its own hash function
			}
			alone := openedEngine(s, hash.Hashing.Secret)
			checkAnswers(t, s, alone, texts, n)
			s = settest.Must(bloomery.Build(t.Context(), slices.Values(integers[:n]), hash))
			checkAnswers(t, s, openedEngine(s, hash.Hashing.Secret), integers, n)
			if hash.Hashing.Secret != nil || !alone.Facts().Hashes { // shards are built from hashes
				continue
			}
			hash.Sharding.Dir, hash.Sharding.Shards = t.TempDir(), 3
			s = settest.Must(bloomery.Build(t.Context(), slices.Values(texts[:n]), hash))
			folder := settest.Must(shards.Open(t.Context(), hash.Sharding.Dir, engine.Options{}))
			checkAnswers(t, s, folder, texts, n) // at first, no shard is loaded
			checkAnswers(t, s, folder, texts, n)
			settest.Check(t, errors.Join(s.Close(), folder.Close()))
		}
	}
}

// checkAnswers queries s, which contains the first n keys, and e, an Engine of the same filter.
func checkAnswers[K []byte | uint64](t *testing.T, s *bloomery.Set, e engine.Engine, keys []K, n int) {
	t.Helper()
	view, many := bloomery.Keyed[K](s), make([]bool, len(keys))
	first := make([]bool, len(keys)) // single queries before batches, which load all shards
	for i, k := range keys {
		first[i] = view.Contains(k)
	}
	view.ContainsMany(many, keys)
	positives := 0
	for i, k := range keys {
		got := []bool{first[i], view.Contains(k), many[i]}
		var h filter.Hash
		switch k := any(k).(type) {
		case []byte:
			h = s.Hash(k)
			got = append(got, s.Contains(k), s.ContainsString(string(k)), bloomery.Keyed[string](s).Contains(string(k)))
		case uint64:
			h = s.Hasher().SumUint64(k)
		}
		want := got[0]
		if e.Facts().Hashes { // other families are queried with the key itself
			want = e.Contains(h, nil)
			got = append(got, s.ContainsHash(h), bloomery.Keyed[filter.Hash](s).Contains(h))
		}
		if i < n && !want || slices.Contains(got, !want) {
			t.Fatalf("%s, %s, key %d of %d: %v, want %v", s.Spec(), s.Hasher(), i, n, got, want)
		}
		if want {
			positives++
		}
	}
	if positives == len(keys) {
		t.Errorf("%s: all keys are present", s.Spec())
	}
}

// openedEngine returns an Engine of the same filter as s, which was built with a secret or nil.
func openedEngine(s *bloomery.Set, secret *filter.Secret) *one.Set {
	return settest.Must(one.FromBytes(settest.Must(s.MarshalBinary()), engine.Options{Secret: secret}))
}
