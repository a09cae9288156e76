package filter

import (
	"errors"
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

func TestXXH64Vectors(t *testing.T) {
	h, _ := ForeignHasher(XXH64)
	for key, want := range map[string]uint64{"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b,
		"abc": 0x44bc2cf5ad770999} {
		if got := h.SumString(key); got != (Hash{Hi: want >> 32 << 32, Lo: want}) {
			t.Errorf("%q: %x, want %x", key, got, want)
		}
	}
}

func TestFNV1Vectors(t *testing.T) {
	h, _ := ForeignHasher(FNV1)
	for key, want := range map[string]uint64{"": 0xcbf29ce484222325, "a": 0xaf63bd4c8601b7be,
		"foobar": 0x340d8765a4dda9c2} {
		if got := h.SumString(key); got != (Hash{Hi: want >> 32 << 32, Lo: want}) {
			t.Errorf("%q: %x, want %x", key, got, want)
		}
	}
}

func TestForeignHasher(t *testing.T) {
	for _, id := range []HashID{0, XXH3, SipHash, 10} {
		if _, err := ForeignHasher(id); !errors.Is(err, ErrConfig) || id.foreign() {
			t.Errorf("%v: %v", id, err)
		}
	}
	names := map[string]bool{}
	for id := XXH64; id <= FNV1; id++ {
		h, err := ForeignHasher(id)
		if err != nil || h.ID() != id || h.Seed() != 0 || h.KeyCheck() != 0 || h == (Hasher{}) || names[id.String()] {
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
