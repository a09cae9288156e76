package paper

import (
	"math/bits"
	"math/rand/v2"
)

// Mersenne is the prime 2^61 - 1, the p of the universal families. Keys are integers below it.
const Mersenne = 1<<61 - 1

// mulAdd returns (a·x + b) mod p, exactly, for a, x and b below p = Mersenne. 2^61 is 1 modulo p, so a product is
// congruent to the sum of its upper and its lower 61 bits.
func mulAdd(a, x, b uint64) uint64 {
	hi, lo := bits.Mul64(a, x)
	s := (lo & Mersenne) + (hi<<3 | lo>>61) + b // below 3·2^61
	if s = s&Mersenne + s>>61; s >= Mersenne {
		s -= Mersenne
	}
	return s
}

// Universal is a hash function of a strongly universal family of Saha's slides: a polynomial modulo p and then modulo
// the number of bits m. It has the coefficients, starting at the highest power. Degree 1, ((ax+b) mod p) mod m, is
// strongly 2-wise universal; degree 2, ((ax²+bx+c) mod p) mod m, is strongly 3-wise universal. Both are so only nearly,
// as m does not divide p.
type Universal []uint64

// DrawUniversal draws a function of a degree. The highest coefficient is from 1 to p-1, the others are from 0 to p-1.
func DrawUniversal(r *rand.Rand, degree int) Universal {
	u := Universal{1 + r.Uint64N(Mersenne-1)}
	for range degree {
		u = append(u, r.Uint64N(Mersenne))
	}
	return u
}

// At returns the position of x, below p, in m bits.
func (u Universal) At(x, m uint64) uint64 {
	y := u[0]
	for _, c := range u[1:] {
		y = mulAdd(y, x, c)
	}
	return y % m
}

// DrawUniversals draws k functions of a degree independently.
func DrawUniversals(r *rand.Rand, k, degree int) []Universal {
	fs := make([]Universal, k)
	for j := range fs {
		fs[j] = DrawUniversal(r, degree)
	}
	return fs
}

// Polynomials returns the positions of keys in m bits under the functions fs. Key i is the number x(i), below p.
func Polynomials(fs []Universal, m uint64, x func(i int) uint64) Positions {
	var key uint64
	return func(i, j int) uint64 {
		if j == 0 {
			key = x(i)
		}
		return fs[j].At(key, m)
	}
}

// Number reads a key as one big-endian number and returns it modulo p. Keys of up to 7 bytes stay distinct; longer
// random keys collide with probability 1/p.
func Number(key []byte) (x uint64) {
	for _, c := range key {
		x = mulAdd(x, 256, uint64(c))
	}
	return x
}
