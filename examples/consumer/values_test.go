package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// TestStaticValues builds sets with values that are added together with the keys, by every method for this.
func TestStaticValues(t *testing.T) {
	want := map[string]uint64{"a": 3, "b": 4, "c": 5}
	c := bloomery.Config{Spec: "ribbon(r=20,value_bits=4)"}
	set := must(bloomery.BuildValues(t.Context(), maps.All(want), c))(t)
	b := must(bloomery.NewBuilder(t.Context(), c))(t)
	defer b.Close()
	err := errors.Join(b.AddValue([]byte("a"), 3), b.AddValue([]byte("b"), 4),
		b.AddManyValues([][]byte{[]byte("c"), []byte("a")}, []uint64{5, 3}))
	if err != nil {
		t.Fatal(err)
	}
	if spec := b.Spec(); spec.Family() != "ribbon" {
		t.Errorf("builds %s", spec)
	}
	if again := must(b.Build(t.Context()))(t); !again.Equal(set) {
		t.Error("another set")
	}
	hashed := must(bloomery.NewBuilder(t.Context(), c))(t)
	defer hashed.Close()
	h := hashed.Hasher()
	if err := hashed.AddHashValues([]filter.Hash{h.SumString("a"), h.SumString("b"), h.SumString("c")},
		[]uint64{3, 4, 5}); err != nil {
		t.Fatal(err)
	}
	if again := must(hashed.Build(t.Context()))(t); !again.Equal(set) {
		t.Error("another set of hashes")
	}
	each := must(bloomery.Config{Spec: "ribbon(r=20,value_bits=4)",
		Sharding: bloomery.Sharding{Shards: 2}}.ForShard(t.Context()))(t)
	if each.Spec != "ribbon(r=20,value_bits=4)" || each.Sharding.Shards != 0 {
		t.Errorf("the Config of a shard is %v", each)
	}
	c.Sharding.Dir, c.Sharding.Shards = filepath.Join(t.TempDir(), "set"), 2
	sb := must(bloomery.NewBuilder(t.Context(), c))(t)
	defer sb.Close()
	if err := sb.AddManyValues([][]byte{[]byte("a"), []byte("b"), []byte("c")}, []uint64{3, 4, 5}); err != nil {
		t.Fatal(err)
	}
	sharded := must(sb.Build(t.Context()))(t)
	defer sharded.Close()
	for _, s := range []*bloomery.Set{set, sharded} {
		for k, v := range want {
			if bits, err := s.ValueBits(); bits != 4 || err != nil {
				t.Errorf("values of %d bits, %v", bits, err)
			}
			if got, ok, err := s.Get([]byte(k)); got != v || !ok || err != nil {
				t.Errorf("%s: %d, %t, %v", k, got, ok, err)
			}
		}
		if i := s.Info(); i.ValuesOnly() {
			t.Errorf("no fingerprints: %+v", i)
		}
		v := must(s.Verifier(bloomery.JobConfig{}))(t)
		defer v.Close()
		if err := v.AskValues([][]byte{[]byte("a"), []byte("b")}, []uint64{3, 9}); err != nil {
			t.Fatal(err)
		}
		if r := must(v.Commit(t.Context()))(t); r.WrongValues != 1 {
			t.Errorf("%+v", r)
		}
	}
	changing := must(bloomery.BuildValues(t.Context(), maps.All(want), bloomery.Config{
		Spec: "rankindexed(fpr=1e-9,value_bits=4)",
	}))(t)
	if v, ok, err := changing.Get([]byte("b")); v != 4 || !ok || err != nil {
		t.Errorf("values that change: %d, %t, %v", v, ok, err)
	}
	b = must(bloomery.NewBuilder(t.Context(), bloomery.Config{Spec: "ribbon(value_bits=4)"}))(t)
	defer b.Close()
	if err := errors.Join(b.AddValue(le(7), 1), b.AddValue(le(7), 2)); err != nil {
		t.Fatal(err)
	}
	seven := b.Hasher().SumUint64(7)
	named := fmt.Sprintf("%016x%08x", seven.Hi, seven.Lo>>32)
	if _, err := b.Build(t.Context()); !errors.Is(err, filter.ErrValues) || !strings.Contains(err.Error(), named) {
		t.Errorf("two values: %v", err)
	}
}
