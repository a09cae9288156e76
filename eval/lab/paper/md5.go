package paper

import (
	"crypto/md5"
	"encoding/binary"
)

// MD5Positions gives the positions of one key under the hashing of Plank's BF-tester. The MD5 digest of the key with an
// extra byte in front has four positions, each a little-endian 32-bit number modulo M. The extra byte counts the
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
