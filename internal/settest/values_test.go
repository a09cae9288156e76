package settest_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
	"github.com/bloomery/bloomery/plan"
)

// classes returns n keys with values of 6 bits.
func classes(n int) map[string]uint64 {
	m := make(map[string]uint64, n)
	for i, w := range settest.Words(n) {
		m[w] = uint64(i*i) % 64
	}
	return m
}

// TestBuildValues checks that a static function returns the values of its keys, added in each way, also after it was
// read from a file, and with exceptions.
func TestBuildValues(t *testing.T) {
	for _, n := range []int{0, 1, 300, 20_000} {
		want := classes(n)
		keys := slices.Sorted(maps.Keys(want))
		for _, spec := range []string{
			"ribbon(value_bits=6)", "ribbon(r=0,value_bits=6)",
			"rankindexed(fpr=1e-12,value_bits=6)", "rankindexed(fpr=1e-12,growth=3,value_bits=6)", // no keys look alike
		} {
			c := bloomery.Config{Spec: spec, Hashing: bloomery.Hashing{Seed: 5}}
			set := settest.Must(bloomery.BuildValues(t.Context(), maps.All(want), c))
			b := settest.Must(bloomery.NewBuilder(t.Context(), c))
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					for j := i; j < len(keys); j += 3 { // some keys are added twice
						var err error
						switch k := keys[j]; j % 3 {
						case 0:
							err = b.AddValue([]byte(k), want[k])
						case 1:
							err = b.AddValue([]byte(k), want[k])
						default:
							err = b.AddManyValues([][]byte{[]byte(k)}, []uint64{want[k]})
						}
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			again, err := b.Build(t.Context())
			if err != nil || !again.Equal(set) || again.Len() != uint64(n) {
				t.Fatalf("%s, %d keys: another set: %v", spec, n, err)
			}
			file := settest.Must(set.MarshalBinary())
			set = settest.Must(bloomery.FromBytes(file))
			if bits, err := set.ValueBits(); bits != 6 || err != nil {
				t.Errorf("%s: %d bits, %v", spec, bits, err)
			}
			for k, v := range want {
				if got, ok, err := set.Get([]byte(k)); got != v || !ok || err != nil || !set.ContainsString(k) {
					t.Fatalf("%s, %d keys, %s: %d, %t, %v; want %d", spec, n, k, got, ok, err, v)
				}
			}
			only := strings.Contains(spec, "r=0")
			if i := set.Info(); i.ValuesOnly() != only || i.Exceeded() {
				t.Errorf("%s: %+v", spec, i)
			}
			if _, ok, _ := set.Get([]byte("absent")); only && !ok {
				t.Errorf("%s: a key is absent without a fingerprint", spec)
			}
			if err := set.Put([]byte("key-0"), 1); !errors.Is(err, filter.ErrUnsupported) &&
				!strings.HasPrefix(spec, "rankindexed") {
				t.Errorf("Put: %v", err)
			}
		}
	}
}

// TestBuildValuesAllowed checks that a static function with exceptions returns no value for allowed keys.
func TestBuildValuesAllowed(t *testing.T) {
	want := classes(2000)
	allowed := func(yield func([]byte) bool) {
		for i := range 5000 {
			if !yield(fmt.Appendf(nil, "allowed-%d", i)) {
				return
			}
		}
	}
	set, err := bloomery.BuildValues(t.Context(), maps.All(want), bloomery.Config{
		Spec: "ribbon(r=3,value_bits=6)", Allow: allowed,
	})
	if err != nil || set.Info().Exceptions == 0 {
		t.Fatalf("%v, %+v", err, set.Info())
	}
	for k := range allowed {
		if _, ok, err := set.Get(k); ok || err != nil {
			t.Fatalf("%s: %t, %v", k, ok, err)
		}
	}
	for k, v := range want {
		if got, ok, _ := set.Get([]byte(k)); !ok || got != v {
			t.Fatalf("%s: %d, %t; want %d", k, got, ok, v)
		}
	}
}

// TestBuildValuesErrors checks the kind of error of each mistake, and that the error for a key with two values names
// the key.
func TestBuildValuesErrors(t *testing.T) {
	twice := func(yield func(string, uint64) bool) {
		for i, w := range settest.Words(1000) {
			if !yield(w, uint64(i%5)) || i == 700 && !yield("key-333", 7) {
				return
			}
		}
	}
	_, err := bloomery.BuildValues(t.Context(), twice, bloomery.Config{Spec: "ribbon(value_bits=6)"})
	var both *family.ValueError
	if !errors.As(err, &both) || !errors.Is(err, filter.ErrValues) ||
		both.Key != "key-333" || both.Values != [2]uint64{3, 7} {
		t.Errorf("two values: %v", err)
	}
	numbers := func(yield func(uint64, uint64) bool) {
		_ = yield(5, 1) && yield(1234567, 2) && yield(1234567, 3)
	}
	_, err = bloomery.BuildValues(t.Context(), numbers, bloomery.Config{Spec: "ribbon(value_bits=6)"})
	if want := `key "1234567" has the values 2 and 3: want one value a key`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	one := maps.All(map[string]uint64{"a": 70})
	for spec, want := range map[string]error{
		"ribbon(value_bits=6)": filter.ErrConfig, "ribbon": filter.ErrConfig, "standard": filter.ErrUnsupported,
		"rankindexed(value_bits=6)": filter.ErrConfig, "rankindexed": filter.ErrConfig, "redisbloom": filter.ErrUnsupported,
	} {
		if _, err := bloomery.BuildValues(t.Context(), one, bloomery.Config{Spec: spec}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", spec, err, want)
		}
	}
	if _, err := bloomery.Build(t.Context(), slices.Values(settest.Words(3)),
		bloomery.Config{Spec: "ribbon(value_bits=6)"}); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("keys without values: %v", err)
	}
	b := settest.Must(bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: "ribbon(value_bits=6)"}))
	settest.Check(t, b.Close())
	if err := b.AddHashValues([]filter.Hash{b.Hasher().SumUint64(1)}, []uint64{2}); err == nil {
		t.Error("a value after Close")
	}
}

// TestShardedBuildValues checks that a sharded set returns the values, whether hashes go to a file or not, and that a
// wrong Config.Keys is an error.
func TestShardedBuildValues(t *testing.T) {
	want := classes(10_000)
	keys := slices.Sorted(maps.Keys(want))
	values := make([]uint64, len(keys))
	all := make([][]byte, len(keys))
	for i, k := range keys {
		all[i], values[i] = []byte(k), want[k]
	}
	for _, c := range []bloomery.Config{
		{Spec: "ribbon(value_bits=6)", Sharding: bloomery.Sharding{Shards: 3}}, {Spec: "ribbon(value_bits=6)",
			Sharding: bloomery.Sharding{Shards: 3}, Building: bloomery.Building{Memory: 1}},
		{Spec: "ribbon(r=0,value_bits=6)", Keys: 10_000},
		{Spec: "rankindexed(fpr=1e-12,value_bits=6)", Sharding: bloomery.Sharding{Shards: 3}},
		{Spec: "rankindexed(fpr=1e-12,value_bits=6)", Sharding: bloomery.Sharding{Shards: 3},
			Building: bloomery.Building{Memory: 1}},
		{Needs: plan.Needs{ValueBits: 6, FPR: 1e-12}, Sharding: bloomery.Sharding{Shards: 2}, Keys: 10_000},
	} {
		dir := filepath.Join(t.TempDir(), "set")
		b := settest.Must(settest.NewShardBuilder(dir, c))
		defer b.Close()
		settest.Check(t, b.AddManyValues(all, values))
		settest.Must(b.Build(t.Context()))
		set, err := bloomery.Open(t.Context(), dir)
		settest.Check(t, err)
		defer set.Close()
		for i, k := range all {
			if v, ok, err := set.Get(k); v != values[i] || !ok || err != nil {
				t.Fatalf("%+v, %s: %d, %t, %v; want %d", c, k, v, ok, err, values[i])
			}
		}
		if set.Info().Exceeded() {
			t.Errorf("%+v: %+v", c, set.Info())
		}
		v := settest.Must(set.Verifier(bloomery.JobConfig{}))
		defer v.Close()
		values[7] ^= 1
		err = v.AskValues(all, values)
		values[7] ^= 1
		if r, _ := v.Commit(t.Context()); r.WrongValues != 1 || r.Members != 10_000 || err != nil {
			t.Errorf("%+v, %v", r, err)
		}
	}
	mixed := settest.Must(settest.NewShardBuilder(filepath.Join(t.TempDir(), "set"),
		bloomery.Config{Spec: "ribbon(value_bits=32)", Sharding: bloomery.Sharding{Shards: 3}}))
	settest.Check(t, errors.Join(mixed.AddManyValues(all, values), mixed.AddString("without")))
	if _, err := mixed.Build(t.Context()); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("a key without a value among others: %v", err)
	}
	for c, want := range map[*bloomery.Config]string{
		{Spec: "ribbon(value_bits=6)"}: "number of shards", {Spec: "ribbon(value_bits=3)",
			Sharding: bloomery.Sharding{Shards: 2}}: "value_bits=",
		{Spec: "standard", Sharding: bloomery.Sharding{Shards: 2}}: "take a value with each key",
	} {
		b := settest.Must(settest.NewShardBuilder(filepath.Join(t.TempDir(), "set"), *c))
		defer b.Close()
		if err := b.AddManyValues(all, values); err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// TestMixedValues checks that in a filter whose values can change, keys without a value have the value 0, and equal
// keys count once. Two values of one key must be an error, in memory and in files. With Like, all keys need values.
func TestMixedValues(t *testing.T) {
	want := classes(30_000)
	for _, memory := range []int64{0, 1} {
		for _, second := range []uint64{5, 6} {
			c := bloomery.Config{Needs: plan.Needs{ValueBits: 6, FPR: 1e-12}, Building: bloomery.Building{Memory: memory}}
			b, err := bloomery.NewBuilder(t.Context(), c)
			settest.Check(t, err)
			defer b.Close()
			err = errors.Join(b.AddString("twice"), b.AddValue([]byte("twice"), 5), b.AddValue([]byte("twice"), second))
			for k, v := range want {
				if v%2 == 0 {
					err = errors.Join(err, b.AddValue([]byte(k), v))
				} else {
					err = errors.Join(err, b.AddString(k))
				}
			}
			settest.Check(t, err)
			set, err := b.Build(t.Context())
			if second == 6 {
				if both := (*family.ValueError)(nil); !errors.As(err, &both) || both.Values != [2]uint64{5, 6} {
					t.Errorf("two values: %v", err)
				}
				continue
			}
			if err != nil || set.Len() != uint64(len(want))+1 {
				t.Fatalf("%d keys, %v", set.Len(), err)
			}
			want["twice"] = 10
			for k, v := range want {
				if v%2 == 1 {
					v = 0
				} else if k == "twice" {
					v = 5
				}
				if got, ok, err := set.Get([]byte(k)); got != v || !ok || err != nil {
					t.Fatalf("memory %d, %s: %d, %t, %v; want %d", memory, k, got, ok, err, v)
				}
			}
			delete(want, "twice")
			_, err = bloomery.Build(t.Context(), maps.Keys(want), bloomery.Config{Like: bloomery.Like{Set: set}})
			if !errors.Is(err, filter.ErrConfig) {
				t.Errorf("like a set with values, without values: %v", err)
			}
			next := settest.Must(bloomery.BuildValues(t.Context(), maps.All(want),
				bloomery.Config{Like: bloomery.Like{Set: set}}))
			for k, v := range want {
				if got, ok, err := next.Get([]byte(k)); got != v || !ok || err != nil {
					t.Fatalf("like: %s: %d, %t, %v; want %d", k, got, ok, err, v)
				}
			}
		}
	}
}

// TestValueTooLarge checks that a value that is too large is refused by the call that adds it, and that the keys of the
// other calls are kept.
func TestValueTooLarge(t *testing.T) {
	b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: "ribbon(value_bits=6)"})
	settest.Check(t, err)
	defer b.Close()
	want := classes(100_000) // more keys than the builder buffers
	for k, v := range want {
		settest.Check(t, b.AddValue([]byte(k), v))
		if err := b.AddValue([]byte("bad"), 64+v); !errors.Is(err, filter.ErrConfig) {
			t.Fatalf("value %d: %v", 64+v, err)
		}
	}
	err = b.AddManyValues([][]byte{[]byte("good"), []byte("bad")}, []uint64{1, 64})
	if !errors.Is(err, filter.ErrConfig) {
		t.Errorf("a batch: %v", err)
	}
	set := settest.Must(b.Build(t.Context()))
	if set.Len() != uint64(len(want)) {
		t.Errorf("%d keys, want %d", set.Len(), len(want))
	}
	for k, v := range want {
		if got, ok, err := set.Get([]byte(k)); got != v || !ok || err != nil {
			t.Fatalf("%s: %d, %t, %v; want %d", k, got, ok, err, v)
		}
	}
	b = settest.Must(bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: "ribbon"}))
	defer b.Close()
	if err := b.AddValue([]byte("a"), 1); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("without value_bits: %v", err)
	}
}

// TestAskValuesMissing checks that a key that the set does not contain counts as missing, not as a wrong value. Every
// key needs a value.
func TestAskValuesMissing(t *testing.T) {
	c := bloomery.Config{Spec: "ribbon(r=32,value_bits=6)"}
	set := settest.Must(bloomery.BuildValues(t.Context(), maps.All(classes(10)), c))
	v := settest.Must(set.Verifier(bloomery.JobConfig{}))
	defer v.Close()
	settest.Check(t, v.AskValues([][]byte{[]byte("absent"), []byte("absent too")}, []uint64{1, 2}))
	if r, err := v.Commit(t.Context()); r.WrongValues != 0 || r.FalseNegatives != 2 || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	defer func() {
		if text := fmt.Sprint(recover()); text != "bloomery: 1 values for 2 keys" {
			t.Error(text)
		}
	}()
	_ = v.AskValues(make([][]byte, 2), make([]uint64, 1))
}

// TestValuesWithoutNumber checks that a filter with values is chosen before its keys are counted. Settings that depend
// on the number of keys must be refused with an error that names the field to set.
func TestValuesWithoutNumber(t *testing.T) {
	for _, n := range []plan.Needs{{ValueBits: 8, Add: true}, {ValueBits: 8, Later: 100},
		{ValueBits: 8, Bytes: 8000}, {ValueBits: 8, BitsPerKey: 40}} {
		var bad *filter.ConfigError
		_, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Needs: n})
		if !errors.As(err, &bad) || bad.Field != "keys" {
			t.Errorf("%+v: %v", n, err)
		}
		b, err := bloomery.NewBuilder(t.Context(), bloomery.Config{Needs: n, Keys: 1000})
		if err != nil {
			t.Errorf("%+v with 1000 keys: %v", n, err)
			continue
		}
		_ = b.Close()
	}
}
