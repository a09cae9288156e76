package filter

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

func TestMurmur3Vectors(t *testing.T) {
	h, err := ForeignHasher(Murmur3)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]Hash{
		"":                          {},
		"hello":                     {Lo: 0xcbd8a7b341bd9b02, Hi: 0x5b1e906a48ae1d19},
		"hello, world":              {Lo: 0x342fac623a5ebc8e, Hi: 0x4cdcbc079642414d},
		"19 Jan 2038 at 3:14:07 AM": {Lo: 0xb89e5988b737affc, Hi: 0x664fc2950231b2cb},
		"The quick brown fox jumps over the lazy dog.": {Lo: 0xcd99481f9ee902c9, Hi: 0x695da1a38987b6e7},
	} {
		if got := h.SumString(key); got != want {
			t.Errorf("%q: %x, want %x", key, got, want)
		}
	}
}

// TestMurmur64A computes the verification value of SMHasher: a hash of the hashes of 256 keys.
func TestMurmur64A(t *testing.T) {
	var key []byte
	var all []byte
	for i := range 256 {
		all = binary.LittleEndian.AppendUint64(all, murmur64A(key, uint64(256-i)))
		key = append(key, byte(i))
	}
	if got := uint32(murmur64A(all, 0)); got != 0x1F0D3804 {
		t.Errorf("verification value %#x, want 0x1F0D3804", got)
	}
}

func TestXXH64Vectors(t *testing.T) {
	h, _ := ForeignHasher(XXH64)
	for key, want := range map[string]uint64{"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b,
		"abc": 0x44bc2cf5ad770999} {
		if got := h.SumString(key); got != (Hash{Hi: want >> 32 << 32, Lo: want}) {
			t.Errorf("%q: %x, want %x", key, got, want)
		}
	}
}

// TestQuarters compares Quarters with the definition: the hash of the key, and of the key followed by a byte 1.
func TestQuarters(t *testing.T) {
	text := []byte(strings.Repeat("0123456789abcdefg", 5))
	for n := range text {
		key := text[:n:n]
		var want [4]uint64
		want[0], want[1] = murmur3(key)
		want[2], want[3] = murmur3(append(key, 1))
		if got := Quarters(key); got != want {
			t.Errorf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

func TestForeignHasher(t *testing.T) {
	for _, id := range []HashID{0, XXH3, SipHash, 7} {
		if _, err := ForeignHasher(id); !errors.Is(err, ErrConfig) || id.Foreign() {
			t.Errorf("%v: %v", id, err)
		}
	}
	names := map[string]bool{}
	for id := XXH64; id <= Murmur64A; id++ {
		h, err := ForeignHasher(id)
		if err != nil || h.ID() != id || h.Seed() != 0 || h.KeyCheck() != 0 || !h.Equal(h) || names[id.String()] {
			t.Errorf("%v: %v, %v", id, h, err)
		}
		names[id.String()] = true
		key := make([]byte, 100)
		if h.Sum(key[:8]) != h.SumUint64(0) || h.Sum(key) != h.SumString(string(key)) {
			t.Errorf("%v: the forms of Sum differ", id)
		}
		if n := testing.AllocsPerRun(100, func() { h.Sum(key) }); n != 0 {
			t.Errorf("%v: Sum allocates %v times", id, n)
		}
	}
}
