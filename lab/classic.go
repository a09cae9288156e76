package lab

import (
	"encoding/binary"
	"hash/crc32"
)

// The classic hashings of the documents, to be compared with. The product hashes with none of them.

// The two numbers of section 5.2 of partitioned hashing.
const (
	crcR1 = 0x5ed50e23
	crcR2 = 0x1b75e0d1
)

// crcFunctions returns the practical hash functions of partitioned hashing for given keys (section 5.2): h0 is RS(key) mod g, and h_j,
// j = 1 ... H, is CRC(CRC(0, key), string(R1 + j·R2)) mod m. The paper leaves the byte order of string open; it is little
// endian here.
//
// CRC is linear: four bytes more turn the checksum c into A(c) xor B(bytes), which are worked out once a key and once a
// function.
func crcFunctions(keys [][]byte, groups, functions int, bits uint64) (group func(key int) int, bit func(key, j int) uint64) {
	var zero [4]byte
	ofKey, ofFunction := make([]uint32, len(keys)), make([]uint32, functions)
	of := make([]int, len(keys))
	for i, k := range keys {
		ofKey[i] = crc32.Update(crc32.ChecksumIEEE(k), crc32.IEEETable, zero[:]) ^ crc32.ChecksumIEEE(zero[:])
		of[i] = int(rsHash(k) % uint32(groups))
	}
	for j := range ofFunction {
		var s [4]byte
		binary.LittleEndian.PutUint32(s[:], crcR1+uint32(j+1)*crcR2)
		ofFunction[j] = crc32.ChecksumIEEE(s[:])
	}
	group = func(key int) int { return of[key] }
	bit = func(key, j int) uint64 { return uint64(ofKey[key]^ofFunction[j]) % bits }
	return group, bit
}

// rsHash is the hash function of R. Sedgewick, "Algorithms in C", as the collection that partitioned hashing points to has it.
func rsHash(key []byte) (h uint32) {
	a := uint32(63689)
	for _, c := range key {
		h = h*a + uint32(c)
		a *= 378551
	}
	return h
}
