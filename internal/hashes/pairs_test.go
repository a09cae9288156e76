package hashes

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// TestPairs: a ByShard gives both entries of each hash one after the other, from memory and from its file, in the shard
// of the hash.
func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const shards, n = 5, 3 * slabLen
	s := NewByShard(shards, 1, t.TempDir()) // keeps the least, and writes several groups
	defer s.Close()
	want := map[filter.Hash]uint64{}
	for range n / 300 {
		hs, values := make([]filter.Hash, 300), make([]uint64, 300)
		for i := range hs {
			hs[i], values[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}, r.Uint64()
			want[hs[i]] = values[i]
		}
		if err := s.AddPairs(hs, values); err != nil {
			t.Fatal(err)
		}
	}
	keys, all := len(want), uint64(0)
	for at := range shards {
		var first filter.Hash
		open := false
		all += s.Count(at)
		err := s.Each(t.Context(), at, func(hs []filter.Hash) error {
			for _, h := range hs {
				if open {
					if v, ok := want[first]; !ok || v != h.Lo || h.Hi != first.Hi || shard.Route(first, shards) != at {
						return fmt.Errorf("shard %d: %v after %v", at, h, first)
					}
					delete(want, first)
				}
				first, open = h, !open
			}
			return nil
		})
		if err != nil || open {
			t.Fatalf("%v, half a pair: %t", err, open)
		}
	}
	if len(want) > 0 || all != uint64(2*keys) {
		t.Errorf("%d of %d keys are missing, %d entries", len(want), keys, all)
	}
}
