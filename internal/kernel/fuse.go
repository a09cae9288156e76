package kernel

import (
	"unsafe"
)

// Fuse is a binary fuse filter with slots of 8 or 16 bits. Package fuse describes the layout.
type Fuse struct {
	// The assembly depends on the order of these fields.
	Words   []uint64
	Seed    uint64
	Count   uint64 // first positions
	Segment uint64 // slots per segment
}

// Probe returns the Probe of f for slots of width bits.
func (f *Fuse) Probe(width uint) Probe {
	switch width {
	case 8:
		return Probe{howFuse8, unsafe.Pointer(f)}
	case 16:
		return Probe{howFuse16, unsafe.Pointer(f)}
	}
	return Probe{}
}

// Bits is a standard Bloom filter. Package standard describes the layout.
type Bits struct {
	// The assembly depends on the order of these fields.
	Words []uint64
	M     uint64 // bits
	K     uint64 // probes per key, at least 1
}

// Probe returns the Probe of b.
func (b *Bits) Probe() Probe { return Probe{howBits, unsafe.Pointer(b)} }
