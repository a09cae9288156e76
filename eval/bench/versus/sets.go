package versus

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
)

// Our side, as users call it: Build, Contains and ContainsMany of a Set. Functions with a loop are not inlined, as in
// bench: see oneByOne in ours.go there.

// batchKeys is the number of keys of one call of ContainsMany.
const batchKeys = 256

type stringKeys []string

func (k stringKeys) count() int { return len(k) }

func (k stringKeys) build(ctx context.Context, c bloomery.Config, from, to int) (*bloomery.Set, error) {
	return bloomery.Build(ctx, slices.Values(k[from:to]), c)
}

func (k stringKeys) single(s *bloomery.Set, from, to int) int { return askStrings(s, k[from:to]) }
func (k stringKeys) batch(s *bloomery.Set, from, to int) int {
	return askMany(bloomery.Keyed[string](s), k[from:to])
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

type arrayKeys [][]byte

func (k arrayKeys) count() int { return len(k) }

func (k arrayKeys) build(ctx context.Context, c bloomery.Config, from, to int) (*bloomery.Set, error) {
	return bloomery.Build(ctx, slices.Values(k[from:to]), c)
}

func (k arrayKeys) single(s *bloomery.Set, from, to int) int { return askArrays(s, k[from:to]) }
func (k arrayKeys) batch(s *bloomery.Set, from, to int) int {
	return askMany(bloomery.Keyed[[]byte](s), k[from:to])
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

type integerKeys []uint64

func (k integerKeys) count() int { return len(k) }

func (k integerKeys) build(ctx context.Context, c bloomery.Config, from, to int) (*bloomery.Set, error) {
	return bloomery.Build(ctx, slices.Values(k[from:to]), c)
}

func (k integerKeys) single(s *bloomery.Set, from, to int) int { return askIntegers(s, k[from:to]) }
func (k integerKeys) batch(s *bloomery.Set, from, to int) int {
	return askMany(bloomery.Keyed[uint64](s), k[from:to])
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
