package settest_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/settest"
)

type (
	textKey   string
	bytesKey  []byte
	numberKey uint64
)

// asks checks that every query of a view answers as the Set does for the bytes of the key.
func asks[K filter.Key](t *testing.T, s *bloomery.Set, keys []K, bytes func(K) []byte) {
	t.Helper()
	k := bloomery.Keyed[K](s)
	many := make([]bool, len(keys))
	k.ContainsMany(many, keys)
	values, known := make([]uint64, len(keys)), make([]bool, len(keys))
	err := k.GetMany(values, known, keys)
	for i, key := range keys {
		raw := bytes(key)
		if want := s.Contains(raw); k.Contains(key) != want || many[i] != want {
			t.Fatalf("%v: %T %v: %t in a batch, want %t", s, key, key, many[i], want)
		}
		v, ok, one := k.Get(key)
		wantV, wantOK, want := s.Get(raw)
		if v != wantV || ok != wantOK || (one == nil) != (want == nil) {
			t.Fatalf("%v: Get of %T %v: %d, %t, %v", s, key, key, v, ok, one)
		}
		if err == nil && (values[i] != v || known[i] != ok) || (err == nil) != (want == nil) {
			t.Fatalf("%v: GetMany of %T %v: %d, %t, %v", s, key, key, values[i], known[i], err)
		}
		n, full, one := k.Count(key)
		wantN, wantFull, want := s.Count(raw)
		if n != wantN || full != wantFull || (one == nil) != (want == nil) {
			t.Fatalf("%v: Count of %T %v: %d, %t, %v", s, key, key, n, full, one)
		}
	}
}

// TestKeyed compares the views for every type of key with the Set, in every family.
func TestKeyed(t *testing.T) {
	specs := []string{"rankindexed(counting=1)", "rankindexed(value_bits=4)", "ribbon(value_bits=8)"}
	for _, f := range families.All() {
		specs = append(specs, settest.SpecOf(f))
	}
	var texts []textKey
	var blobs []bytesKey
	var ids []numberKey
	for i := range 60 {
		texts, blobs = append(texts, textKey(fmt.Sprint("key-", i))), append(blobs, fmt.Append(nil, "key-", i))
		ids = append(ids, numberKey(i*i))
	}
	for _, spec := range specs {
		var s *bloomery.Set
		if spec == "ribbon(value_bits=8)" {
			s = settest.Must(bloomery.BuildValues(t.Context(), func(yield func(textKey, uint64) bool) {
				for i, k := range texts[:30] {
					if !yield(k, uint64(i)) {
						return
					}
				}
			}, bloomery.Config{Spec: spec}))
		} else {
			s = settest.Must(bloomery.Build(t.Context(), slices.Values(texts[:30]), bloomery.Config{Spec: spec}))
		}
		asks(t, s, texts, func(k textKey) []byte { return []byte(k) })
		asks(t, s, blobs, func(k bytesKey) []byte { return k })
		asks(t, s, ids, func(k numberKey) []byte { return integer(s, uint64(k)) })
		f := settest.Must(families.ByName(s.Spec().Family()))
		if f.Can.Has(family.CanRawKeys) {
			continue // answers for hashes have more false positives
		}
		hashes := make([]filter.Hash, len(blobs))
		back := map[filter.Hash][]byte{}
		for i, k := range blobs {
			hashes[i] = s.Hash(k)
			back[hashes[i]] = k
		}
		asks(t, s, hashes, func(h filter.Hash) []byte { return back[h] })
	}
}

// TestKeyedChanges changes Sets through views for every type of key.
func TestKeyedChanges(t *testing.T) {
	s := settest.Must(bloomery.New(bloomery.Config{Spec: "rankindexed(counting=1)", Keys: 1000}))
	texts, blobs := bloomery.Keyed[textKey](s), bloomery.Keyed[bytesKey](s)
	ids, hashes := bloomery.Keyed[numberKey](s), bloomery.Keyed[filter.Hash](s)
	settest.Check(t, errors.Join(texts.Add("a"), blobs.Add(bytesKey("a")), hashes.Add(s.Hash([]byte("a"))), ids.Add(7),
		texts.AddMany([]textKey{"a", "b"}), blobs.AddMany([]bytesKey{bytesKey("b")}),
		ids.AddMany([]numberKey{7}), hashes.AddMany([]filter.Hash{s.Hash([]byte("b"))})))
	for key, want := range map[textKey]uint64{"a": 4, "b": 3} {
		if n, _, err := texts.Count(key); n != want || err != nil {
			t.Errorf("%s: %d, %v", key, n, err)
		}
	}
	settest.Check(t, errors.Join(texts.Remove("a"), blobs.Remove(bytesKey("a")), hashes.Remove(s.Hash([]byte("b"))),
		ids.Remove(7)))
	if n, _, _ := ids.Count(7); n != 1 || s.Len() != 5 {
		t.Errorf("%d, %d keys", n, s.Len())
	}
	if present := settest.Must(texts.TestAndAdd("new")); present || !texts.Contains("new") {
		t.Error("TestAndAdd")
	}
	v := settest.Must(bloomery.New(bloomery.Config{Spec: "rankindexed(value_bits=4)", Keys: 1000}))
	values := bloomery.Keyed[numberKey](v)
	settest.Check(t, errors.Join(values.AddValue(1, 3), values.Upsert(2, 5), values.Put(1, 4)))
	got, known := make([]uint64, 2), make([]bool, 2)
	settest.Check(t, values.GetMany(got, known, []numberKey{1, 2}))
	if !slices.Equal(got, []uint64{4, 5}) || !known[0] || !known[1] {
		t.Errorf("%d, %t", got, known)
	}
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "2 values and 2 answers for 1 keys") {
			t.Errorf("GetMany with another length: %s", p)
		}
	}()
	_ = values.GetMany(got, known, []numberKey{1})
}

// breaking is a reader that ends with an error.
type breaking struct{ io.Reader }

var errBroken = errors.New("broken")

func (b breaking) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = errBroken
	}
	return n, err
}

// TestBuildFrom checks that the error of a source ends the build of one filter and of a sharded set.
func TestBuildFrom(t *testing.T) {
	const text = "one\r\ntwo\n\nthree"
	s := settest.Must(bloomery.BuildFrom(t.Context(), bloomery.Lines(strings.NewReader(text)), bloomery.Config{}))
	if s.Len() != 3 || !s.ContainsString("one") || !s.ContainsString("three") {
		t.Errorf("%v", s)
	}
	dir := filepath.Join(t.TempDir(), "set")
	for _, c := range []bloomery.Config{{}, {Spec: "guava"}, {Keys: 2}, {Sharding: bloomery.Sharding{Dir: dir}},
		{Sharding: bloomery.Sharding{Dir: dir, Shards: 3}}} {
		s, err := bloomery.BuildFrom(t.Context(), bloomery.Lines(breaking{strings.NewReader(text)}), c)
		if s != nil || !errors.Is(err, errBroken) {
			t.Errorf("%v: %v, %v", c, s, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	long := strings.Repeat("x", 1<<20+1)
	if _, err := bloomery.BuildFrom(t.Context(), bloomery.Lines(strings.NewReader(long)), bloomery.Config{}); err == nil {
		t.Error("a line of more than 1 MiB is no error")
	}
}

// TestBuildDir checks that a Builder and Build return an open sharded Set, with and without a secret.
func TestBuildDir(t *testing.T) {
	for _, secret := range []*filter.Secret{nil, filter.NewSecret()} {
		dir := filepath.Join(t.TempDir(), "set")
		c := bloomery.Config{Spec: "blocked(bits_per_key=16)", Sharding: bloomery.Sharding{Dir: dir, Shards: 4},
			Hashing: bloomery.Hashing{Secret: secret}}
		s := settest.Must(bloomery.Build(t.Context(), slices.Values(settest.Words(500)), c))
		if m := s.Manifest(); m == nil || len(m.Shards) != 4 || s.Len() != 500 || s.Check(t.Context(), nil) != nil {
			t.Errorf("%v", s)
		}
		for _, k := range settest.Words(500) {
			if !s.ContainsString(k) {
				t.Fatalf("%s is missing", k)
			}
		}
		next := settest.Must(bloomery.Build(t.Context(), slices.Values(settest.Words(490)),
			bloomery.Config{Like: bloomery.Like{Set: s},
				Sharding: bloomery.Sharding{Dir: dir}}))
		if next.Len() != 490 || next.Hasher() != s.Hasher() {
			t.Errorf("%v", next)
		}
		settest.Check(t, errors.Join(next.Close(), s.Close()))
		if _, err := bloomery.New(c); !errors.Is(err, filter.ErrConfig) {
			t.Errorf("New with a folder: %v", err)
		}
	}
}
