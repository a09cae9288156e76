package filter

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/bloomery/bloomery/internal/sums"
)

// The hash functions of other systems, whose filters we read and write. None has a seed or a secret: anyone can choose
// keys that look present.
const (
	// XXH64 is the hash function of Parquet: XXH64 with seed 0. Lo is the 64-bit hash. Hi is its upper 32
	// bits, with the lower 32 bits zero.
	XXH64 HashID = 3
	// Murmur3 is the hash function of Guava: MurmurHash3 x64 128 with seed 0. Lo is its first word, Hi its
	// second.
	Murmur3 HashID = 4
	// Murmur3Twice is the hash function of bits-and-blooms: MurmurHash3 x64 128 of the key, then of the key followed by
	// a byte 1; 256 bits in total. Lo is the first of the four words, Hi the last. A Hash has no room for the other
	// two, so a query by Hash has more false positives than a query by key.
	Murmur3Twice HashID = 5
	// Murmur64A is the hash function of RedisBloom: MurmurHash64A of the key, twice. Lo has the seed
	// 0xc6a4a7935bd1e995, Hi has the seed Lo.
	Murmur64A HashID = 6
	// Murmur3x86 is the hash function of Spark: MurmurHash3 x86 32 of the key, twice, with Spark's treatment of the
	// last 1 to 3 bytes; 64 bits in total. The lower half of Lo has the seed 0, its upper half has the lower half as
	// seed. Hi is Lo with the lower 32 bits zero.
	Murmur3x86 HashID = 7
	// Uint64 is not a hash function: it takes the key as a number. It is for filters of FastFilter, which take 64-bit
	// keys and mix them with their own seed. Lo is the number if the key has 8 bytes, little endian; keys of other
	// lengths, which FastFilter does not have, are XXH64 with seed 0. Hi is Lo with the lower 32 bits zero.
	Uint64 HashID = 8
	// FNV1 is the hash function of DCSO's bloom: FNV-1 of 64 bits. Lo is the hash. Hi is Lo with the lower 32 bits zero.
	FNV1 HashID = 9
)

// foreign reports whether the hash function belongs to another system.
func (id HashID) foreign() bool { return id >= XXH64 && id <= FNV1 }

// ForeignHasher returns the hasher of a hash function of another system. The error wraps ErrConfig if id is
// XXH3, SipHash or unknown.
func ForeignHasher(id HashID) (Hasher, error) {
	if !id.foreign() {
		want := fmt.Sprintf("want %s, %s, %s, %s, %s, %s or %s", XXH64, Murmur3, Murmur3Twice, Murmur64A,
			Murmur3x86, Uint64, FNV1)
		return Hasher{}, &ConfigError{"hash", id, want}
	}
	return Hasher{kind: uint64(id)}, nil
}

// sumForeign is Sum for the hash functions of other systems.
func (id HashID) sumForeign(key []byte) Hash {
	switch id {
	case Uint64:
		if len(key) == 8 {
			return short(binary.LittleEndian.Uint64(key))
		}
		return short(xxhash.Sum64(key))
	case XXH64:
		return short(xxhash.Sum64(key))
	case FNV1:
		return short(sums.FNV1(key))
	case Murmur3x86:
		a := sums.Murmur3Spark(key, 0)
		return short(uint64(sums.Murmur3Spark(key, a))<<32 | uint64(a))
	case Murmur3:
		lo, hi := sums.Murmur3(key)
		return Hash{Hi: hi, Lo: lo}
	case Murmur3Twice:
		h := sums.Murmur3Quarters(key)
		return Hash{Hi: h[3], Lo: h[0]}
	}
	lo := sums.Murmur64A(key, sums.Seed64A)
	return Hash{Hi: sums.Murmur64A(key, lo), Lo: lo}
}

// short returns the Hash with a hash of 64 bits.
func short(h uint64) Hash { return Hash{Hi: h &^ (1<<32 - 1), Lo: h} }

// xxh64Uint64 is XXH64 with seed 0 of the eight bytes of key, little endian.
func xxh64Uint64(key uint64) uint64 {
	const (
		first  = 0x9E3779B185EBCA87
		second = 0xC2B2AE3D27D4EB4F
		third  = 0x165667B19E3779F9
		fourth = 0x85EBCA77C2B2AE63
		fifth  = 0x27D4EB2F165667C5
	)
	h := (fifth + 8) ^ bits.RotateLeft64(key*second, 31)*first
	h = bits.RotateLeft64(h, 27)*first + fourth
	h = (h ^ h>>33) * second
	h = (h ^ h>>29) * third
	return h ^ h>>32
}
