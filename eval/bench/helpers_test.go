package main

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
)

var (
	full  = flag.Bool("full", false, "measure at 1M and 20M keys instead of 100k")
	count = flag.Int("keys", 0, "measure at so many keys")
	turns = flag.Int("turns", 9, "turns of each pair")
)

func sizes() []int {
	switch {
	case *count != 0:
		return []int{*count}
	case *full:
		return []int{1_000_000, 20_000_000}
	}
	return []int{100_000}
}

func randomKeys(n int, seed uint64) []uint64 {
	r := rand.New(rand.NewPCG(seed, 77))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return keys
}

// builtOf builds one of our filters.
func builtOf(t testing.TB, spec string, keys []uint64) family.Filter {
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	set, err := bloomery.Build(t.Context(), slices.Values(keys), config(s, len(keys)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := set.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := one.FromBytes(b, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return stored.Filter()
}
