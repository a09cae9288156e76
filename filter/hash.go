package filter

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/zeebo/xxh3"
)

// Hash is the 128-bit hash of a key. The [file format] describes which bits each family uses.
//
// [file format]: https://github.com/bloomery/bloomery/blob/main/docs/format.md
type Hash struct {
	Hi, Lo uint64
}

// HashID identifies a hash function in files. The values are part of the file format; 0 is never used.
type HashID uint16

// The hash functions of our own families.
const (
	// XXH3 is XXH3-128 with a 64-bit seed. It is the fastest. Anyone who knows the seed can choose keys
	// that look present.
	XXH3 HashID = 1
	// SipHash is SipHash-2-4 with 128 bits of output and a secret of 16 bytes, which no file contains. Use
	// it if an adversary may choose the keys of queries. A Hasher with a secret is called keyed.
	SipHash HashID = 2
)

// hashNames are the names of the hash functions, by HashID.
var hashNames = [...]string{
	XXH3: "xxh3-128", SipHash: "siphash-128",
	XXH64: "xxh64", Murmur3: "murmur3-x64-128", Murmur3Twice: "murmur3-x64-128-twice", Murmur64A: "murmur64a-twice",
	Murmur3x86: "murmur3-x86-32-twice", Uint64: "uint64", FNV1: "fnv1-64",
}

// String returns the name in files and reports, such as "xxh3-128".
func (id HashID) String() string {
	if id == 0 || int(id) >= len(hashNames) {
		return fmt.Sprintf("hash(%d)", uint16(id))
	}
	return hashNames[id]
}

// Hasher hashes keys with one hash function and its seed or secret. It is a value of three words and safe for
// concurrent use. The zero Hasher is invalid: its Sum methods panic. Two Hashers are equal (==) if and only if they
// give every key the same Hash and their keys have the same KeyForm. Words of secrets are masked, so the time of a
// comparison says nothing about them. A Hasher prints without its secret; see String.
type Hasher struct {
	// Three fields fit in registers when a Hasher is passed by value. With five fields it was passed on the stack, and
	// each query waited for the loads of the previous one, which took 3x the time for a present key among 20 million.

	// kind is the HashID in its lower 8 bits, then the KeyForm in formBits. For SipHash the upper 32 bits are the upper
	// 32 bits of KeyCheck, else 0.
	kind uint64
	// a and b are the seed and secretFlip combined with the seed for XXH3, the two words of the secret
	// XORed with mask(kind) for SipHash, else 0.
	a, b uint64
}

// NewHasher returns an XXH3 hasher. Every seed is valid.
func NewHasher(seed uint64) Hasher {
	return Hasher{kind: uint64(XXH3), a: seed, b: secretFlip + (seed ^ uint64(bits.ReverseBytes32(uint32(seed)))<<32)}
}

// ID returns the hash function.
func (h Hasher) ID() HashID { return HashID(uint8(h.kind)) }

// Seed returns the seed of an XXH3 hasher, or 0 for another.
func (h Hasher) Seed() uint64 {
	if h.ID() == XXH3 {
		return h.a
	}
	return 0
}

// Sum returns the hash of a key. It does not allocate, and key does not escape.
func (h Hasher) Sum(key []byte) Hash {
	n := uint(len(key))
	if uint8(h.kind) != uint8(XXH3) || n < 9 || n > 16 {
		return h.sumOther(key)
	}

	// XXH3-128 for inputs of 9 to 16 bytes, inlined: the call of the library takes 4.3 ns instead of 3 ns.
	first, last := binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:])
	hi, lo := bits.Mul64(first^last^(shortFlipLo-h.a), prime64)
	lo += uint64(n-1) << 54
	last ^= shortFlipHi + h.a
	hi += last + uint64(uint32(last))*(secondWord-1)
	lo ^= bits.ReverseBytes64(hi)
	top, low := bits.Mul64(lo, secondPrime)
	top += hi * secondPrime
	low = (low ^ low>>37) * avalanche
	top = (top ^ top>>37) * avalanche
	return Hash{Hi: top ^ top>>32, Lo: low ^ low>>32}
}

// SumString returns Sum([]byte(key)) without copying the key. It does not allocate.
func (h Hasher) SumString(key string) Hash { return h.Sum(view(key)) }

// SumUint64 returns Sum of the bytes of an integer: eight, little endian, unless the KeyForm has a type. Then they are
// the bytes of KeyForm.AppendUint64, and an integer without a key has a hash that no key has. It does not allocate,
// except for some decimals. For XXH3 it computes the algorithm for inputs of 4 to 8 bytes without a copy of the key in
// memory.
func (h Hasher) SumUint64(key uint64) Hash {
	if h.kind != uint64(XXH3) {
		return h.sumOtherUint64(key)
	}
	return sumUint64(key, h.b)
}

// SumUint64s sets dst[i] to SumUint64(keys[i]) for every i. For XXH3 and XXH64 it takes less time than a call for each
// key. It panics if dst is shorter than keys.
func (h Hasher) SumUint64s(dst []Hash, keys []uint64) {
	dst = dst[:len(keys)]
	switch id := h.ID(); {
	case h.Form().Type != KeyBytes:
		for i, key := range keys {
			dst[i] = h.sumOtherUint64(key)
		}
	case id == XXH3:
		for i, key := range keys {
			dst[i] = sumUint64(key, h.b)
		}
	case id == XXH64:
		for i, key := range keys {
			dst[i] = short(xxh64Uint64(key))
		}
	default:
		for i, key := range keys {
			dst[i] = h.sumOtherUint64(key)
		}
	}
}

// sumUint64 is XXH3-128 for inputs of 4 to 8 bytes, here 8. flip is the field b of a Hasher.
func sumUint64(key, flip uint64) Hash {
	hi, lo := bits.Mul64(key^flip, prime64+8<<2)
	hi += lo << 1
	lo ^= hi >> 3
	lo = (lo ^ lo>>35) * 0x9FB21C651E98DF25
	hi = (hi ^ hi>>37) * avalanche
	return Hash{Hi: hi ^ hi>>32, Lo: lo ^ lo>>28}
}

// sumOtherUint64 is a separate function so that SumUint64 has no array on its stack.
//
//go:noinline
func (h Hasher) sumOtherUint64(key uint64) Hash {
	b, err := h.Form().AppendUint64(make([]byte, 0, 20), key)
	if err == nil {
		return h.Sum(b)
	}
	sum := h.Sum(binary.LittleEndian.AppendUint64(nil, key))
	return Hash{Hi: ^sum.Hi, Lo: ^sum.Lo}
}

// Constants of XXH3 for inputs of 4 to 8 bytes: its first 64-bit prime, and bytes 16 to 23 of its default secret
// XORed with bytes 24 to 31.
const (
	prime64    = 0x9E3779B185EBCA87
	secretFlip = 0xDB979083E96DD4DE ^ 0x1F67B3B7A4A44072
)

// Constants of XXH3 for inputs of 9 to 16 bytes: words of its default secret XORed with each other, its second 64-bit
// prime, its second 32-bit prime, and the factor of its avalanche.
const (
	shortFlipLo = 0x78E5C0CC4EE679CB ^ 0x2172FFCC7DD05A82
	shortFlipHi = 0x8E2443F7744608B8 ^ 0x4C263A81E69035E0
	secondPrime = 0xC2B2AE3D27D4EB4F
	secondWord  = 0x85EBCA77
	avalanche   = 0x165667919E3779F9
)

// sumOther is Sum without its path for short keys. It panics on the zero Hasher, which would otherwise hash under a key
// of zeros unnoticed.
//
//go:noinline
func (h Hasher) sumOther(key []byte) Hash {
	id := h.ID()
	switch {
	case id == XXH3:
		u := xxh3.Hash128Seed(key, h.a)
		return Hash{Hi: u.Hi, Lo: u.Lo}
	case id == SipHash:
		a, b := h.secret()
		lo, hi := siphash.Hash128(a, b, key)
		return Hash{Hi: hi, Lo: lo}
	case id.foreign():
		return id.sumForeign(key)
	}
	panic("filter: Hasher was not made by NewHasher, NewKeyedHasher or ForeignHasher")
}

// Key is the constraint of key types. Named types hash as their underlying type, integers as 8 bytes, little endian. A
// Hash is a key that was hashed before, by the same Hasher or with 128 uniform bits of the caller's own.
type Key interface {
	~string | ~[]byte | ~uint64 | Hash
}

// SumOf returns the hash of a key of any type: SumString, Sum or SumUint64 of h, or the key itself if it is a Hash. It
// does not allocate.
func SumOf[K Key](h Hasher, key K) Hash {
	p := unsafe.Pointer(&key)
	switch reflect.TypeFor[K]().Kind() {
	case reflect.String:
		return h.SumString(*(*string)(p))
	case reflect.Slice:
		return h.Sum(*(*[]byte)(p))
	case reflect.Uint64:
		return h.SumUint64(*(*uint64)(p))
	}
	return *(*Hash)(p)
}

// view returns the bytes of a string without copying them. They must not be changed. Hash functions written
// for []byte would otherwise copy every string of more than 32 bytes to the heap.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
