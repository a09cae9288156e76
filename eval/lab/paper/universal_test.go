package paper

import (
	"math/big"
	"math/rand/v2"
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
