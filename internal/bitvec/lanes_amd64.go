//go:build amd64 && !purego

package bitvec

import "golang.org/x/sys/cpu"

//go:generate go -C gen run . -out ../lanes_amd64.s -stubs ../lanes_stubs_amd64.go -pkg bitvec

func bestLanes(cells []byte, at []uint32, start, keep *[4]uint64) uint32 {
	if cpu.X86.HasAVX2 {
		return bestLanesAVX2(cells, at, start, keep)
	}
	return bestLanesGo(cells, at, start, keep)
}
