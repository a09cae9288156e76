//go:build amd64 && !purego

package bitvec

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go -C gen run . -out ../vector_amd64.s -stubs ../vector_stubs_amd64.go -pkg bitvec

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	if cpu.X86.HasAVX2 {
		return bestLanesAVX2(cells, at, start, keep)
	}
	return bestLanesGo(cells, at, start, keep)
}

func slots(line *[8]uint64, x, shifts uint64, c *Slots) uint32 {
	if cpu.X86.HasAVX2 {
		return slotsAVX2(line, x, shifts, (*[56]uint32)(unsafe.Pointer(c)))
	}
	return slotsGo(line, x, shifts, c)
}

// Vector says whether the functions that look at many lanes have vector code here.
var Vector = cpu.X86.HasAVX2
