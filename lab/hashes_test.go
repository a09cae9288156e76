package lab

import (
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestHashings wants every hashing to give a key the same positions again, all of them in the filter, and another key others.
func TestHashings(t *testing.T) {
	const n, m, k = 200, 80_000, 6
	for _, h := range allHashings {
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
				t.Fatalf("%s: key %d has other positions, or those of another", h.name, i)
			}
		}
	}
}

// TestDouble wants the positions to be equally far apart, by an odd number where that is asked for.
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
