package filter

import (
	"fmt"
	"math"
)

// Limits of a false-positive rate.
const (
	// rateSlack is the factor by which a rate may exceed another without being counted as higher. With 2% more keys than
	// planned, a Bloom filter with a rate of 1% exceeds it by 10%.
	rateSlack = 1.1
	// UselessFPR is the rate above which a filter without a chosen rate counts as useless.
	UselessFPR = 0.5
	// spread bounds the natural logarithm of posterior/prior rate, times sqrt(keys/log2(1/rate)). One standard deviation
	// is 0.46 in a Bloom filter, since the number of set bits varies. It is more in a blocked one, whose rate depends on
	// its fullest blocks: the largest value seen was 8.6.
	spread = 12
)

// Exceeds reports whether the filter's false-positive rate is above a rate that was meant for it, by more than a tenth.
//
// The natural spread of a filter does not count: if few keys set more bits than usual, FPRPosterior can be a multiple
// of the rate although the size is right. Then FPRPrior is not above the rate. So both must be above it, unless the
// posterior is far outside the spread for this number of keys. In families with a search the posterior decides alone.
func (i Info) Exceeds(rate float64) bool {
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

// Exceeded reports whether the false-positive rate has left the chosen one: Exceeds(FPRChosen). Without a chosen rate
// it reports whether the rate is above UselessFPR, which is no fault of a filter of ValuesOnly.
func (i Info) Exceeded() bool {
	if i.FPRChosen == 0 && i.ValuesOnly() {
		return false
	}
	if i.FPRChosen == 0 {
		return i.FPRPosterior > UselessFPR
	}
	return i.Exceeds(i.FPRChosen)
}

// CheckFPR returns a *RateError if the filter's false-positive rate Exceeds most, and nil if most is 0.
func (i Info) CheckFPR(most float64) error {
	if most == 0 || !i.Exceeds(most) {
		return nil
	}
	return &RateError{FPR: i.FPRPosterior, Most: most, Keys: i.Keys}
}

// RateError means that a filter's false-positive rate is above the highest allowed one. It wraps ErrRate.
type RateError struct {
	FPR  float64 // of the filter: Info.FPRPosterior
	Most float64 // the highest allowed rate
	Keys uint64  // in the filter
}

func (e *RateError) Error() string {
	return fmt.Sprintf("with %d keys the false-positive rate is %.3g, above %.3g", e.Keys, e.FPR, e.Most)
}

func (e *RateError) Unwrap() error { return ErrRate }
