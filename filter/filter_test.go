package filter

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

func TestSpecRoundTrip(t *testing.T) {
	for text, want := range map[string]string{
		"standard":                    "standard",
		"standard()":                  "standard",
		" standard ( k = 7 , m=100 )": "standard(k=7,m=100)",
		"standard(m=100,k=7)":         "standard(k=7,m=100)",
		"fuse(fpr=1e-3)":              "fuse(fpr=1e-3)",
		"fuse(fpr=0.1%)":              "fuse(fpr=0.001)",
		"fuse(fpr = 0.7% )":           "fuse(fpr=0.007)",
		"partitioned(target=.5%)":     "partitioned(target=0.005)",
		"fuse(fpr=0.0000001%)":        "fuse(fpr=1e-09)",
	} {
		s, err := ParseSpec(text)
		if err != nil || s.String() != want {
			t.Errorf("ParseSpec(%q) = %q, %v; want %q", text, s, err, want)
		}
		if again, err := ParseSpec(s.String()); err != nil || again != s {
			t.Errorf("%q does not come back: %q, %v", s, again, err)
		}
	}
	s, err := ParseSpec("standard")
	if err != nil {
		t.Fatal(err)
	}
	if s = s.With("m", uint64(5)).With("bits_per_key", 9.5); s.String() != "standard(bits_per_key=9.5,m=5)" {
		t.Errorf("With = %q", s)
	}
}

func TestSpecErrors(t *testing.T) {
	for _, text := range []string{"", "(", "9", "Standard", "a(", "a)", "a(b)", "a(b=)", "a(=1)", "a(b=1,)",
		"a(b=1,b=2)", "a(b=1%)", "a(fpr=%)", "a(fpr=1e-3%)", "a(fpr=-1%)", "a(fpr=1%%)", "a(fpr=1.2.3%)",
		"a(" + strings.Repeat("b", MaxSpecLen-len("a(,fpr=9%)=1")) + "=1,fpr=9%)",
		"a(b=1)x", "a(b=c=d)", "a(b=\x00)", "a(b=1", strings.Repeat("a", MaxSpecLen+1)} {
		if s, err := ParseSpec(text); !errors.Is(err, ErrSpec) {
			t.Errorf("ParseSpec(%q) = %v, %v; want ErrSpec", text, s, err)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"standard", "standard(k=7,m=100)", "blocked(layout=split,blocks=3)", "a(b=1,b=2)",
		"a((", " a ( b = 1 ) "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		again, err := ParseSpec(s.String())
		if err != nil || again != s || again.String() != s.String() {
			t.Fatalf("%q became %q became %q, %v", text, s, again, err)
		}
	})
}

// TestSumUint64 compares SumUint64 with the library.
func TestSumUint64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		key, h := r.Uint64()>>r.IntN(64), NewHasher(r.Uint64()>>r.IntN(64))
		if got, want := h.SumUint64(key), h.Sum(binary.LittleEndian.AppendUint64(nil, key)); got != want {
			t.Fatalf("seed %#x key %#x: %x, want %x", h.Seed(), key, got, want)
		}
	}
}

func TestSumUint64s(t *testing.T) {
	keys := []uint64{0, 1, 1 << 63, 0x0102030405060708, 1<<64 - 1}
	for _, h := range []Hasher{
		NewHasher(0), NewHasher(7), NewKeyedHasher(Secret{5}), {kind: uint64(XXH64)}, {kind: uint64(Murmur3)},
	} {
		dst := make([]Hash, len(keys)+1)
		h.SumUint64s(dst, keys)
		for i, key := range keys {
			if dst[i] != h.SumUint64(key) {
				t.Errorf("%v: another hash for %#x", h.ID(), key)
			}
		}
		if dst[len(keys)] != (Hash{}) {
			t.Errorf("%v: SumUint64s wrote behind the last key", h.ID())
		}
	}
}

// The vectors come from the authors' reference programs.
func TestHashVectors(t *testing.T) {
	x := NewHasher(0)
	if got := x.Sum(nil); got != (Hash{0x99aa06d3014798d8, 0x6001c324468d497f}) {
		t.Errorf("xxh3-128 of nothing = %x", got)
	}
	var secret Secret
	key := make([]byte, 15)
	for i := range secret {
		secret[i] = byte(i)
	}
	for i := range key {
		key[i] = byte(i)
	}
	// The SipHash-2-4-128 of an empty key with the secret 00 01 .. 0f is a3 81 7f 04 ba 25 a8 e6 6d f6 72 14 c7 55 02
	// 93. Hash holds it as two little-endian words.
	if got := NewKeyedHasher(secret).Sum(nil); got != (Hash{0x930255c71472f66d, 0xe6a825ba047f81a3}) {
		t.Errorf("siphash-128 of nothing = %x", got)
	}
	for _, h := range []Hasher{x, NewHasher(7), NewKeyedHasher(secret)} {
		if h.Sum(key) != h.SumString(string(key)) {
			t.Errorf("%v: bytes and string differ", h.ID())
		}
		if h.SumUint64(0x0102030405060708) != h.Sum([]byte{8, 7, 6, 5, 4, 3, 2, 1}) {
			t.Errorf("%v: uint64 is not its little-endian bytes", h.ID())
		}
		if h.ID() == XXH3 {
			if n := testing.AllocsPerRun(100, func() { h.Sum(key); h.SumUint64(5) }); n != 0 {
				t.Errorf("%v allocates %v times", h.ID(), n)
			}
		}
	}
	other := NewKeyedHasher(Secret{1})
	if k := NewKeyedHasher(secret); k != NewKeyedHasher(secret) || k == other ||
		k.KeyCheck() == other.KeyCheck() || x == NewHasher(1) {
		t.Error("== or KeyCheck do not tell hashers apart")
	}
}

// TestSumLibrary compares Sum, which has its own path for short keys, with the library at all lengths up to 300.
func TestSumLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	key := make([]byte, 300)
	for range 200 {
		seed := rng.Uint64() >> rng.UintN(64)
		for i := range key {
			key[i] = byte(rng.Uint32() >> rng.UintN(9))
		}
		h := NewHasher(seed)
		for n := range key {
			u := xxh3.Hash128Seed(key[:n], seed)
			want := Hash{Hi: u.Hi, Lo: u.Lo}
			if got := h.Sum(key[:n]); got != want || h.SumString(string(key[:n])) != want {
				t.Fatalf("seed %d, %x: %x, want %x", seed, key[:n], got, want)
			}
		}
	}
}
