package exact

import "math/bits"

// The logarithms are in fixed point: the entropy is part of the file, and floating-point results differ between
// processors.

const (
	logBits = 56 // bits of the fraction of log2
	outBits = 16 // bits of the fraction of log2Factorial
)

// Constants with outBits or logBits bits of fraction.
const (
	logE      = 103957133576908769 // log2(e)·2^56
	halfLog2P = 86884              // log2(2π)/2·2^16
	logE12    = 7879               // log2(e)/12·2^16
)

// log2 returns log2(n)·2^56, rounded down. n must not be 0.
func log2(n uint64) uint64 {
	top := uint64(bits.Len64(n) - 1)
	m := n << (63 - top) // n/2^top in [1, 2), with 63 bits of fraction
	var fraction uint64
	for range logBits {
		hi, lo := bits.Mul64(m, m) // the square, in [1, 4), with 62 bits of fraction in hi
		fraction <<= 1
		if hi>>63 == 1 {
			fraction, m = fraction|1, hi
		} else {
			m = hi<<1 | lo>>63
		}
	}
	return top<<logBits | fraction
}

// log2Factorial returns log2(n!)·2^16, by Stirling's series.
func log2Factorial(n uint64) uint64 {
	if n < 2 {
		return 0
	}
	hi, lo := bits.Mul64(2*n+1, log2(n))
	// Stirling's series begins with (n + 1/2)·log2(n). Half of 2n+1 is taken by shifting one bit further.
	product := hi<<(64-logBits+outBits-1) | lo>>(logBits-outBits+1)
	hi, lo = bits.Mul64(n, logE)
	return product - (hi<<(64-logBits+outBits) | lo>>(logBits-outBits)) + halfLog2P + logE12/n
}

// log2Choose returns log2 C(n, k)·2^16: the entropy of a choice of k from n keys, k at most n.
func log2Choose(n, k uint64) uint64 {
	if k == 0 || k == n {
		return 0
	}
	all, both := log2Factorial(n), log2Factorial(k)+log2Factorial(n-k)
	return max(all, both) - both
}
