package hashes

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/paper"
	"github.com/bloomery/bloomery/filter"
)

// TestHashings requires that every hashing gives equal keys the same valid positions, and different keys different
// positions.
func TestHashings(t *testing.T) {
	const n, m, k = 200, 80_000, 6
	for _, h := range classicHashings(1) {
		if h.draw == nil || h.name == "random" {
			continue
		}
		r := rand.New(rand.NewPCG(1, 2))
		at := h.draw(r, sequentialKeys(r, n), m, k)
		positions := func(i int) (p [k]uint64) {
			for j := range p {
				if p[j] = at(i, j); p[j] >= m {
					t.Fatalf("%s: position %d", h.name, p[j])
				}
			}
			return p
		}
		seen := map[[k]uint64]int{}
		for i := range n {
			seen[positions(i)] = i
		}
		for i := range n {
			if seen[positions(i)] != i {
				t.Fatalf("%s: key %d has other positions, or the positions of another", h.name, i)
			}
		}
	}
}

// TestDouble requires equal distances between positions, and odd distances if odd is 1.
func TestDouble(t *testing.T) {
	const n, m = 100, 1000
	keys := randomKeys(rand.New(rand.NewPCG(1, 2)), n)
	even := 0
	for _, odd := range []uint64{0, 1} {
		at := double(filter.NewHasher(1), keys, m, odd)
		for i := range n {
			a, b, c := at(i, 0), at(i, 1), at(i, 2)
			if step := (b + m - a) % m; (c+m-b)%m != step || odd == 1 && step%2 == 0 {
				t.Fatalf("%d %d %d", a, b, c)
			} else if step%2 == 0 {
				even++
			}
		}
	}
	if even == 0 {
		t.Error("no step was even")
	}
}

// TestDistinctFunctions requires k distinct functions for each group, which depend only on the seed.
func TestDistinctFunctions(t *testing.T) {
	const groups, k, h = 50, 6, 8 // few functions, so that repetitions would be likely
	draw := func(seed uint64) [][]int { return distinctFunctions(rand.New(rand.NewPCG(seed, 1)), groups, k, h) }
	all := draw(1)
	for _, group := range all {
		seen := map[int]bool{}
		for _, j := range group {
			seen[j] = true
		}
		if len(group) != k || len(seen) != k {
			t.Errorf("%d", group)
		}
	}
	if !reflect.DeepEqual(all, draw(1)) || reflect.DeepEqual(all, draw(2)) {
		t.Error("the seed does not decide")
	}
}

// TestCRCAndRS requires that positions of a key are functions of the pool that its group chose, independent of the
// trial.
func TestCRCAndRS(t *testing.T) {
	const n, m, k, seed = 300, 80_000, 6, 7
	all := classicHashings(seed)
	h := all[slices.IndexFunc(all, func(h classicHashing) bool { return h.name == "CRC + RS" })]
	keys := sequentialKeys(rand.New(rand.NewPCG(1, 2)), n)
	one, two := h.draw(rand.New(rand.NewPCG(3, 4)), keys, m, k), h.draw(rand.New(rand.NewPCG(5, 6)), keys, m, k)
	chosen := distinctFunctions(rand.New(rand.NewPCG(seed, math.MaxUint64)), crcGroups, k, crcPool)
	_, bit := paper.CRCFunctions(keys, 1, crcPool, m)
	for i := range n {
		group := chosen[paper.RSHash(keys[i])%crcGroups]
		for j := range k {
			if got, want := one(i, j), bit(i, group[j]); got != want || two(i, j) != want {
				t.Fatalf("position %d of key %d: %d and %d, want %d", j, i, got, two(i, j), want)
			}
		}
	}
}
