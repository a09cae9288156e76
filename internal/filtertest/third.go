package filtertest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// thirdSeed is the seed of all tests of a run.
var thirdSeed = rand.Uint64()

// Third returns a function that reports whether a test of a large grid runs its next case. Of each three cases in a row
// one runs, so that a run covers all parts of the grid and the runs together all cases. All cases run if all is set,
// which is the -long flag of the test, or with the environment CI_FULL=1.
//
// The cases are picked by a seed, which is logged. With BLOOMERY_TEST_SEED=<seed> the same cases run again. The result
// of a case must not depend on the cases before it.
func Third(t testing.TB, all bool) (runs func() bool) {
	t.Helper()
	if all || os.Getenv("CI_FULL") != "" {
		return func() bool { return true }
	}
	seed := thirdSeed
	if text := os.Getenv("BLOOMERY_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("BLOOMERY_TEST_SEED: %v", err)
		}
	}
	t.Logf("a third of the cases: repeat them with BLOOMERY_TEST_SEED=%d, run all with CI_FULL=1", seed)
	r := rand.New(rand.NewPCG(seed, 0x7468697264))
	place, picked := 0, 0
	return func() bool {
		if place%3 == 0 {
			picked = r.IntN(3)
		}
		place++
		return (place-1)%3 == picked
	}
}
