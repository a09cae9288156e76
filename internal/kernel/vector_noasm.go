//go:build !amd64 || purego

package kernel

import (
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	return bestLanesGo(cells, at, start, keep)
}

// Has reports whether the bits of all slots of a key are set: hi selects block and group, lo the base positions.
func (s *Slots) Has(hi, lo uint64) bool { return s.hasGo(hi, lo) }

// Has reports whether all bits of a key are set: hi selects the block, lo the bits.
func (b *Blocks) Has(hi, lo uint64) bool { return b.hasGo(hi, lo) }

// hasInVector is never called: how is always byGo here.
func (s *Slots) hasInVector([]byte, uint64, uint64) bool { panic("kernel: no vector code") }
func (b *Blocks) hasInVector([]byte, uint64) bool        { panic("kernel: no vector code") }

// HasMany returns false, because this build contains no vector code.
func (b *Blocks) HasMany([]bool, []filter.Hash) bool { return false }

// HasAt returns false, because this build contains no vector code.
func (b *Blocks) HasAt([]bool, []filter.Hash, []unsafe.Pointer) bool { return false }

// AddMany returns false, because this build contains no vector code.
func (b *Blocks) AddMany([]filter.Hash) bool { return false }

// Has returns ChainCell if a cell of the key's chain has the key's remainder, else chainEnd or ChainBeyond.
func (c *Chains) Has(hi, lo uint64) uint64 { return c.hasGo(hi, lo) }

// Follow follows the key's chain to the first cell whose remainder is not smaller. It returns the first word of the
// bucket, the key's remainder, the bit of the index that stands for the cell, the number and content of the cell, and
// why it stopped. At chainEnd, bit and number belong to a cell to be appended.
func (c *Chains) Follow(hi, lo uint64) (base, remainder, at, n, cell, end uint64) {
	return c.followGo(hi, lo)
}

// Used returns the number of set bits in the index of the bucket whose first word is base.
func (c *Chains) Used(base uint64) uint64 { return c.usedGo(base) }

// openLine and closeLine do not exist here and are never called.
const shiftsLines = false

func (c *Chains) openLine(base, bit, cell, at, v uint64) {}
func (c *Chains) closeLine(base, bit, cell, at uint64)   {}

// countsBits makes Rank count only four or eight words where that is enough.
const countsBits = true

// Ask reports whether a key of n bytes may be in the set. If n is Hashed, key is the address of a filter.Hash.
func (q *Query) Ask(key unsafe.Pointer, n int) bool {
	p := uintptr(key)
	return q.answerInGo(*(*unsafe.Pointer)(unsafe.Pointer(&p)), n) // the key does not escape
}

// HasMany returns false, because this build contains no assembly.
func (f *Fuse) HasMany([]bool, []filter.Hash, uint) bool { return false }

// The methods of Peel return false, because this build contains no assembly.
func (p *Peel) Partition([]uint64, []uint64, int, bool) bool { return false }
func (p *Peel) Add() (fits, done bool)                       { return false, false }
func (p *Peel) Peel() bool                                   { return false }
func (p *Peel) Fill([]uint64, uint) bool                     { return false }

// HasMany returns false, because this build contains no assembly.
func (b *Bits) HasMany([]bool, []filter.Hash) bool { return false }

// HasMany returns false, because this build contains no assembly.
func (w *Windows) HasMany([]bool, []filter.Hash) bool { return false }

// AddMany returns false, because this build contains no assembly.
func (b *Bits) AddMany([]filter.Hash) bool { return false }

// sumKeys hashes no key.
func (q *Query) sumKeys([]filter.Hash, unsafe.Pointer, uintptr) int { return 0 }

// fuseIntegers is never called: without probes, no Query has a Fuse.
func (q *Query) fuseIntegers([]bool, []uint64) { panic("kernel: no assembly") }

// probes reports whether ask has code for filters on this machine.
const probes = false

// Vector reports whether queries use vector code on this machine.
const Vector = false

// Has reports whether the columns of a key with hash hi, lo give its fingerprint. For a key that does not belong to the
// layer it returns HasFurther.
func (r *Ribbon) Has(hi, lo uint64) bool { return r.has(hi, lo) }

// Get returns the columns of a key, the first one lowest, and their number, at most 64; or RibbonBumped as the number
// if the key does not belong to the layer.
func (r *Ribbon) Get(hi, lo uint64) (result, columns uint64) { return r.getGo(hi, lo) }

// hasRibbon512 and hasRibbon256 report whether assembly for Ribbon can run.
const (
	hasRibbon512 = false
	hasRibbon256 = false
)

// HasMany sets dst[i] to Has of hs[i] for the keys that belong to the layer, and returns the used part of bumped, to
// which it writes the numbers of the other keys; their dst is undefined. With cold it prefetches the blocks of later
// keys. It panics if dst or bumped is shorter than hs, or hs has more than 65,535 keys.
func (r *Ribbon) HasMany(dst []bool, hs []filter.Hash, bumped []uint16, cold bool) []uint16 {
	return r.hasManyGo(dst, hs, bumped, cold)
}
