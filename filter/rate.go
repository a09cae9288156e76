package filter

import "math"

// UselessFPR is the rate above which a filter without a chosen rate counts as useless.
const UselessFPR = 0.5

// Limits of a false-positive rate.
const (
	// rateSlack is the factor by which a rate may exceed another without being counted as higher. With 2% more keys than
	// planned, a Bloom filter with a rate of 1% exceeds it by 10%.
	rateSlack = 1.1
	// spread bounds the natural logarithm of posterior/prior rate, times sqrt(keys/log2(1/rate)). One standard deviation
	// is 0.46 in a Bloom filter, since the number of set bits varies. It is more in a blocked one, whose rate depends on
	// its fullest blocks: the largest value seen was 8.6.
	spread = 12
)

// Exceeded reports whether the filter's false-positive rate is above FPRChosen by more than a tenth. Without a chosen
// rate it reports whether the rate is above UselessFPR, which is no fault of a filter of ValuesOnly.
//
// The natural spread of a filter does not count: if few keys set more bits than usual, FPRPosterior can be a multiple
// of the rate although the size is right. Then FPRPrior is not above the rate. So both must be above it, unless the
// posterior is far outside the spread for this number of keys. In families with a search the posterior decides alone.
//
// To ask about another rate than the chosen one, set FPRChosen first.
func (i Info) Exceeded() bool {
	rate := i.FPRChosen
	if rate == 0 {
		return i.FPRPosterior > UselessFPR && !i.ValuesOnly()
	}
	high := rate * rateSlack
	switch {
	case i.FPRPosterior <= high:
		return false
	case i.FPRPrior > high || i.FillSearched > 0:
		return true
	}
	natural := spread * math.Sqrt(math.Log2(1/rate)/float64(max(i.Keys, 1)))
	return math.Log(i.FPRPosterior/rate) > natural
}
