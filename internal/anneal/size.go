package anneal

import "math"

// slope is about how much the binary logarithm of the rate falls with one more bit per key.
const slope = 0.85

// moreBits returns 1.5 times the estimated number of bits that a filter of that number of keys lacks if its rate is too
// high by a factor.
func moreBits(factor, keys float64) float64 { return 1.5 * keys * math.Log2(factor) / slope }

// Margin is the factor by which a forecast with k functions should be lower than a rate to keep, so that few builds
// miss it: one standard deviation of the luck of the keys, and the error of the tables, 0.2% of the share of set bits.
func Margin(luck float64, k int) float64 { return 1 + luck + 0.002*float64(k) }

// LeastBits returns the fewest bits per key in [least, most], in steps of 1/1024, whose rate is at most fpr. If even
// most does not reach fpr, it returns +Inf and the rate at most. The rate must fall as bits are added; it may be more
// than 1 if the bits are too few for any filter. LeastBits calls rate about eight times, because the logarithm of the
// rate is almost a line in bits per key.
func LeastBits(fpr, least, most float64, rate func(per float64) float64) (per, nearest float64) {
	want := -math.Log2(fpr)
	got := func(step float64) float64 { return -math.Log2(max(rate(step*sizeStep), 1e-300)) - want }
	lo, hi := math.Ceil(least/sizeStep), math.Floor(most/sizeStep) // in steps; lo misses fpr, hi reaches it
	over := got(hi)
	if over < 0 {
		return math.Inf(1), rate(most)
	}

	under := got(lo)
	if under >= 0 {
		return lo * sizeStep, rate(lo * sizeStep)
	}

	// The method of Illinois: the secant, with half the weight for an end that stays; and each third time the middle.
	side := 0
	for turn := 1; hi-lo > 1; turn++ {
		next := math.Round(hi - over*(hi-lo)/(over-under))
		if turn%3 == 0 {
			next = math.Round((lo + hi) / 2)
		}
		next = min(max(next, lo+1), hi-1)
		switch x := got(next); {
		case x >= 0:
			if hi, over = next, x; side > 0 {
				under /= 2
			}
			side = 1
		default:
			if lo, under = next, x; side < 0 {
				over /= 2
			}
			side = -1
		}
	}
	return hi * sizeStep, rate(hi * sizeStep)
}

// sizeStep is the resolution of sizes in bits per key. Machines whose logarithms differ in the last digit get the same
// size.
const sizeStep = 1. / 1024
