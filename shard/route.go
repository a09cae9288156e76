package shard

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
)

// Constants of routing 1: the first 64-bit words of the fractional parts of sqrt(7), sqrt(11) and
// sqrt(13). No family uses them.
const (
	routeHi  = 0xA54FF53A5F1D36F1
	routeLo  = 0x510E527FADE682D1
	routeMix = 0x9B05688C2B3E6C1F
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
	return int(route(h, uint64(shards)))
}

func route(h filter.Hash, shards uint64) uint64 {
	x := mix(mix(h.Hi^routeHi, h.Lo^routeLo)^routeHi, routeMix)
	s, _ := bits.Mul64(x, shards)
	return s
}

// mix returns the high half of a·b XORed with its low half.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
