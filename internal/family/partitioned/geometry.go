package partitioned

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// geometry holds the sizes of a filter.
type geometry struct {
	shards uint64
	groups uint64 // a shard
	bits   uint64 // of a shard's bitmap
	k      int
	width  int // bits of a shift, 0 to 5
}

// base returns the number of base positions in a shard: the last one plus the largest shift is the last bit.
func (g geometry) base() uint64 { return g.bits - (1<<g.width - 1) }

// total returns the number of bits that a query needs.
func (g geometry) total() uint64 { return g.shards * (g.bits + g.groups*uint64(g.k*g.width)) }

// perGroup returns the average number of keys in a group, rounded.
func (g geometry) perGroup(n uint64) int {
	groups := g.shards * g.groups
	return int(max(1, (n+groups/2)/groups))
}

// shard returns the shard of a key.
func (g geometry) shard(h filter.Hash) uint64 { return probe.Position(h.Hi, g.shards) }

// group returns the group of a key, counted over all shards.
func (g geometry) group(h filter.Hash) uint64 { return probe.Position(h.Hi, g.shards*g.groups) }
