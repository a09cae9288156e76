//go:build !amd64 || purego

package bitvec

import "github.com/bloomery/bloomery/filter"

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	return bestLanesGo(cells, at, start, keep)
}

func slots(line *[8]uint64, x, shifts uint64, c *Slots) uint32 {
	return slotsGo(line, x, shifts, c)
}

// Has reports whether all bits of a key are set: hi chooses the block, lo the bits.
func (b *Blocks) Has(hi, lo uint64) bool { return b.hasGo(hi, lo) }

// HasMany returns false: it has no vector code here.
func (b *Blocks) HasMany([]bool, []filter.Hash) bool { return false }

// Vector says whether the functions that look at many lanes have vector code here.
const Vector = false
