package bulk

import (
	"iter"
	"math/rand/v2"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// Rate is an observed false-positive rate: see bloomery.Rate.
type Rate struct {
	Trials, FalsePositives uint64
	Observed, Low, High    float64
}

// Interval returns the observed rate of that many false positives among trials absent keys, 0 without trials, and the
// exact 95% interval (Clopper and Pearson) of the true rate.
func Interval(falsePositives, trials uint64) (observed, low, high float64) {
	if trials > 0 {
		observed = float64(falsePositives) / float64(trials)
	}
	low, high = stat.Interval(falsePositives, trials, 0.95)
	return observed, low, high
}

// Holds reports whether an observation agrees with a promised rate. It is false if a filter with the promised rate
// would have this many or more false positives with a probability below 1 in 10,000.
func Holds(falsePositives, trials uint64, promised float64) bool {
	return stat.UpperTail(falsePositives, trials, promised) >= 1e-4
}

// HoldsChosen reports whether an observation agrees with the chosen rate of a filter with that Info, by the test of
// Holds. While the filter has not Exceeded its chosen rate, its FPRPosterior, which can be higher in a filter of few
// keys, is allowed too. HoldsChosen is true if no rate was chosen.
func HoldsChosen(falsePositives, trials uint64, i filter.Info) bool {
	allowed := i.FPRChosen
	if !i.Exceeded() {
		allowed = max(allowed, i.FPRPosterior)
	}
	return i.FPRChosen == 0 || Holds(falsePositives, trials, allowed)
}

// RandomKeys returns random names of 24 letters and digits without end. They have 120 random bits, so that none of them
// is in a list of keys. The memory of a name is reused for the next one.
func RandomKeys(seed uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		next := randomKeys(seed)
		for key := next(nil); yield(key); {
			key = next(key[:0])
		}
	}
}

// randomKeys returns a function that appends the next random name to a slice.
func randomKeys(seed uint64) func(to []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 0x616273656e74))
	const letters = "abcdefghijklmnopqrstuvwxyz012345"
	return func(to []byte) []byte {
		for range 2 {
			x := r.Uint64()
			for range 12 {
				to = append(to, letters[x&31])
				x >>= 5
			}
		}
		return to
	}
}
