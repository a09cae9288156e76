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

// adviseHuge asks the kernel for huge pages for an array of several MiB, so that random probes miss the address
// translation cache less often (measured with 20 million keys at 10 bits per key: queries of present keys take 0.6
// times as long).
func adviseHuge(words []uint64) { advise(words, hugePage, syscall.MADV_HUGEPAGE) }

// release gives the memory of words, which must not be read again, back to the system. Go frees the array when nobody
// refers to it; until then its pages are zeros that take no memory.
func release(words []uint64) { advise(words, syscall.Getpagesize(), syscall.MADV_DONTNEED) }

// advise passes advice about those pages that lie in words as a whole. An error is ignored.
func advise(words []uint64, page, advice int) {
	b := Bytes(words)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % uintptr(page)) // madvise needs whole pages
	if n := (len(b) - skip) / page * page; n >= page {
		_ = syscall.Madvise(b[skip:skip+n], advice)
	}
}
