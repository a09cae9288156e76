package anneal

import "math"

// slope is how many bits of the rate a bit a key gains, about.
const slope = 0.85

// MoreBits returns how many bits more so many keys need about, with half as much again to be sure, if the rate is too high
// by a factor.
func MoreBits(factor, keys float64) float64 { return 1.5 * keys * math.Log2(factor) / slope }

// LeastBits returns a number of bits a key in [least, most], at most a hundredth above the fewest, whose rate is not above
// fpr. If most does not reach that, it returns +Inf and the rate that most has. The logarithm of the rate is almost a line
// in bits a key, so a few steps along its slope find the place. rate returns more than 1 where bits are too few for
// anything.
func LeastBits(fpr, least, most float64, rate func(per float64) (float64, error)) (per, nearest float64, err error) {
	want := -math.Log2(fpr)
	lo, hi := least, math.Inf(1) // does not keep the rate; does
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
		next := per + (want-got)/slope + math.Copysign(per/400, want-got) // a little past it, to have it between lo and hi
		if r > 1 || next <= lo || next >= hi {
			if next = (lo + hi) / 2; math.IsInf(hi, 1) {
				next = lo * 1.2
			}
		}
		per = min(most, max(least, next))
	}
	return hi, fpr, nil
}
