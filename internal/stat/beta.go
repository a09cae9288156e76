package stat

import "math"

// normalBeta is the value of both parameters above which the logit of a beta variable counts as normal: the error of
// the quantile is then below (z²+1)/normalBeta, where z is the quantile of the normal distribution.
const normalBeta = 1e12

// betaQuantile returns ln(p/(1-p)) of the number p with I_p(a, b) = tail, I being the regularised incomplete beta
// function. a and b are at least 1/2, tail is in (0, 1/2].
//
// The logit keeps the relative precision of both p and 1-p. The error of the logit is below 1e-13 where a or b is at
// most 300 (TestIntervalExact), and below 1e-10 otherwise, for a+b up to 10^12 (TestIntervalTail).
//
// In t = logit(p), ln I is concave and rising, because the density of a logit of a beta variable is log-concave. So
// Newton's method on ln I converges from every start: after one step it is left of the solution and then approaches
// it without overshooting. The derivative is I' = betaDensity, without further factors.
func betaQuantile(a, b, tail float64) float64 {
	z := math.Sqrt2 * math.Erfinv(2*tail-1) // below 0: the start is the quantile of a normal distribution
	t := math.Log(a/b) + z*math.Sqrt(1/a+1/b)
	if min(a, b) > normalBeta {
		return t
	}

	for range 100 {
		lnI, slope := lnBetaTail(a, b, t)
		step := (math.Log(tail) - lnI) / slope
		t += step
		if math.Abs(step) <= 1e-15*(1+math.Abs(t)) {
			break
		}
	}
	return t
}

// lnBetaTail returns ln I_p(a, b) for p of logit t, and its derivative with respect to t.
func lnBetaTail(a, b, t float64) (lnI, slope float64) {
	p, q := 1/(1+math.Exp(-t)), 1/(1+math.Exp(t))
	lnD := lnBetaDensity(a, b, p, q)
	if p <= (a+1)/(a+b+2) {
		f := betaFraction(a, b, p, q)
		return lnD + math.Log(f), 1 / f
	}
	d := math.Exp(lnD)
	below := 1 - d*betaFraction(b, a, q, p)
	return math.Log(below), d / below
}

// lnBetaDensity returns the logarithm of p^a·q^b/B(a, b), q being 1-p: the density of the logit of a beta variable. It
// is the term a of a binomial distribution of a+b trials, times ab/(a+b), and is computed by Loader's method.
func lnBetaDensity(a, b, p, q float64) float64 {
	n := a + b
	return stirlingError(n) - stirlingError(a) - stirlingError(b) - deviance(a, n*p) - deviance(b, n*q) +
		math.Log(a/n*b/(2*math.Pi))/2
}

// betaFraction returns I_p(a, b)·B(a, b)/(p^a·q^b) for p <= (a+1)/(a+b+2) and q = 1-p, by the continued fraction of
// Didonato and Morris ("Algorithm 708", ACM TOMS 18, 1992, equation 9), which is the even part of the fraction in the
// Digital Library of Mathematical Functions, 8.17.22. It is evaluated forwards, as by Lentz (Applied Optics 15, 1976).
//
// Close to the mean it takes about √min(a, b) terms. Two standard deviations below, where intervals end, it takes at
// most a few hundred for any a and b.
func betaFraction(a, b, p, q float64) float64 {
	below := a - (a+b)*p // the distance from the mean, without loss of digits where p or q is small
	if a > b {
		below = (a+b)*q - b
	}

	f := a / (a + 1) * (below + 1) // the denominator of the fraction; c and d as in Lentz
	c, d := f, 0.0
	for n := 1.0; n < 1e8; n++ {
		odd := a + 2*n - 1
		alpha := (a + n - 1) / odd * ((a + b + n - 1) / odd) * n * (b - n) * p * p
		beta := n + n*(b-n)*p/odd + (a+n)/(odd+2)*(below+1+n*(1+q))
		d = 1 / (beta + alpha*d)
		c = beta + alpha/c
		f *= c * d
		if !(math.Abs(c*d-1) >= 1e-15) {
			break
		}
	}
	return 1 / f
}
