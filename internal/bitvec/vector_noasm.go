//go:build !amd64 || purego

package bitvec

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	return bestLanesGo(cells, at, start, keep)
}

func slots(line *[8]uint64, x, shifts uint64, c *Slots) uint32 {
	return slotsGo(line, x, shifts, c)
}

// Vector says whether the functions that look at many lanes have vector code here.
const Vector = false
