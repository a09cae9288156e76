// Package paper contains code that only reproduces papers: their theory, their search and sizing algorithms as
// published, and the hash functions that they use. Experiments of the lab and tests of the families compare with it; no
// filter is built with it.
//
//	theory.go       theory of partitioned hashing (Hao, Kodialam and Lakshman, 2007, sections 2 to 4), and of compressed
//	                Bloom filters (Mitzenmacher, 2002)
//	forecast.go     the rate of its search, the choice of g and k, bounds, and the effect of groups and tries
//	greedy.go       its search (Fig. 9)
//	hashes.go       its practical hash functions (section 5.2), the hashing of Plank's BF-tester and the universal
//	                hashing of Saha's slides
//	rankindexed.go  sizing of rank-indexed hashing (Hua, Zhao, Lin and Xu, 2008, sections IV and V)
//	bitmap.go       a Bloom filter that takes positions, for all of these hashings
package paper

import "math"

// The functions of this file are the predictions of Hao, Kodialam and Lakshman (2007, sections 2 to 4; its equations
// have no numbers). They describe its model, in which whole sets of random functions are tried, and not the search by
// shifts of internal/family/partitioned. m is the bits of the bitmap alone, without side information; t is the number
// of sets of k functions that a group tries. theory_test.go compares each function with simulation. Parameters outside
// their domain give NaN.

// OnesTail returns the bound of Theorem 1 on the probability that the number of ones Y of a filter with n keys and k
// random functions differs from E[Y] = m(1 - e^(-kn/m)) by more than lambda bits:
//
//	Pr[|Y - E[Y]| > lambda] <= 2·e^(-lambda² / 2kn)
//
// The bound is valid but loose. At n=1000, m=8000, k=6, Y has a standard deviation of 25.6, and the bound is 1 up to
// lambda = 91; the probability of Y <= 4089 is 1.4e-7 and its bound 0.47. Changing one throw changes Y by at most 1, so
// that McDiarmid's inequality (1989) gives 2·e^(-2·lambda²/kn). The domain is n >= 0, k >= 1.
func OnesTail(n, k int, lambda float64) float64 {
	if n < 0 || k < 1 || math.IsNaN(lambda) {
		return math.NaN()
	}
	if lambda <= 0 {
		return 1
	}
	return min(1, 2*math.Exp(-lambda/2/float64(n)*lambda/float64(k)))
}

// OnesFloor returns a number of ones. By Theorem 1, the best of the given number of random sets of k functions for the
// whole filter has fewer ones with probability at most miss (Figs. 1 and 2). OnesTail and the union bound over the sets
// give
//
//	E[Y] - sqrt(2kn·ln(2·sets/miss))
//
// or 0 if that is negative. For n=1000, m=8000, k=6, 10^7 sets and miss = 1/2 it is 3763; the paper found 4089, and
// m·GroupFill(n, m, k, 1, sets), the expected best, is 4087 (4085.3 by the exact law). The domain is n >= 0, m, k, sets
// >= 1 and 0 < miss <= 1.
func OnesFloor(n, m, k, sets int, miss float64) float64 {
	if n < 0 || m < 1 || k < 1 || sets < 1 || !(miss > 0 && miss <= 1) {
		return math.NaN()
	}
	throws := float64(k) * float64(n)
	mean := -float64(m) * math.Expm1(-throws/float64(m))
	return max(0, mean-math.Sqrt(2*throws*(math.Log(2*float64(sets))-math.Log(miss))))
}

// BinsFill returns the expected share f_n of m bins that are occupied after n balls if each ball chooses t random bins
// and goes into an occupied one of them if there is any (section 3):
//
//	f_0 = 0,  f_j = f_{j-1} + (1 - f_{j-1})^t / m
//
// It replaces E[(1-Y/m)^t] by (1-E[Y]/m)^t, which makes it too small: at n=3000, m=8000 by 8e-7 for t=2, 1e-5 for t=10
// and 2e-5 for t=50. The domain is n >= 0, m >= 1, t >= 1. It takes at most about 40,000 steps for any n; see climb.
func BinsFill(n, m, t int) float64 {
	if n < 0 || m < 1 || t < 1 {
		return math.NaN()
	}
	return climb(n, func(f float64) float64 {
		return math.Exp(float64(t)*math.Log1p(-f)) / float64(m)
	})
}

// BinsFillLinear returns the linear approximation of BinsFill (section 3), for n·t much smaller than m:
//
//	f_n = (1 - (1 - t/m)^n) / t
//
// It is exact for t = 1 and too small for all other t. Fig. 3 shows this approximation. The paper's 0.26 for n=3000,
// m=8000, t=2 is 0.2638 by the approximation, and 0.2727 by the recurrence and by simulation. For t=10 the
// approximation gives 0.098, the others give 0.151. The domain is n >= 0, m >= 1 and 1 <= t <= m.
func BinsFillLinear(n, m, t int) float64 {
	if n < 0 || m < 1 || t < 1 || t > m {
		return math.NaN()
	}
	if n == 0 {
		return 0
	}
	return -math.Expm1(float64(n)*math.Log1p(-float64(t)/float64(m))) / float64(t)
}

// GroupFill returns the expected fill f_g, in [0, 1], of a bitmap of m bits after n keys in g groups if each group in
// turn tries t random sets of k functions and keeps the one that sets the fewest new bits (section 4):
//
//	f_0 = 0,  f_j = f_{j-1} + (1/m) Σ_{p>=0} Pr[Z > p]^t
//
// Z is the number of new bits of one try: the bits not set before that b·k throws hit, with b = n/g keys. If g does not
// divide n, n mod g groups have one key more. GroupFill(j·b, m, k, j, t) is f_j, the fill after j groups of b keys
// (Fig. 5).
//
// The paper treats the throws of a group as independent, so that Z is binomial, and prints f_1 = b/m. Both are inexact:
//
//   - The first group sets up to b·k bits, not b; the recurrence from f_0 = 0 gives f_1 = b·k/m. At b=50 and t=100
//     simulation has f_1 = 0.03600, b·k/m is 0.0375 and b/m is 0.00625. See GroupFillPublished.
//   - Throws of a group collide. Here Z has its true mean and variance (of the bits that b·k throws leave empty)
//     and the shape of a binomial. With t = 1 the result is 1 - (1-1/m)^(kn) for every g, and with g = 1 it describes
//     the best of t whole filters.
//
// At n=1000, m=8000, k=6, g of 1 to 1000 and t up to 100 it is within 1.5e-4 of simulation. The domain is n >= 0 and
// m, k, g, t >= 1. The number of steps is bounded as in BinsFill; 10^7 keys in groups of 12 take 0.1 s.
func GroupFill(n, m, k, g, t int) float64 {
	if n < 0 || m < 1 || k < 1 || g < 1 || t < 1 {
		return math.NaN()
	}
	if m == 1 {
		return float64(min(n, 1))
	}
	return climb(g, perGroup(n, m, k, g, t, fresh))
}

// GroupFillPublished returns f_g by the recurrence of the paper, but from f_0 = 0:
//
//	f_1 = b·k/m,  f_j = f_{j-1} + (1/m) Σ_{p=0}^{bk} (1 - Σ_{w<=p} β_jw)^t,  β_jw = C(bk,w) f_{j-1}^(bk-w) (1-f_{j-1})^w
//
// (The paper prints f_j in β_jw.) Neglecting collisions of the throws of a group makes f too large, by 0.18·b·k/m at 8
// bits per key and k=6; f_1 = b/m as printed subtracts more than that. At n=1000, m=8000, k=6, t=100:
//
//	g     simulation  GroupFill  GroupFillPublished  f_1 = b/m
//	5     0.5109      0.5108     0.5404              0.4774
//	20    0.4940      0.4941     0.5011              0.4871
//	100   0.4524      0.4525     0.4538              0.4513
//	500   0.3608      0.3608     0.3610              0.3606
//
// Domain and cost are as for GroupFill.
func GroupFillPublished(n, m, k, g, t int) float64 {
	if n < 0 || m < 1 || k < 1 || g < 1 || t < 1 {
		return math.NaN()
	}
	return climb(g, perGroup(n, m, k, g, t, freshIndependent))
}

// GroupFPR returns the rate p_a = f^k with f = GroupFill (Figs. 6 and 7). For t = 1 it is the same for every g (within
// 6e-6 at n=1000, m=8000, k=6 if g does not divide n); otherwise it falls with g and with t. The domain is as for
// GroupFill.
func GroupFPR(n, m, k, g, t int) float64 {
	if k < 1 {
		return math.NaN()
	}
	return math.Pow(GroupFill(n, m, k, g, t), float64(k))
}

// climb returns f after the given number of steps of f += rise(f) from 0, for a decreasing rise. The first exactSteps
// steps are single. After j steps, s = j/exactSteps steps become one with the rise in their middle, so that f changes
// by less than a thousandth of itself. The result is within 2e-8 of the result of single steps.
func climb(steps int, rise func(f float64) float64) float64 {
	f := 0.0
	for j := 0; j < steps; {
		s := min(max(1, j/exactSteps), steps-j)
		up := rise(f)
		if s > 1 {
			up = rise(min(1, f+float64(s-1)/2*up))
		}
		f = min(1, f+float64(s)*up)
		j += s
	}
	return f
}

// exactSteps is the number of single steps of climb. The figures of the paper need no more.
const exactSteps = 1024

// perGroup returns the share of bits that a group adds, averaged over groups of ⌊n/g⌋ and ⌈n/g⌉ keys.
func perGroup(n, m, k, g, t int, fewest func(m, f, throws, t float64) float64) func(f float64) float64 {
	more := float64(n%g) / float64(g)
	throws := float64(n/g) * float64(k)
	return func(f float64) float64 {
		up := (1 - more) * fewest(float64(m), f, throws, float64(t))
		if more > 0 {
			up += more * fewest(float64(m), f, throws+float64(k), float64(t))
		}
		return up / float64(m)
	}
}

// freshIndependent returns the mean of the fewest new bits in t tries if each throw hits a set bit with probability f.
func freshIndependent(_, f, throws, t float64) float64 {
	return throws - largest(throws, f, throws, t)
}

// fresh returns the mean of the fewest new bits among t tries. Each try makes the given number of throws into m >= 2
// bits with fill f.
//
// Let U be the number of empty bits that stay empty: E[U] = e·q1 and Var[U] = e·(q1-q2) + e²·(q2-q1²), with e = m(1-f),
// q1 = (1-1/m)^throws, q2 = (1-2/m)^throws. X = most - Z has the same variance. With most = throws, X is the number of
// throws that hit a bit which is set, by an earlier group or by the try itself; with most = e, if that is less, X is U.
// U is a sum of independent Bernoulli variables (Vatutin and Mikhailov, 1982), so that a binomial can have the mean and
// the variance of X. The gain of t tries over one is then within 3% of the exact law for m >= 1000 and t <= 100, 4% for
// t <= 10^4, 8% for t <= 10^7.
func fresh(m, f, throws, t float64) float64 {
	e := m * (1 - f)
	if throws == 0 || e <= 0 {
		return 0
	}
	l1 := throws * math.Log1p(-1/m)
	q1 := math.Exp(l1)
	variance := -e*q1*math.Expm1(throws*math.Log1p(-1/(m-1))) +
		e*e*q1*q1*math.Expm1(throws*math.Log1p(-1/((m-1)*(m-1))))
	most := throws
	if throws > e+1 {
		most = e
	}
	mean := most + e*math.Expm1(l1)
	if mean <= 0 {
		return most
	}
	p := min(1, max(1-variance/mean, mean/most)) // mean/most is its minimum, except for rounding
	return max(0, most-largest(mean/p, p, most, t))
}

// largest returns the mean of the largest of t independent binomial numbers of n trials with probability p, capped at
// top. n need not be an integer. It sums Σ_{x>=0} (1 - Pr[X<=x]^t) from above, computing each probability from the one
// before. Above a standard deviation of maxSpread it uses a smaller n and scales the excess over the mean.
func largest(n, p, top, t float64) float64 {
	if p <= 0 || p >= 1 || t == 1 {
		return n * max(0, min(1, p))
	}
	if spread := math.Sqrt(n * p * (1 - p)); spread > maxSpread {
		small := n * (maxSpread / spread) * (maxSpread / spread)
		return min(top, n*p+(largest(small, p, small, t)-small*p)*spread/maxSpread)
	}
	top = math.Ceil(min(top, n) - 1e-9)
	odds := p / (1 - p)
	mode := min(top, math.Floor((n+1)*p))
	// Weights on both sides of the mode, relative to it, until t times the weight is negligible.
	least := 1e-20 / t
	x, w, total := mode, 1.0, 1.0
	for range maxTerms {
		next := w * (n - x) / (x + 1) * odds
		if x >= top || next <= least {
			break
		}
		x, w, total = x+1, next, total+next
	}
	for y, v, i := mode, 1.0, 0; y > 0 && v > 1e-20 && i < maxTerms; i++ {
		v *= y / (n - y + 1) / odds
		y, total = y-1, total+v
	}
	sum, above := 0.0, w // above: the weight of numbers above x - 1
	for range 2 * maxTerms {
		if x <= 0 {
			return sum
		}
		term := -math.Expm1(t * math.Log1p(-min(1, above/total)))
		if term >= 1-1e-16 {
			break
		}
		sum += term
		w *= x / (n - x + 1) / odds
		x, above = x-1, above+w
	}
	return sum + x
}

// The approximation above maxSpread changes a fill by less than 1e-6. maxTerms is far more than any sum needs and
// prevents endless loops caused by rounding.
const (
	maxSpread = 128
	maxTerms  = 1 << 15
)

// The exact laws of the model that theory.go approximates. Their time grows with the square of the number of throws: 50
// ms for 6000.

// NewBits returns the law of the number of new bits that random throws set if ones of m bits are set before: p[w] is
// the probability of w new bits, w = 0 ... throws.
//
//go:norace
func NewBits(m, ones, throws int) (p []float64) {
	p = make([]float64, throws+1)
	p[0] = 1
	for i := range throws {
		for w := min(i+1, m-ones); w >= 0; w-- {
			p[w] *= float64(ones+w) / float64(m)
			if w > 0 {
				p[w] += p[w-1] * float64(m-ones-w+1) / float64(m)
			}
		}
	}
	return p
}

// Fewest returns the mean of the smallest of t >= 1 independent numbers with the law p over 0, 1, 2, ...
func Fewest(p []float64, t float64) (mean float64) {
	below := 0.0 // the probability of less than w
	for w := 1; w < len(p); w++ {
		below += p[w-1]
		mean += math.Exp(t * math.Log1p(-min(1, below)))
	}
	return mean
}

// maxCompressedK is the largest number of probes that CompressTo tries, the maximum of our filters.
const maxCompressedK = 64

// Entropy returns H2(p) = -p·log2 p - (1-p)·log2(1-p), in bits, or 0 for p <= 0 or p >= 1.
func Entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -(p*math.Log(p) + (1-p)*math.Log1p(-p)) / math.Ln2
}

// Compressed returns the rate of a large filter with k >= 1 probes and bits > 0 bits per key, and its size in bits a
// key after perfect compression. With the fill f = 1-e^(-k/bits) they are f^k and bits·H2(f) (M. Mitzenmacher,
// "Compressed Bloom filters", IEEE/ACM Transactions on Networking 10(5), 2002, section III).
func Compressed(bits float64, k int) (rate, size float64) {
	f := -math.Expm1(-float64(k) / bits)
	return math.Pow(f, float64(k)), bits * Entropy(f)
}

// CompressTo returns the bits per key and the number of probes k of the smallest filter that has the rate, in (0, 1),
// and compresses to at most size bits per key. ok is false if there is none. No filter compresses below log2(1/rate)
// bits per key; large filters with few probes come near it. From 1.44·log2(1/rate) on, no compression is needed. As in
// the paper, filters that are more than half full are not considered: they also compress, but need more probes than an
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
