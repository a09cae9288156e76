//go:build !amd64 || purego

package bitvec

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	return bestLanesGo(cells, at, start, keep)
}
