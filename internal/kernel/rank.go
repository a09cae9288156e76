package kernel

import (
	"math/bits"
	"unsafe"
)

// windows has eight words of ones followed by eight of zeros: the eight words from index 8-k on mask the first k of
// eight words.
var windows = [16]uint64{
	^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0),
}

// rank4 returns the number of set bits among the first at bits, at < 256, of words i to i+3, without a bounds check:
// i+4 is at most len(words). It always counts all four words: a loop that ends at at would be mispredicted, which
// costs more.
func rank4(words []uint64, i, at uint64) uint64 {
	k := at / 64 % 4
	w := (*[4]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*8))
	m := (*[4]uint64)(unsafe.Add(unsafe.Pointer(&windows), (8-k)*8))
	return uint64(bits.OnesCount64(w[0]&m[0]) + bits.OnesCount64(w[1]&m[1]) + bits.OnesCount64(w[2]&m[2]) +
		bits.OnesCount64(w[k]&(1<<(at%64)-1)))
}

// rank8 is rank4 for eight words and at < 512.
func rank8(words []uint64, i, at uint64) uint64 {
	k := at / 64 % 8
	w := (*[8]uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(words)), i*8))
	m := (*[8]uint64)(unsafe.Add(unsafe.Pointer(&windows), (8-k)*8))
	return uint64(bits.OnesCount64(w[0]&m[0]) + bits.OnesCount64(w[1]&m[1]) + bits.OnesCount64(w[2]&m[2]) +
		bits.OnesCount64(w[3]&m[3]) + bits.OnesCount64(w[4]&m[4]) + bits.OnesCount64(w[5]&m[5]) +
		bits.OnesCount64(w[6]&m[6]) + bits.OnesCount64(w[k]&(1<<(at%64)-1)))
}
