package kernel

import (
	"unsafe"

	"github.com/bloomery/bloomery/filter"
)

// Cells answers queries of a d-left table with four subtables and remainders of 8 to 16 bits. Package dleft describes
// the layout and has the specification.
type Cells struct {
	// The assembly depends on the order of these fields.
	words      []uint64
	buckets    uint64    // of a subtable
	remainders uint64    // their number
	width      uint64    // bytes of a bucket
	rest       uint64    // bits of a remainder beyond eight
	tables     [3]uint64 // bytes before subtables 1 to 3
	bits       [4]uint64 // bit i in byte i
	low        [4]uint64 // the lowest byte
}

// NewCells returns the kernel for words, in which each bucket has width bytes. It keeps words. ok is false if there is
// no assembly for remainders of that many bits, or on this machine.
func NewCells(words []uint64, buckets, width uint64, remainder uint) (c Cells, ok bool) {
	if !probes || remainder < 8 || remainder > 16 {
		return Cells{}, false
	}
	c = Cells{words: words, buckets: buckets, remainders: 1<<remainder - 1, width: width, rest: uint64(remainder - 8)}
	for i := range c.tables {
		c.tables[i] = uint64(i+1) * buckets * width
	}
	for i := range c.bits {
		c.bits[i], c.low[i] = 0x8040201008040201, 255
	}
	return c, true
}

// Probe returns the Probe of c.
func (c *Cells) Probe() Probe { return Probe{howCells, unsafe.Pointer(c)} }

// HasMany sets dst[i] to the answer for hs[i]. It panics if dst is shorter than hs.
func (c *Cells) HasMany(dst []bool, hs []filter.Hash) { each(dst, hs, c.hasMany) }
