// Package sums computes the checksum of all files of the project, CRC-32C, and hash functions that other systems use:
// MurmurHash3 x64 128, MurmurHash64A and MurmurHash3 x86 32 of Austin Appleby, and FNV-1 of 64 bits. They read words as little endian
// on every machine and do not allocate. Package filter depends on it, so it imports the standard library only.
package sums

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC returns the CRC-32C (Castagnoli) of the parts, one after the other.
func CRC(parts ...[]byte) (sum uint32) {
	for _, b := range parts {
		sum = crc32.Update(sum, castagnoli, b)
	}
	return sum
}

// UpdateCRC returns the checksum of the bytes with checksum sum, followed by b.
func UpdateCRC(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }

// Constants of MurmurHash3 x64 128 and of MurmurHash64A (Austin Appleby, in the public domain).
const (
	c1  = 0x87c37b91114253d5
	c2  = 0x4cf5ad432745937f
	c64 = 0xc6a4a7935bd1e995
)

// Murmur3 returns the two words of MurmurHash3 x64 128 with seed 0.
func Murmur3(key []byte) (h1, h2 uint64) {
	h1, h2 = mixBlocks(key)
	return finish(h1, h2, key[len(key)&^15:], uint64(len(key)))
}

// Murmur3Quarters returns two words of Murmur3 of the key and two of Murmur3 of the key followed by a byte 1. It reads
// the key once, because both hashes begin with the same blocks.
func Murmur3Quarters(key []byte) (h [4]uint64) {
	h1, h2 := mixBlocks(key)
	// At most 15 bytes remain after the blocks, so the appended byte fits.
	var tail [16]byte
	n := copy(tail[:], key[len(key)&^15:])
	tail[n] = 1
	h[0], h[1] = finish(h1, h2, tail[:n], uint64(len(key)))
	if n == 15 { // the byte completes a block
		h1, h2 = mixBlock(h1, h2, tail[:])
		h[2], h[3] = finish(h1, h2, nil, uint64(len(key))+1)
	} else {
		h[2], h[3] = finish(h1, h2, tail[:n+1], uint64(len(key))+1)
	}
	return h
}

// mixBlocks returns the state after all whole blocks of 16 bytes.
func mixBlocks(key []byte) (h1, h2 uint64) {
	for ; len(key) >= 16; key = key[16:] {
		h1, h2 = mixBlock(h1, h2, key)
	}
	return h1, h2
}

func mixBlock(h1, h2 uint64, b []byte) (uint64, uint64) {
	h1 ^= mixLow(binary.LittleEndian.Uint64(b))
	h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
	h2 ^= mixHigh(binary.LittleEndian.Uint64(b[8:]))
	h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	return h1, h2
}

func mixLow(k uint64) uint64  { return bits.RotateLeft64(k*c1, 31) * c2 }
func mixHigh(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

// finish mixes in the last 0 to 15 bytes and the length in bytes, and returns the two words of the hash.
func finish(h1, h2 uint64, tail []byte, length uint64) (uint64, uint64) {
	var k1, k2 uint64
	for i, c := range tail {
		if i < 8 {
			k1 |= uint64(c) << (8 * i)
		} else {
			k2 |= uint64(c) << (8 * (i - 8))
		}
	}

	h1 ^= mixLow(k1) ^ length // without a tail, k1 and k2 are 0 and change nothing, as in the original
	h2 ^= mixHigh(k2) ^ length
	h1 += h2
	h2 += h1
	h1, h2 = avalanche(h1), avalanche(h2)
	h1 += h2
	return h1, h2 + h1
}

func avalanche(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}

// Seed64A is the seed that RedisBloom gives Murmur64A.
const Seed64A = c64

// Murmur64A returns MurmurHash64A.
func Murmur64A(key []byte, seed uint64) uint64 {
	h := seed ^ uint64(len(key))*c64
	for ; len(key) >= 8; key = key[8:] {
		k := binary.LittleEndian.Uint64(key) * c64
		h = (h ^ (k^k>>47)*c64) * c64
	}
	if len(key) > 0 {
		for i, c := range key {
			h ^= uint64(c) << (8 * i)
		}
		h *= c64
	}
	h = (h ^ h>>47) * c64
	return h ^ h>>47
}

// Murmur3Spark returns MurmurHash3 x86 32 as Spark computes it: each of the last 1 to 3 bytes is mixed in as a separate
// sign-extended word.
func Murmur3Spark(key []byte, seed uint32) uint32 {
	h, n := seed, uint32(len(key))
	for ; len(key) >= 4; key = key[4:] {
		h = word32(h, binary.LittleEndian.Uint32(key))
	}
	for _, c := range key {
		h = word32(h, uint32(int8(c)))
	}
	h ^= n
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// word32 mixes a word into the state of Murmur3Spark.
func word32(h, k uint32) uint32 {
	h ^= bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593
	return bits.RotateLeft32(h, 13)*5 + 0xe6546b64
}

// FNV1 returns FNV-1 of 64 bits (Fowler, Noll and Vo, in the public domain).
func FNV1(key []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range key {
		h = h*0x100000001b3 ^ uint64(c)
	}
	return h
}
