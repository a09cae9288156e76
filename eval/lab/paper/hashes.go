package paper

import (
	"crypto/md5"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"math/rand/v2"
)

// Mersenne is the prime 2^61 - 1, the p of the universal families. Keys are integers below it.
const Mersenne = 1<<61 - 1

// mulAdd returns (a·x + b) mod p, exactly, for a, x and b below p = Mersenne. 2^61 is 1 modulo p, so a product is
// congruent to the sum of its upper and its lower 61 bits.
func mulAdd(a, x, b uint64) uint64 {
	hi, lo := bits.Mul64(a, x)
	s := (lo & Mersenne) + (hi<<3 | lo>>61) + b // below 3·2^61
	if s = s&Mersenne + s>>61; s >= Mersenne {
		s -= Mersenne
	}
	return s
}

// Universal is a hash function of a strongly universal family of Saha's slides: a polynomial modulo p and then modulo
// the number of bits m. Its elements are the coefficients, starting with the highest power. Degree 1, ((ax+b) mod p)
// mod m, is strongly 2-wise universal; degree 2, ((ax²+bx+c) mod p) mod m, is strongly 3-wise universal. Both hold only
// approximately, since m does not divide p.
type Universal []uint64

// DrawUniversal draws a function of a degree. The highest coefficient is from 1 to p-1, the others are from 0 to p-1.
func DrawUniversal(r *rand.Rand, degree int) Universal {
	u := Universal{1 + r.Uint64N(Mersenne-1)}
	for range degree {
		u = append(u, r.Uint64N(Mersenne))
	}
	return u
}

// At returns the position of x, below p, in m bits.
func (u Universal) At(x, m uint64) uint64 {
	y := u[0]
	for _, c := range u[1:] {
		y = mulAdd(y, x, c)
	}
	return y % m
}

// DrawUniversals draws k functions of a degree independently.
func DrawUniversals(r *rand.Rand, k, degree int) []Universal {
	fs := make([]Universal, k)
	for j := range fs {
		fs[j] = DrawUniversal(r, degree)
	}
	return fs
}

// Polynomials returns the positions of keys in m bits under the functions fs. Key i is the number x(i), below p.
func Polynomials(fs []Universal, m uint64, x func(i int) uint64) Positions {
	var key uint64
	return func(i, j int) uint64 {
		if j == 0 {
			key = x(i)
		}
		return fs[j].At(key, m)
	}
}

// Number reads a key as one big-endian number and returns it modulo p. Keys of up to 7 bytes stay distinct; longer
// random keys collide with probability 1/p.
func Number(key []byte) (x uint64) {
	for _, c := range key {
		x = mulAdd(x, 256, uint64(c))
	}
	return x
}

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
	keys [][]byte, groups, functions int, bits uint64,
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

// MD5Positions computes the positions of one key under the hashing of Plank's BF-tester. The MD5 digest of the key with
// an extra byte in front gives four positions, each a little-endian 32-bit number modulo M. The extra byte counts the
// digests from 0, so a key has at most 1024 positions.
type MD5Positions struct {
	Block  []byte // the extra byte and the key; At overwrites the first byte
	M      uint32 // number of bits
	digest [md5.Size]byte
}

// At returns position j. It must be called with j = 0, 1, 2, ... in this order, since it keeps the digest.
func (p *MD5Positions) At(j int) uint64 {
	if j%4 == 0 {
		p.Block[0] = byte(j / 4)
		p.digest = md5.Sum(p.Block)
	}
	return uint64(binary.LittleEndian.Uint32(p.digest[j%4*4:]) % p.M)
}

// Nibbles returns the first k hexadecimal digits of a digest, each a position in a filter of 16 bits.
func Nibbles(digest []byte, k int) []uint64 {
	at := make([]uint64, k)
	for j := range at {
		at[j] = uint64(digest[j/2]>>(4*(1-j%2))) & 15
	}
	return at
}
