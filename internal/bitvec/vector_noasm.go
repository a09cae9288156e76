//go:build !amd64 || purego

package bitvec

import "github.com/bloomery/bloomery/filter"

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	return bestLanesGo(cells, at, start, keep)
}

// Has reports whether the bits of all slots of a key are set: hi chooses the block and its group, lo the base positions.
func (s *Slots) Has(hi, lo uint64) bool { return s.hasGo(hi, lo) }

// Has reports whether all bits of a key are set: hi chooses the block, lo the bits.
func (b *Blocks) Has(hi, lo uint64) bool { return b.hasGo(hi, lo) }

// HasMany returns false: it has no vector code here.
func (b *Blocks) HasMany([]bool, []filter.Hash) bool { return false }

// Vector says whether the functions that look at many lanes have vector code here.
const Vector = false
