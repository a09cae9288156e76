package bitvec

import (
	"sync"
	"syscall"
)

// memory returns the bytes of memory that the machine has, swap included, or 0 if that is not known.
var memory = sync.OnceValue(func() uint64 {
	var i syscall.Sysinfo_t
	if syscall.Sysinfo(&i) != nil {
		return 0
	}
	return (uint64(i.Totalram) + uint64(i.Totalswap)) * uint64(i.Unit)
})
