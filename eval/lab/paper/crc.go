package paper

import (
	"encoding/binary"
	"hash/crc32"
)

// The constants R1 and R2 of section 5.2 of Hao, Kodialam and Lakshman (2007).
const (
	crcR1 = 0x5ed50e23
	crcR2 = 0x1b75e0d1
)

// CRCFunctions returns the practical hash functions of partitioned hashing for the given keys (Hao, Kodialam and
// Lakshman, 2007, section 5.2). h0, the group, is RS(key) mod groups. h_j, j = 1 ... functions, is CRC(CRC(0, key),
// string(R1 + j·R2)) mod bits; bit counts j from 0. The paper does not say the byte order of string; here it is
// little-endian.
//
// CRC is linear: four more bytes turn the checksum c into A(c) xor B(bytes). A is computed once for each key, B once
// for each function.
func CRCFunctions(
	keys [][]byte,
	groups, functions int,
	bits uint64,
) (group func(key int) int, bit func(key, j int) uint64) {
	var zero [4]byte
	ofKey, ofFunction := make([]uint32, len(keys)), make([]uint32, functions)
	of := make([]int, len(keys))
	for i, k := range keys {
		ofKey[i] = crc32.Update(crc32.ChecksumIEEE(k), crc32.IEEETable, zero[:]) ^ crc32.ChecksumIEEE(zero[:])
		of[i] = int(RSHash(k) % uint32(groups))
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

// RSHash is the hash function of R. Sedgewick, "Algorithms in C", in the form of the collection that the paper on
// partitioned hashing cites.
func RSHash(key []byte) (h uint32) {
	a := uint32(63689)
	for _, c := range key {
		h = h*a + uint32(c)
		a *= 378551
	}
	return h
}
