package anneal

import "math"

// slope is about how much the binary logarithm of the rate falls with one more bit per key.
const slope = 0.85

// moreBits returns 1.5 times the estimated number of bits that a filter of that number of keys lacks if its rate is too
// high by a factor.
func moreBits(factor, keys float64) float64 { return 1.5 * keys * math.Log2(factor) / slope }

// LeastBits returns a number of bits per key in [least, most] whose rate is at most fpr; it is at most 1% above the
// smallest. If even most does not reach fpr, it returns +Inf and the rate at most. It needs few calls of rate, because
// the logarithm of the rate is almost a line in bits per key. rate returns more than 1 if the bits are too few for any
// filter; LeastBits returns its errors.
func LeastBits(fpr, least, most float64, rate func(per float64) (float64, error)) (per, nearest float64, err error) {
	want := -math.Log2(fpr)
	lo, hi := least, math.Inf(1) // the largest known to miss fpr, the smallest known to reach it
	per = min(most, max(least, want/slope))
	for range 40 {
		r, err := rate(per)
		if err != nil {
			return 0, 0, err
		}
		got := -math.Log2(max(r, 1e-300))
		if got >= want {
			hi = per
		} else {
			lo = per
		}
		switch {
		case got < want && per == most:
			return math.Inf(1), r, nil
		case got >= want && (per == least || hi-lo <= hi/100):
			return hi, r, nil
		case got < want && hi-lo <= hi/100 && !math.IsInf(hi, 1):
			return hi, r, nil
		}
		next := per + (want-got)/slope + math.Copysign(per/400, want-got) // a little too far, to have it between lo and hi
		if r > 1 || next <= lo || next >= hi {
			if next = (lo + hi) / 2; math.IsInf(hi, 1) {
				next = lo * 1.2
			}
		}
		per = min(most, max(least, next))
	}
	return hi, fpr, nil
}
