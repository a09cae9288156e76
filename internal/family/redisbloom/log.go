package redisbloom

import "math"

// The header of a link contains its bits per key, computed by a logarithm, or its rate, computed by an exponential.
// math.Log and math.Exp differ in the last bit between processors, so the functions here compute both by operations
// whose results are the same everywhere. All products are converted to float64 before they are added, which prevents
// the compiler from fusing the two operations. Only the numbers of new links are computed: links from a file keep the
// numbers of their header.

// double is the number hi + lo, where hi is the sum rounded to a float64. Operations have a relative error of about
// 2^-100.
type double struct{ hi, lo float64 }

// ln2double is ln 2, where the constant ln2 has the digits of RedisBloom's source.
var ln2double = double{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}

// exactSum returns a + b exactly.
func exactSum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func (a double) add(b double) double {
	high, low := exactSum(a.hi, b.hi), exactSum(a.lo, b.lo)
	high = exactSum(high.hi, high.lo+low.hi)
	return exactSum(high.hi, high.lo+low.lo)
}

func (a double) mul(b double) double {
	p := float64(a.hi * b.hi)
	return exactSum(p, math.FMA(a.hi, b.lo, math.FMA(a.lo, b.hi, math.FMA(a.hi, b.hi, -p))))
}

func (a double) div(b double) double {
	q := a.hi / b.hi
	a = a.add(double{-q, 0}.mul(b))
	r := a.hi / b.hi
	a = a.add(double{-r, 0}.mul(b))
	return exactSum(q, r).add(double{a.hi / b.hi, 0})
}

// log returns the natural logarithm of a positive finite x, correctly rounded unless it is within about 2^-95 of its
// size of the middle between two float64s. RedisBloom calls log of the C library. For 5 million rates of links, glibc
// 2.36 returns a different float64 for 6 in 100,000, and math.Log on amd64 for 2 in 100: with math.Log, one chain in
// ten would differ from the chain of Redis in the bits per key of a link.
func log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}

	// ln m = 2·atanh(s) = 2s·(1 + s²/3 + s⁴/5 + ...), s = (m-1)/(m+1), |s| < 0.1716
	s := double{m - 1, 0}.div(exactSum(m, 1))
	square := s.mul(s)
	series := double{}
	for i := 41; i >= 3; i -= 2 {
		series = series.add(double{1, 0}.div(double{float64(i), 0})).mul(square)
	}

	series = series.add(double{1, 0}).mul(s)
	return ln2double.mul(double{float64(e), 0}).add(double{2 * series.hi, 2 * series.lo}).hi
}

// exp returns e to the x, for x from -700 to 700, correctly rounded unless it is within about 2^-95 of its size of the
// middle between two float64s. On amd64 the result of math.Exp depends on whether the processor has fused
// multiplication.
func exp(x float64) float64 {
	n := math.Round(x / math.Ln2)
	r := double{x, 0}.add(ln2double.mul(double{-n, 0})) // between -0.35 and 0.35
	series := double{1, 0}
	for i := 28; i >= 1; i-- { // 1 + r/1(1 + r/2(1 + r/3(...)))
		series = double{1, 0}.add(series.mul(r).div(double{float64(i), 0}))
	}
	return math.Ldexp(series.hi, int(n))
}
