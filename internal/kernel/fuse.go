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

// Peel is a system of equations whose solution are the slots of a binary fuse filter. Package fuse describes the fields
// and has the same steps in Go, which are the specification. Methods return false if there is no assembly.
type Peel struct {
	// The assembly depends on the order of these fields.
	Xors    []uint64
	Uses    []uint8
	Mixed   []uint64
	Places  []uint8
	Single  []uint32
	Seed    uint64
	Count   uint64 // first positions
	Segment uint64 // slots per segment
	Top     uint64 // of the stack Single
	Peeled  uint64 // keys that are left out
	after   [8]uint8
}

// nextPlaces are the places that follow 0, 1 and 2 by one, and from the fourth on by two.
var nextPlaces = [8]uint8{1, 2, 0, 0, 2, 0, 1, 0}
