package sums

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestMurmur64A computes the verification value of SMHasher: a hash of the hashes of 256 keys.
func TestMurmur64A(t *testing.T) {
	var key []byte
	var all []byte
	for i := range 256 {
		all = binary.LittleEndian.AppendUint64(all, Murmur64A(key, uint64(256-i)))
		key = append(key, byte(i))
	}
	if got := uint32(Murmur64A(all, 0)); got != 0x1F0D3804 {
		t.Errorf("verification value %#x, want 0x1F0D3804", got)
	}
}

// TestQuarters compares Murmur3Quarters with the definition: the hash of the key, and of the key followed by a byte 1.
func TestQuarters(t *testing.T) {
	text := []byte(strings.Repeat("0123456789abcdefg", 5))
	for n := range text {
		key := text[:n:n]
		var want [4]uint64
		want[0], want[1] = Murmur3(key)
		want[2], want[3] = Murmur3(append(key, 1))
		if got := Murmur3Quarters(key); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

func TestSum(t *testing.T) {
	const want = 0xe3069283 // the check value of CRC-32C
	if got := CRC([]byte("123456789")); got != want {
		t.Errorf("%#x", got)
	}
	if got := CRC([]byte("1234"), nil, []byte("56789")); got != want {
		t.Errorf("two parts: %#x", got)
	}
	if got := UpdateCRC(CRC([]byte("1234")), []byte("56789")); got != want {
		t.Errorf("update: %#x", got)
	}
}
