package filter

import (
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/dchest/siphash"
	"github.com/zeebo/xxh3"
)

// Hash is the 128-bit hash of a key. Each family's package comment says which of its bits do what.
type Hash struct {
	Hi, Lo uint64
}

// HashID names a hash function in files. Its values are part of the file format.
type HashID uint16

// The hash functions. 0 is never used.
const (
	// XXH3 is XXH3-128 with a 64-bit seed: fast, and predictable to anybody who knows the seed.
	XXH3 HashID = 1
	// SipHash is SipHash-2-4 with 128 bits of output under a secret 128-bit key that no file contains. Take it
	// where an adversary may choose the keys that are asked for.
	SipHash HashID = 2
)

// String returns the name that files and reports show, such as "xxh3-128".
func (id HashID) String() string {
	switch id {
	case XXH3:
		return "xxh3-128"
	case SipHash:
		return "siphash-128"
	case XXH64:
		return "xxh64"
	case Murmur3:
		return "murmur3-x64-128"
	case Murmur3Twice:
		return "murmur3-x64-128-twice"
	case Murmur64A:
		return "murmur64a-twice"
	}
	return fmt.Sprintf("hash(%d)", uint16(id))
}

// SecretSize is the number of bytes of the secret of a keyed Hasher.
const SecretSize = 16

// Hasher turns keys into Hashes. It is a small value, safe for concurrent use; its zero value is not valid.
//
// It has three fields so that the compiler passes it in registers. With five it went over the stack, and the copy held
// every query up until the loads of the one before had come: three times the time of a present key at 20 million.
type Hasher struct {
	id HashID
	// a and b are the seed and secretFlip combined with it (XXH3), the two words of the secret (SipHash), or 0.
	a, b uint64
}

// NewHasher returns the XXH3 hasher with a seed; every seed is valid.
func NewHasher(seed uint64) Hasher {
	return Hasher{id: XXH3, a: seed, b: secretFlip + (seed ^ uint64(bits.ReverseBytes32(uint32(seed)))<<32)}
}

// NewKeyedHasher returns the SipHash hasher under a secret, its 16 bytes read as two little-endian words.
func NewKeyedHasher(secret [SecretSize]byte) Hasher {
	return Hasher{
		id: SipHash,
		a:  binary.LittleEndian.Uint64(secret[:8]),
		b:  binary.LittleEndian.Uint64(secret[8:]),
	}
}

// ID returns which hash function this is.
func (h Hasher) ID() HashID { return h.id }

// Seed returns the seed of an XXH3 hasher and 0 for others.
func (h Hasher) Seed() uint64 {
	if h.id == XXH3 {
		return h.a
	}
	return 0
}

// keyCheckLabel is hashed under the secret to tell a wrong secret from the right one. It is longer than any
// mail domain or address so that it does not coincide with a real key by accident.
const keyCheckLabel = "bloomery: this sentence is hashed to recognise the secret of a keyed filter, format 1"

// KeyCheck returns 64 bits that tell whether two keyed hashers share their secret, without giving it away, and
// 0 for a hasher without a secret.
func (h Hasher) KeyCheck() uint64 {
	if h.id != SipHash {
		return 0
	}
	_, hi := siphash.Hash128(h.a, h.b, []byte(keyCheckLabel))
	return hi | 1
}

// Equal reports whether the two hashers give the same Hash to every key.
func (h Hasher) Equal(o Hasher) bool {
	var a, b [16]byte
	binary.LittleEndian.PutUint64(a[:], h.a)
	binary.LittleEndian.PutUint64(a[8:], h.b)
	binary.LittleEndian.PutUint64(b[:], o.a)
	binary.LittleEndian.PutUint64(b[8:], o.b)
	return h.id == o.id && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Sum returns the hash of a key.
func (h Hasher) Sum(key []byte) Hash {
	if h.id == XXH3 {
		u := xxh3.Hash128Seed(key, h.a)
		return Hash{Hi: u.Hi, Lo: u.Lo}
	}
	return h.sumOther(key)
}

// SumString returns Sum([]byte(key)). XXH3 does without copying the key; the others copy those of more than 32 bytes.
func (h Hasher) SumString(key string) Hash {
	if h.id == XXH3 {
		u := xxh3.HashString128Seed(key, h.a)
		return Hash{Hi: u.Hi, Lo: u.Lo}
	}
	return h.sumOther([]byte(key))
}

// SumUint64 returns Sum of the eight bytes of key, little endian. It is XXH3-128 for inputs of 4 to 8 bytes, without
// the detour through memory.
func (h Hasher) SumUint64(key uint64) Hash {
	if h.id != XXH3 {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], key)
		return h.sumOther(b[:])
	}
	hi, lo := bits.Mul64(key^h.b, prime64+8<<2)
	hi += lo << 1
	lo ^= hi >> 3
	lo = (lo ^ lo>>35) * 0x9FB21C651E98DF25
	hi = (hi ^ hi>>37) * 0x165667919E3779F9
	return Hash{Hi: hi ^ hi>>32, Lo: lo ^ lo>>28}
}

// The constants of XXH3 for short inputs: its first 64-bit prime, and bytes 16 to 23 of its secret exclusive or bytes 24
// to 31.
const (
	prime64    = 0x9E3779B185EBCA87
	secretFlip = 0xDB979083E96DD4DE ^ 0x1F67B3B7A4A44072
)

// sumOther is Sum without XXH3. It panics on the zero Hasher: hashing with a key of zeros by mistake would not be noticed
// otherwise.
func (h Hasher) sumOther(key []byte) Hash {
	switch {
	case h.id == SipHash:
		lo, hi := siphash.Hash128(h.a, h.b, key)
		return Hash{Hi: hi, Lo: lo}
	case h.id.Foreign():
		return h.id.sumForeign(key)
	}
	panic("filter: Hasher was not made by NewHasher, NewKeyedHasher or ForeignHasher")
}
