package paper

import (
	"encoding/binary"
	"testing"
)

// TestCRC compares RSHash with a value computed independently, and the CRC functions with the polynomial bit by bit.
func TestCRC(t *testing.T) {
	if h := RSHash([]byte("ab")); h != 2162651057 {
		t.Errorf("RS(ab) = %d", h)
	}
	_, bit := CRCFunctions([][]byte{[]byte("key")}, 7, 3, 1<<32)
	for j := range 3 {
		all := binary.LittleEndian.AppendUint32([]byte("key"), crcR1+uint32(j+1)*crcR2)
		if got, want := bit(0, j), uint64(crcOf(all)); got != want {
			t.Errorf("h_%d(key) = %d, want %d", j+1, got, want)
		}
	}
}

// crcOf computes CRC-32 bit by bit from its polynomial.
func crcOf(b []byte) uint32 {
	c := ^uint32(0)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			c = c>>1 ^ 0xEDB88320&-(c&1)
		}
	}
	return ^c
}
