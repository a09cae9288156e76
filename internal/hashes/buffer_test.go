package hashes

import (
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestBuffer: hashes come back by shard, in order, with any number of shards and before and after reset.
func TestBuffer(t *testing.T) {
	for _, shards := range []int{1, 2, 16, 1000, 50_000} {
		b := newBuffer(shards, 20_000)
		for round := range uint64(2) {
			hs := randomHashes(20_000, round)
			b.add(hs[:1])
			b.add(hs[1:13_000])
			b.add(hs[13_000:])
			if b.n != len(hs) {
				t.Fatalf("%d hashes", b.n)
			}
			want := make([][]filter.Hash, shards)
			for _, h := range hs {
				s := Route(h, shards)
				want[s] = append(want[s], h)
			}
			for s := range shards {
				var got []filter.Hash
				_ = b.each(s, func(hs []filter.Hash) error { got = append(got, hs...); return nil })
				if !slices.Equal(got, want[s]) || b.count(s) != len(got) {
					t.Fatalf("%d shards: shard %d differs", shards, s)
				}
			}
			b.reset()
		}
	}
}
