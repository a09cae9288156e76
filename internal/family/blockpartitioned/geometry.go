package blockpartitioned

import (
	"fmt"
	"math/bits"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/anneal"
)

// geometry holds the sizes of a filter.
type geometry struct {
	blockGeometry
	blocks uint64
}

// blockGeometry holds the sizes of one block.
type blockGeometry struct {
	block  uint64 // bits in all: 512 or 1024
	groups uint64
	k      int
	width  int // bits of a shift
}

// Limits of a Spec.
const (
	maxK     = 64
	minWidth = 1
	maxWidth = anneal.MaxWidth
)

// payload returns the number of bits that keys set: those of all whole words of 32 bits behind the head.
func (s blockGeometry) payload() uint64 {
	head := s.groups * uint64(s.k*s.width)
	if head > s.block {
		return 0
	}
	return (s.block - head) / 32 * 32
}

// valid reports whether a filter may have this block geometry.
func (s blockGeometry) valid() bool {
	return (s.block == lineBits || s.block == 2*lineBits) &&
		s.groups >= 1 && s.groups <= s.block && s.k >= 1 && s.k <= maxK &&
		s.width >= minWidth && s.width <= maxWidth && s.payload() >= 64 // and so 64 bits from any shift on lie in the block
}

// place returns the block of a key and its group there.
func (g geometry) place(h filter.Hash) (block, group uint64) {
	block, rest := bits.Mul64(h.Hi, g.blocks)
	group, _ = bits.Mul64(rest, g.groups)
	return block, group
}

func (g geometry) String() string {
	return fmt.Sprintf("%d blocks of %d bits, %d groups of k=%d, %d shifts", g.blocks, g.block, g.groups, g.k, 1<<g.width)
}
