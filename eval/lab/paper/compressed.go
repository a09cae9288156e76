package paper

import "math"

// maxCompressedK is the largest number of probes that CompressTo tries, the most that a filter of ours makes.
const maxCompressedK = 64

// Entropy returns H2(p) = -p·log2 p - (1-p)·log2(1-p), in bits, and 0 for p <= 0 or p >= 1.
func Entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -(p*math.Log(p) + (1-p)*math.Log1p(-p)) / math.Ln2
}

// Compressed returns the rate of a large filter with k >= 1 probes and bits > 0 bits a key, and its size in bits a key
// after perfect compression. With the fill f = 1-e^(-k/bits) they are f^k and bits·H2(f) (M. Mitzenmacher, "Compressed
// Bloom filters", IEEE/ACM Transactions on Networking 10(5), 2002, section III).
func Compressed(bits float64, k int) (rate, size float64) {
	f := -math.Expm1(-float64(k) / bits)
	return math.Pow(f, float64(k)), bits * Entropy(f)
}

// CompressTo returns the bits a key and the number of probes k of the smallest filter that has the rate, in (0, 1), and
// compresses to at most size bits a key. ok is false if there is none. No filter compresses below log2(1/rate) bits a
// key; large filters with few probes come near it. From 1.44·log2(1/rate) on, no compression is needed. As in the
// paper, filters that are more than half full are not considered: they compress, too, but need more probes than an
// uncompressed filter.
func CompressTo(rate, size float64) (bits float64, k int, ok bool) {
	bits = math.Inf(1)
	last := bits
	for try := 1; try <= maxCompressedK; try++ {
		f := math.Pow(rate, 1/float64(try))
		b := -float64(try) / math.Log1p(-f) // the bits at which f is the fill
		if b >= last {
			break // past the best k without compression
		}
		if last = b; b*Entropy(f) <= size {
			bits, k = b, try
		}
	}
	return bits, k, k > 0
}
