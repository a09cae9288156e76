package kernel

import (
	"reflect"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
)

// Sums sets dst[i] to the hash of keys[i]. It prefetches the bytes of later keys, so that keys that lie anywhere in
// memory take half the time of calls of Sum. It panics if dst is shorter than keys.
func Sums[K filter.Key](dst []filter.Hash, h filter.Hasher, keys []K) {
	dst = dst[:len(keys)]
	switch kind := reflect.TypeFor[K]().Kind(); {
	case kind == reflect.Struct:
		copy(dst, bitvec.As[[]filter.Hash](keys))
		return
	case kind == reflect.Uint64 && (h.ID() == filter.XXH3 || h.ID() == filter.XXH64):
		h.SumUint64s(dst, bitvec.As[[]uint64](keys)) // which takes less time than the assembly
		return
	}

	q := NewQuery(h, nil, nil)
	for i := 0; i < len(keys); i++ {
		i += q.sumKeys(dst[i:], unsafe.Pointer(&keys[i]), unsafe.Sizeof(keys[i]))
		if i < len(keys) { // the assembly leaves out keys of some lengths
			dst[i] = filter.SumOf(h, keys[i])
		}
	}
}

// AskIntegers sets dst[i] to the answer for keys[i] and returns true, or returns false if it would be no faster than
// Sums and a batch of hashes. It panics if dst is shorter than keys.
func (q *Query) AskIntegers(dst []bool, keys []uint64) bool {
	if q.how < howFuse8 || q.hash != hashXXH3 {
		return false
	}
	const most = 1024 // keys per call, which the scheduler cannot interrupt
	dst = dst[:len(keys)]
	for len(keys) > 0 {
		n := min(len(keys), most)
		q.fuseIntegers(dst[:n], keys[:n])
		dst, keys = dst[n:], keys[n:]
	}
	return true
}
