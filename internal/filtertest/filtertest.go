// Package filtertest provides helpers for the tests of several packages: random hashes, keys of all kinds, the examples
// of docs/format, and a choice of the cases of large grids. Package families tests all families with one conformance
// suite.
package filtertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
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

// thirdSeed is the seed of Third for all tests of a run.
var thirdSeed = rand.Uint64()

// Full reports whether tests run all their cases: whether the environment variable CI_FULL is set.
func Full() bool { return os.Getenv("CI_FULL") != "" }

// Third returns a function that reports whether a test of a large grid runs its next case. One of every three
// consecutive cases runs, so that a run covers all parts of the grid and several runs cover all cases. All cases run if
// all is true, which is the -long flag of the test, or if CI_FULL is set.
//
// A seed, which is logged, determines the cases. BLOOMERY_TEST_SEED=<seed> runs the same cases again. The result of a
// case must not depend on the cases before it.
func Third(t testing.TB, all bool) (runs func() bool) {
	t.Helper()
	if all || Full() {
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

// The examples on the pages of docs/format show a filter of the 40 keys key-0 to key-39, hashed by XXH3 with seed 42.
// The tests of the families recompute them.

// DocumentedKeys returns the hashes of the keys of the examples.
func DocumentedKeys(h filter.Hasher) (hs []filter.Hash) {
	for i := range 40 {
		hs = append(hs, h.SumString(fmt.Sprintf("key-%d", i)))
	}
	return hs
}

// DocumentedWords returns words as the pages print them: four on a line, after the number of the first of them.
func DocumentedWords(words []uint64) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i%4 > 0:
			b.WriteByte(' ')
		case i > 0:
			b.WriteByte('\n')
		}
		if i%4 == 0 {
			fmt.Fprintf(&b, "%3d  ", i)
		}
		fmt.Fprintf(&b, "%016x", w)
	}
	return b.String() + "\n"
}

// DocumentedList returns numbers as the pages print them: 17, 93, 4.
func DocumentedList(numbers []uint64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

// Documented fails the test unless a page of docs/format contains each of the texts. Tests of the packages below
// internal/family call it.
func Documented(t *testing.T, page string, texts ...string) {
	t.Helper()
	content, err := os.ReadFile("../../../docs/format/" + page)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(content), text) {
			t.Errorf("docs/format/%s lacks:\n%s", page, text)
		}
	}
}
