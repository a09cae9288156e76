package lab

import "math"

// maxCompressedK is as many probes as any filter of ours makes.
const maxCompressedK = 64

// Entropy returns H2(p) = -p·log2 p - (1-p)·log2(1-p), the bits that a coin of probability p, in [0, 1], tells.
func Entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -(p*math.Log(p) + (1-p)*math.Log1p(-p)) / math.Ln2
}

// Compressed returns the rate of a large filter of that many bits a key with k probes, f^k at the fill f = 1-e^(-k/bits), and the
// bits a key that a perfect compressor leaves of it, bits·H2(f) (M. Mitzenmacher, "Compressed Bloom filters", IEEE/ACM
// Transactions on Networking 10(5), 2002, section III). bits is above 0 and k at least 1.
func Compressed(bits float64, k int) (rate, size float64) {
	f := -math.Expm1(-float64(k) / bits)
	return math.Pow(f, float64(k)), bits * Entropy(f)
}

// CompressTo returns the fewest bits a key, and their k, of a filter whose rate is that one, in (0, 1), and which compresses to
// size bits a key or fewer. It returns ok = false if there is none: no filter compresses below log2(1/rate), which few probes in
// a very large one come near, and with one probe it is as far as it goes. At 1.44·log2(1/rate) nothing has to be
// compressed. Filters that are fuller than half compress as well, but with more probes than without: they are left out, as in the
// paper.
func CompressTo(rate, size float64) (bits float64, k int, ok bool) {
	bits = math.Inf(1)
	last := bits
	for try := 1; try <= maxCompressedK; try++ {
		f := math.Pow(rate, 1/float64(try))
		b := -float64(try) / math.Log1p(-f) // the bits at which f is the fill
		if b >= last {
			break // beyond the best k without compression
		}
		if last = b; b*Entropy(f) <= size {
			bits, k = b, try
		}
	}
	return bits, k, k > 0
}
