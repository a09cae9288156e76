package bitvec

import (
	"sync"
	"syscall"
)

// memory returns the size of the machine's memory and swap in bytes, or 0 if it is unknown.
var memory = sync.OnceValue(func() uint64 {
	var i syscall.Sysinfo_t
	if syscall.Sysinfo(&i) != nil {
		return 0
	}
	return (uint64(i.Totalram) + uint64(i.Totalswap)) * uint64(i.Unit)
})
