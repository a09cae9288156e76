//go:build !amd64 || purego

package kernel

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

// Has returns ChainCell if a cell of the key's chain has its remainder, or ChainEnd or ChainBeyond.
func (c *Chains) Has(hi, lo uint64) uint64 { return c.hasGo(hi, lo) }

// Follow goes along the key's chain to the first cell whose remainder is not smaller. It returns the first word of the
// bucket, the key's remainder, the bit of the index that stands for the cell, its number, the cell and where it ended. Where
// the chain ended, bit and number are those of a cell that would be appended.
func (c *Chains) Follow(hi, lo uint64) (base, remainder, at, n, cell, end uint64) {
	return c.followGo(hi, lo)
}

// Used returns the number of set bits of the index of the bucket whose first word is base.
func (c *Chains) Used(base uint64) uint64 { return c.usedGo(base) }

// There is no code here that shifts lines, and openLine and closeLine are never called.
const shiftsLines = false

func (c *Chains) openLine(base, bit, cell, at, v uint64) {}
func (c *Chains) closeLine(base, bit, cell, at uint64)   {}

// countsBits lets Rank count four or eight words where that is enough.
const countsBits = true

// Vector says whether the functions that look at many lanes have vector code here.
const Vector = false
