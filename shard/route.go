package shard

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Route returns the shard of a key, in [0, shards), by routing 1. It panics if shards is 0 or negative.
//
// It depends on all 128 bits of the hash and is independent of every family's use of them. docs/format.md has the
// function and test vectors. Do not choose the shard by some bits of the hash instead: if a family uses them for
// positions, the keys of a shard crowd into the same blocks, and up to 99.8% of the absent keys are false positives.
func Route(h filter.Hash, shards int) int {
	if shards <= 0 {
		panic("shard: Route needs at least one shard")
	}
	return hashes.Route(h, shards)
}
