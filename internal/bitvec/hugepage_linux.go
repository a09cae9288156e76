package bitvec

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of the large pages of most machines, 2 MiB.
const hugePage = 2 << 20

// adviseHuge asks for large pages below an array of several of them: random probes miss the address translation
// cache far less often (measured: 20 million keys at 10 bits, 0.6x the time of a present key). It is advice: nothing
// depends on it, so its error is of no use.
func adviseHuge(words []uint64) {
	b := Bytes(words)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % hugePage)
	if n := (len(b) - skip) / hugePage * hugePage; n >= hugePage {
		_ = syscall.Madvise(b[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
