package twochoice

import (
	"math"

	"github.com/bloomery/bloomery/internal/bitvec"
)

// FPR returns the false positive probability 1 - (1-f^k)^c of a filter with fill f in [0, 1], k functions a group and c
// groups whose positions are independent (section 3).
func FPR(f float64, k, c int) float64 {
	return -math.Expm1(float64(c) * math.Log1p(-math.Pow(f, float64(k))))
}

// FPRDouble returns the false positive probability for double hashing with odd steps in a filter of m bits, m even, and
// n keys:
//
//	1 - (1-f^k)^c · exp(-c·n·4/m²·(1 + 2·Σ_{s=1}^{k-1} f^s))
//
// The exponential is what a footnote of the paper leaves to a reference. A group of an absent key may have the
// positions of the group that covers a present key, forwards or backwards, shifted by s places; then only the s
// positions beyond its end have to be set by chance. Groups that share every second or third position add less; they
// are left out. TestDouble measures the rate.
func FPRDouble(f float64, k, c int, n, m float64) float64 {
	overlaps := 1.0
	for s := 1; s < k; s++ {
		overlaps += 2 * math.Pow(f, float64(s))
	}
	return -math.Expm1(float64(c)*math.Log1p(-math.Pow(f, float64(k))) - float64(c)*n*4/m/m*overlaps)
}

// fillSteps is the number of steps of Fill. Its error is below 1e-8 at 8 bits a key and more, and 3e-7 at 2 bits a key
// with k = 20 and c = 16.
const fillSteps = 400

// Fill returns the expected share z(1) of set bits after online greedy insertion of n keys into perKey·n = m bits:
//
//	dz/dt = E[min(B_1 ... B_c)] / (m/n),  z(0) = 0,  B_i independent Binomial(k, 1-z)     (equation 3.2)
//
// It is the limit for large m: it leaves out positions of a group that coincide, of order k/m. For c = 1 it is
// 1 - e^(-kn/m). It returns NaN if perKey <= 0, k < 1 or c < 1.
func Fill(perKey float64, k, c int) float64 {
	if !(perKey > 0) || k < 1 || c < 1 {
		return math.NaN()
	}
	rise := func(z float64) float64 { return fewest(z, k, c) / perKey }
	z, h := 0.0, 1.0/fillSteps
	for t := 0.0; t < 1-h/2; t += h {
		a := rise(z)
		b := rise(z + h/2*a)
		c := rise(z + h/2*b)
		d := rise(z + h*c)
		z = min(1, z+h/6*(a+2*b+2*c+d))
	}
	return z
}

// fewest returns E[min(B_1 ... B_c)] = Σ_{p=0}^{k-1} Pr[B > p]^c for B ~ Binomial(k, 1-z).
func fewest(z float64, k, c int) (sum float64) {
	if z >= 1 {
		return 0
	}
	if z <= 0 {
		return float64(k)
	}
	// Summed from p = k-1 down, which keeps the digits of small tails.
	term, above := math.Pow(1-z, float64(k)), 0.0 // Pr[B = p+1], and Pr[B > p+1]
	for p := k - 1; p >= 0; p-- {
		above += term
		sum += math.Pow(min(1, above), float64(c))
		term *= float64(p+1) / float64(k-p) * z / (1 - z)
	}
	return sum
}

// BestK returns the number of functions per group, 1 to MaxK, with the lowest rate after online insertion with m/n =
// perKey bits a key and c groups. A search does best with a few more.
func BestK(perKey float64, c int) (k int) {
	best := math.Inf(1)
	for try := 1; try <= MaxK; try++ {
		p := FPR(Fill(perKey, try, c), try, c)
		if p >= best {
			break
		}
		k, best = try, p
	}
	return max(k, 1)
}

// rate returns the rate of one shard with n keys and fill f.
func (g geometry) rate(f, n float64) float64 {
	if g.hashing == Double {
		return FPRDouble(f, g.k, g.choices, n, float64(g.bits))
	}
	return FPR(f, g.k, g.choices)
}

// prior returns p_b, the rate before a search: that of n keys added online.
func (g geometry) prior(n uint64) float64 {
	perShard := float64(n) / float64(g.shards)
	return g.rate(Fill(float64(g.bits)/perShard, g.k, g.choices), perShard)
}

// census returns the number of set bits and p_a, the mean of the rates of the shards.
func (f *Filter) census() (ones uint64, rate float64) {
	for s := range f.shards {
		n := f.count(s*f.bits, (s+1)*f.bits)
		ones += n
		rate += f.rate(float64(n)/float64(f.bits), float64(f.keys)/float64(f.shards))
	}
	return ones, rate / float64(f.shards)
}

// count returns the number of set bits in [from, to).
func (f *Filter) count(from, to uint64) (n uint64) {
	for ; from < to && from%64 != 0; from++ {
		n += bitvec.Bit(f.words, from) & 1
	}
	if whole := from + (to-from)/64*64; whole > from {
		n += bitvec.OnesCount(f.words[from/64 : whole/64])
		from = whole
	}
	for ; from < to; from++ {
		n += bitvec.Bit(f.words, from) & 1
	}
	return n
}
