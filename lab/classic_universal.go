package lab

import (
	"math/bits"
	"math/rand/v2"
)

// mersenne is the prime 2^61 - 1, the p of the universal families: at least the number of keys there can be, if they are
// integers below it.
const mersenne = 1<<61 - 1

// mulAdd returns (a·x + b) mod p, exactly, for a, x and b below p = mersenne. 2^61 is 1 modulo p, so the product is the
// sum of its upper and its lower 61 bits.
func mulAdd(a, x, b uint64) uint64 {
	hi, lo := bits.Mul64(a, x)
	s := (lo & mersenne) + (hi<<3 | lo>>61) + b // below 3·2^61
	if s = s&mersenne + s>>61; s >= mersenne {
		s -= mersenne
	}
	return s
}

// universal is one hash function of a strongly universal family of Saha's slides, a polynomial modulo p and then modulo the
// number of bits: of degree 1 it is ((ax+b) mod p) mod m, strongly 2-wise universal, of degree 2 ((ax²+bx+c) mod p) mod m,
// strongly 3-wise universal, both nearly so since p is no multiple of m.
type universal []uint64 // the coefficients, that of the highest power first

// drawUniversal draws a function of a family. The highest coefficient is from 1 to p-1, the others from 0 to p-1.
func drawUniversal(r *rand.Rand, degree int) universal {
	u := universal{1 + r.Uint64N(mersenne-1)}
	for range degree {
		u = append(u, r.Uint64N(mersenne))
	}
	return u
}

// at returns the position of x, below p, in m bits.
func (u universal) at(x, m uint64) uint64 {
	y := u[0]
	for _, c := range u[1:] {
		y = mulAdd(y, x, c)
	}
	return y % m
}

// drawFamily draws k functions of a family independently.
func drawFamily(r *rand.Rand, k, degree int) []universal {
	fs := make([]universal, k)
	for j := range fs {
		fs[j] = drawUniversal(r, degree)
	}
	return fs
}

// polynomials returns the positions of keys in m bits, key i being the number x(i), below p.
func polynomials(fs []universal, m uint64, x func(i int) uint64) positions {
	var key uint64
	return func(i, j int) uint64 {
		if j == 0 {
			key = x(i)
		}
		return fs[j].at(key, m)
	}
}

// number reads a key as one large number, big endian, and returns it modulo p. Keys of up to 7 bytes stay distinct; longer
// random ones collide with probability 1/p.
func number(key []byte) (x uint64) {
	for _, c := range key {
		x = mulAdd(x, 256, uint64(c))
	}
	return x
}
