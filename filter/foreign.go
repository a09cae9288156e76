package filter

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// The hash functions of other systems, whose filters we read and write. None has a seed or a secret: anyone can choose
// keys that look present.
const (
	// XXH64 is the hash function of Parquet: XXH64 with seed 0. Lo is the 64-bit hash. Hi is its upper 32 bits, with
	// the lower 32 bits zero.
	XXH64 HashID = 3
	// Murmur3 is the hash function of Guava: MurmurHash3 x64 128 with seed 0. Lo is its first word, Hi its second.
	Murmur3 HashID = 4
	// Murmur3Twice is the hash function of bits-and-blooms: MurmurHash3 x64 128 of the key, then of the key followed
	// by a byte 1; 256 bits in total. Lo is the first of the four words, Hi the last. A Hash has no room for the
	// other two: see RawKeyFilter and Quarters.
	Murmur3Twice HashID = 5
	// Murmur64A is the hash function of RedisBloom: MurmurHash64A of the key, twice. Lo has the seed
	// 0xc6a4a7935bd1e995, Hi has the seed Lo.
	Murmur64A HashID = 6
)

// Foreign reports whether the hash function belongs to another system.
func (id HashID) Foreign() bool { return id >= XXH64 && id <= Murmur64A }

// ForeignHasher returns the hasher of a hash function of another system. The error wraps ErrConfig if id is not
// Foreign.
func ForeignHasher(id HashID) (Hasher, error) {
	if !id.Foreign() {
		want := fmt.Sprintf("want %s, %s, %s or %s", XXH64, Murmur3, Murmur3Twice, Murmur64A)
		return Hasher{}, &ConfigError{"hash", id, want}
	}
	return Hasher{kind: uint64(id)}, nil
}

// sumForeign is Sum for the hash functions of other systems.
func (id HashID) sumForeign(key []byte) Hash {
	switch id {
	case XXH64:
		h := xxhash.Sum64(key)
		return Hash{Hi: h &^ (1<<32 - 1), Lo: h}
	case Murmur3:
		lo, hi := murmur3(key)
		return Hash{Hi: hi, Lo: lo}
	case Murmur3Twice:
		h := Quarters(key)
		return Hash{Hi: h[3], Lo: h[0]}
	}
	lo := murmur64A(key, murmur64)
	return Hash{Hi: murmur64A(key, lo), Lo: lo}
}

// Constants of MurmurHash3 x64 128 and of MurmurHash64A (Austin Appleby, in the public domain).
const (
	murmur3C1 = 0x87c37b91114253d5
	murmur3C2 = 0x4cf5ad432745937f
	murmur64  = 0xc6a4a7935bd1e995
)

// murmur3 returns the two halves of MurmurHash3 x64 128 with seed 0.
func murmur3(key []byte) (h1, h2 uint64) {
	h1, h2 = murmur3Blocks(key)
	return murmur3End(h1, h2, key[len(key)&^15:], uint64(len(key)))
}

// Quarters returns the four words of Murmur3Twice: two of the key and two of the key followed by a byte 1. It reads the
// key once, because both hashes begin with the same blocks. It does not allocate.
func Quarters(key []byte) (h [4]uint64) {
	h1, h2 := murmur3Blocks(key)
	var tail [16]byte
	n := copy(tail[:], key[len(key)&^15:])
	tail[n] = 1
	h[0], h[1] = murmur3End(h1, h2, tail[:n], uint64(len(key)))
	if n == 15 { // the byte completes a block
		h1, h2 = murmur3Block(h1, h2, tail[:])
		h[2], h[3] = murmur3End(h1, h2, nil, uint64(len(key))+1)
	} else {
		h[2], h[3] = murmur3End(h1, h2, tail[:n+1], uint64(len(key))+1)
	}
	return h
}

// murmur3Blocks returns the state after all whole blocks of 16 bytes.
func murmur3Blocks(key []byte) (h1, h2 uint64) {
	for ; len(key) >= 16; key = key[16:] {
		h1, h2 = murmur3Block(h1, h2, key)
	}
	return h1, h2
}

func murmur3Block(h1, h2 uint64, b []byte) (uint64, uint64) {
	h1 ^= murmur3Low(binary.LittleEndian.Uint64(b))
	h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
	h2 ^= murmur3High(binary.LittleEndian.Uint64(b[8:]))
	h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	return h1, h2
}

func murmur3Low(k uint64) uint64  { return bits.RotateLeft64(k*murmur3C1, 31) * murmur3C2 }
func murmur3High(k uint64) uint64 { return bits.RotateLeft64(k*murmur3C2, 33) * murmur3C1 }

// murmur3End mixes in the last 0 to 15 bytes and the length in bytes, and returns the two words of the hash.
func murmur3End(h1, h2 uint64, tail []byte, length uint64) (uint64, uint64) {
	var k1, k2 uint64
	for i, c := range tail {
		if i < 8 {
			k1 |= uint64(c) << (8 * i)
		} else {
			k2 |= uint64(c) << (8 * (i - 8))
		}
	}
	h1 ^= murmur3Low(k1) ^ length // a tail of zero bytes mixes in 0
	h2 ^= murmur3High(k2) ^ length
	h1 += h2
	h2 += h1
	h1, h2 = murmur3Mix(h1), murmur3Mix(h2)
	h1 += h2
	return h1, h2 + h1
}

func murmur3Mix(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}

// murmur64A is MurmurHash64A. It reads words as little endian on every machine.
func murmur64A(key []byte, seed uint64) uint64 {
	h := seed ^ uint64(len(key))*murmur64
	for ; len(key) >= 8; key = key[8:] {
		k := binary.LittleEndian.Uint64(key) * murmur64
		h = (h ^ (k^k>>47)*murmur64) * murmur64
	}
	if len(key) > 0 {
		for i, c := range key {
			h ^= uint64(c) << (8 * i)
		}
		h *= murmur64
	}
	h = (h ^ h>>47) * murmur64
	return h ^ h>>47
}
