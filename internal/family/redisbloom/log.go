package redisbloom

import "math"

// The links of a file have their bits per key, which is a logarithm, or their rate, which is an exponential. math.Log
// and math.Exp differ in the last bit between processors, so the functions here compute both by operations that are the
// same everywhere. All products are converted to float64 before they are added: that keeps the compiler from fusing the
// two operations.

// double is the number hi + lo, where hi is that sum rounded to a float64. Operations have a relative error of about
// 2^-100.
type double struct{ hi, lo float64 }

// ln2double is ln 2, where the constant ln2 has the digits of RedisBloom's source.
var ln2double = double{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}

// sum returns a + b exactly.
func sum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func (a double) add(b double) double {
	high, low := sum(a.hi, b.hi), sum(a.lo, b.lo)
	high = sum(high.hi, high.lo+low.hi)
	return sum(high.hi, high.lo+low.lo)
}

func (a double) mul(b double) double {
	p := float64(a.hi * b.hi)
	return sum(p, math.FMA(a.hi, b.lo, math.FMA(a.lo, b.hi, math.FMA(a.hi, b.hi, -p))))
}

func (a double) div(b double) double {
	q := a.hi / b.hi
	a = a.add(double{-q, 0}.mul(b))
	r := a.hi / b.hi
	a = a.add(double{-r, 0}.mul(b))
	return sum(q, r).add(double{a.hi / b.hi, 0})
}

// atanh approximates (ln((1+s)/(1-s)) - 2s) / s as a polynomial in s², for |s| < 0.1716: its coefficients, the lowest
// first. They are those of math.Log.
var atanh = [7]float64{
	6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
}

// log returns the natural logarithm of a positive finite x. Its error is below one place of the last digit. The order
// of operations is the one that math.Log has on amd64, where the first files were written, so that it gives their bits.
func log(x float64) float64 {
	const high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10 // ln 2; the product of high and e is exact
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	f, n := m-1, float64(e)
	s := f / (2 + f)
	square := float64(s * s)
	fourth := float64(square * square)
	odd, even := atanh[6], atanh[5]
	for i := 4; i >= 0; i -= 2 {
		odd = atanh[i] + float64(fourth*odd)
	}
	for i := 3; i >= 1; i -= 2 {
		even = atanh[i] + float64(fourth*even)
	}
	series := float64(square*odd) + float64(fourth*even)
	half := float64(float64(0.5*f) * f)
	return float64(n*high) - ((half - (float64(s*(half+series)) + float64(n*low))) - f)
}

// exp returns e to the x, for x from -700 to 700, correctly rounded except where it lies within about 2^-95 of its size
// of the middle between two float64s. On amd64 math.Exp gives other bits with fused multiplication than without.
func exp(x float64) float64 {
	n := math.Round(x / math.Ln2)
	r := double{x, 0}.add(ln2double.mul(double{-n, 0})) // between -0.35 and 0.35
	series := double{1, 0}
	for i := 28; i >= 1; i-- { // 1 + r/1(1 + r/2(1 + r/3(...)))
		series = double{1, 0}.add(series.mul(r).div(double{float64(i), 0}))
	}
	return math.Ldexp(series.hi, int(n))
}
