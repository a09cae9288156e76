package paper

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestUniversal compares both families with big integers, including the ends of the range.
func TestUniversal(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 61), big.NewInt(1))
	if !p.ProbablyPrime(20) || p.Uint64() != Mersenne {
		t.Fatal("p")
	}
	r := rand.New(rand.NewPCG(1, 2))
	values := []uint64{0, 1, 2, Mersenne - 1, Mersenne - 2, Mersenne / 2}
	for range 30 {
		values = append(values, r.Uint64N(Mersenne))
	}
	b := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	draws := []Universal{{Mersenne - 1, Mersenne - 1}, {Mersenne - 1, Mersenne - 1, Mersenne - 1}}
	for range 20 {
		draws = append(draws, DrawUniversal(r, 1), DrawUniversal(r, 2))
	}
	for _, u := range draws {
		for _, x := range values {
			// Sums of powers, not the nested form of At.
			want := new(big.Int)
			for i, c := range u {
				power := new(big.Int).Exp(b(x), big.NewInt(int64(len(u)-1-i)), nil)
				want.Add(want, power.Mul(power, b(c)))
			}
			want.Mod(want, p)
			want.Mod(want, big.NewInt(80_000))
			if got := u.At(x, 80_000); got != want.Uint64() {
				t.Fatalf("%d at %d: %d, want %s", u, x, got, want)
			}
		}
	}
}

// TestNumber compares a key of 20 bytes with a number in base 256.
func TestNumber(t *testing.T) {
	key := []byte("\xff0123456789abcdef\x00\xfe\xff")
	want := new(big.Int).SetBytes(key)
	if want.Mod(want, big.NewInt(Mersenne)); Number(key) != want.Uint64() {
		t.Errorf("%d, want %s", Number(key), want)
	}
}

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

// TestMD5 compares positions with the output of md5sum for "\0abc" and "\1abc".
func TestMD5(t *testing.T) {
	const m = 1_000_000
	whole := []uint64{3930667386, 1622385841, 643805343, 2414603161, 421823248, 2058268752, 2886450203, 3400310065}
	p := MD5Positions{Block: []byte("?abc"), M: m}
	for j, want := range whole {
		if got := p.At(j); got != want%m {
			t.Errorf("position %d is %d, want %d", j, got, want%m)
		}
	}
}

// TestNibbles checks an odd number of digits.
func TestNibbles(t *testing.T) {
	digest, _ := hex.DecodeString("29295e325b77f8f822522728e795c1a4")
	if got := Nibbles(digest, 5); !slices.Equal(got, []uint64{2, 9, 2, 9, 5}) {
		t.Errorf("%x", got)
	}
}
