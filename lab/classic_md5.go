package lab

import (
	"crypto/md5"
	"encoding/binary"
)

// md5Position returns position j of a key under the hashing of Plank's BF-tester: the digest of the key with an extra byte in
// front gives four positions, each a 32-bit number, little endian, modulo m; the extra byte counts the digests from 0, so
// there are 1024 positions at most. It must be asked for j = 0, 1, 2, ... in this order, since it keeps the digest.
type md5Position struct {
	block  []byte // the extra byte and the key; the first is overwritten
	m      uint32
	digest [md5.Size]byte
}

func (p *md5Position) at(j int) uint64 {
	if j%4 == 0 {
		p.block[0] = byte(j / 4)
		p.digest = md5.Sum(p.block)
	}
	return uint64(binary.LittleEndian.Uint32(p.digest[j%4*4:]) % p.m)
}

// nibbles returns the first k hexadecimal digits of a digest, each a position in 16 bits.
func nibbles(digest []byte, k int) []uint64 {
	at := make([]uint64, k)
	for j := range at {
		at[j] = uint64(digest[j/2]>>(4*(1-j%2))) & 15
	}
	return at
}
