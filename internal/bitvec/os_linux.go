package bitvec

import (
	"sync"
	"syscall"
	"unsafe"
)

// memory returns the size of the machine's memory and swap in bytes, or 0 if it is unknown.
var memory = sync.OnceValue(func() uint64 {
	var i syscall.Sysinfo_t
	if syscall.Sysinfo(&i) != nil {
		return 0
	}
	return (uint64(i.Totalram) + uint64(i.Totalswap)) * uint64(i.Unit)
})

// hugePage is the size of huge pages on most machines, 2 MiB.
const hugePage = 2 << 20

// adviseHuge asks the kernel for huge pages below an array of several of them, so that random probes miss the address
// translation cache less often (measured with 20 million keys at 10 bits per key: 0.6 times the time of a present key).
// It is advice only, so its error is ignored.
func adviseHuge(words []uint64) {
	b := Bytes(words)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % hugePage)
	if n := (len(b) - skip) / hugePage * hugePage; n >= hugePage {
		_ = syscall.Madvise(b[skip:skip+n], syscall.MADV_HUGEPAGE)
	}
}
