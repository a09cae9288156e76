// Package filtertest has helpers for the tests of several packages: random hashes, keys of all kinds, the examples of
// docs/format, and a choice of the cases of large grids. Package families tests all families with one conformance
// suite.
package filtertest

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Hashes returns n random hashes, determined by the seed. Different seeds give different hashes.
func Hashes(n int, seed uint64) []filter.Hash {
	r := rand.New(rand.NewPCG(seed, 0x626c6f6f6d657279))
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// Count returns the number of keys that f contains. It queries in batches, which are faster; the conformance suite
// checks that all families give the same answers as Has.
func Count(f family.Filter, hs []filter.Hash) (found uint64) {
	var room [1024]bool
	for part := range slices.Chunk(hs, len(room)) {
		answers := room[:len(part)]
		f.(family.Batcher).HasMany(answers, part)
		for _, yes := range answers {
			if yes {
				found++
			}
		}
	}
	return found
}

// thirdSeed is the seed of all tests of a run.
var thirdSeed = rand.Uint64()

// Third returns a function that reports whether a test of a large grid runs its next case. One of every three
// consecutive cases runs, so that a run covers all parts of the grid and several runs cover all cases. All cases run if
// all is set, which is the -long flag of the test, or with the environment CI_FULL=1.
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
