package lab

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestUniversal holds both families against big integers, at the ends of the range as well.
func TestUniversal(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 61), big.NewInt(1))
	if !p.ProbablyPrime(20) || p.Uint64() != mersenne {
		t.Fatal("p")
	}
	r := rand.New(rand.NewPCG(1, 2))
	values := []uint64{0, 1, 2, mersenne - 1, mersenne - 2, mersenne / 2}
	for range 30 {
		values = append(values, r.Uint64N(mersenne))
	}
	b := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	draws := []universal{{mersenne - 1, mersenne - 1}, {mersenne - 1, mersenne - 1, mersenne - 1}}
	for range 20 {
		draws = append(draws, drawUniversal(r, 1), drawUniversal(r, 2))
	}
	for _, u := range draws {
		for _, x := range values {
			// The powers are added up one by one, not nested.
			want := new(big.Int)
			for i, c := range u {
				power := new(big.Int).Exp(b(x), big.NewInt(int64(len(u)-1-i)), nil)
				want.Add(want, power.Mul(power, b(c)))
			}
			want.Mod(want, p)
			want.Mod(want, big.NewInt(80_000))
			if got := u.at(x, 80_000); got != want.Uint64() {
				t.Fatalf("%d at %d: %d, want %s", u, x, got, want)
			}
		}
	}
}

// TestNumber reads a key of 20 bytes as a number in base 256.
func TestNumber(t *testing.T) {
	key := []byte("\xff0123456789abcdef\x00\xfe\xff")
	want := new(big.Int).SetBytes(key)
	if want.Mod(want, big.NewInt(mersenne)); number(key) != want.Uint64() {
		t.Errorf("%d, want %s", number(key), want)
	}
}
