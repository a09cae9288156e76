package hashes

import (
	"math/bits"

	"github.com/bloomery/bloomery/filter"
)

// MaxShards is the largest number of shards of a set.
const MaxShards = 1 << 20

// Constants of routing 1: the first 64-bit words of the fractional parts of sqrt(7), sqrt(11) and sqrt(13). No family
// uses them.
const (
	routeHi  = 0xA54FF53A5F1D36F1
	routeLo  = 0x510E527FADE682D1
	routeMix = 0x9B05688C2B3E6C1F
)

// Route is shard.Route.
func Route(h filter.Hash, shards int) int {
	x := mix(mix(h.Hi^routeHi, h.Lo^routeLo)^routeHi, routeMix)
	s, _ := bits.Mul64(x, uint64(shards))
	return int(s)
}

// mix returns the high half of a·b XORed with its low half.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
