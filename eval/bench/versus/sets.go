package versus

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// Our side, with the calls of a user: Build, and Contains and ContainsMany of a Set. Functions with a loop are not
// inlined; see oneByOne in bench/ours.go.

// batchKeys is the number of keys of one call of ContainsMany.
const batchKeys = 256

// keysOf holds loaded keys of a type, and the loop that queries them one by one.
type keysOf[K filter.Key] struct {
	keys []K
	ask  func(s *bloomery.Set, keys []K) (positives int)
}

func (k keysOf[K]) count() int { return len(k.keys) }

func (k keysOf[K]) build(ctx context.Context, c bloomery.Config, from, to int) (*bloomery.Set, error) {
	return bloomery.Build(ctx, slices.Values(k.keys[from:to]), c)
}

func (k keysOf[K]) single(s *bloomery.Set, from, to int) int { return k.ask(s, k.keys[from:to]) }

func (k keysOf[K]) batch(s *bloomery.Set, from, to int) int {
	return askMany(bloomery.Keyed[K](s), k.keys[from:to])
}

//go:noinline
func askStrings(s *bloomery.Set, keys []string) (n int) {
	for _, k := range keys {
		if s.ContainsString(k) {
			n++
		}
	}
	return n
}

//go:noinline
func askArrays(s *bloomery.Set, keys [][]byte) (n int) {
	for _, k := range keys {
		if s.Contains(k) {
			n++
		}
	}
	return n
}

//go:noinline
func askIntegers(s *bloomery.Set, keys []uint64) (n int) {
	set := bloomery.Keyed[uint64](s)
	for _, k := range keys {
		if set.Contains(k) {
			n++
		}
	}
	return n
}

func askMany[K filter.Key](s bloomery.KeyedSet[K], keys []K) (n int) {
	var answers [batchKeys]bool
	for part := range slices.Chunk(keys, batchKeys) {
		s.ContainsMany(answers[:len(part)], part)
		for _, hit := range answers[:len(part)] {
			if hit {
				n++
			}
		}
	}
	return n
}
