package hashes

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// compare and ordered are simple implementations of the order and of gathering.
func compare(x, y filter.Hash) int {
	return cmp.Or(cmp.Compare(x.Hi, y.Hi), cmp.Compare(x.Lo, y.Lo))
}

func ordered(hs []filter.Hash) []filter.Hash {
	hs = slices.Clone(hs)
	slices.SortFunc(hs, compare)
	return slices.Compact(hs)
}

// inputs lists random hashes and hashes that an adversary may choose.
var inputs = []struct {
	name string
	make func(rnd *rand.Rand, i, n int) filter.Hash
}{
	{"random", func(rnd *rand.Rand, i, n int) filter.Hash { return filter.Hash{Hi: rnd.Uint64(), Lo: rnd.Uint64()} }},
	{"sorted", func(rnd *rand.Rand, i, n int) filter.Hash { return filter.Hash{Hi: uint64(i) << 40, Lo: 1} }},
	{"reverse", func(rnd *rand.Rand, i, n int) filter.Hash { return filter.Hash{Hi: uint64(n - i), Lo: uint64(i)} }},
	{"equal", func(rnd *rand.Rand, i, n int) filter.Hash { return filter.Hash{Hi: 1 << 63, Lo: 7} }},
	{"zero", func(rnd *rand.Rand, i, n int) filter.Hash { return filter.Hash{} }},
	{"equal hi", func(rnd *rand.Rand, i, n int) filter.Hash { return filter.Hash{Hi: 5, Lo: rnd.Uint64()} }},
	{"ties", func(rnd *rand.Rand, i, n int) filter.Hash {
		return filter.Hash{Hi: rnd.Uint64N(100) << 57, Lo: rnd.Uint64N(100)}
	}},
	{"each thrice", func(rnd *rand.Rand, i, n int) filter.Hash {
		x := rand.NewPCG(uint64(i%(n/3+1)), 0)
		return filter.Hash{Hi: x.Uint64(), Lo: x.Uint64()}
	}},
	{"one bit", func(rnd *rand.Rand, i, n int) filter.Hash { // every step distinguishes few hashes
		if b := rnd.IntN(128); b >= 64 {
			return filter.Hash{Hi: 1 << (b - 64), Lo: uint64(i)}
		} else {
			return filter.Hash{Lo: 1<<b | uint64(i)}
		}
	}},
	{"one apart", func(rnd *rand.Rand, i, n int) filter.Hash { // the first step leaves one bucket with all but one
		if i == n/2 {
			return filter.Hash{Hi: 1 << 63}
		}
		return filter.Hash{Hi: rnd.Uint64() >> 20}
	}},
}

func input(seed uint64, make func(rnd *rand.Rand, i, n int) filter.Hash, n int) []filter.Hash {
	rnd := rand.New(rand.NewPCG(seed, 0))
	var hs []filter.Hash
	for i := range n {
		hs = append(hs, make(rnd, i, n))
	}
	return hs
}

func TestSort(t *testing.T) {
	sizes := []int{0, 1, 2, 3, smallSort, smallSort + 1, 1000, parallelSort, chunkLen + 1, 2*chunkLen + 20}
	if testing.Short() {
		sizes = sizes[:9]
	}
	for _, in := range inputs {
		for _, n := range sizes {
			hs := input(1, in.make, n)
			want := slices.Clone(hs)
			slices.SortFunc(want, compare)
			for _, workers := range []int{1, 3} {
				if workers > 1 != (n > chunkLen) && n != parallelSort { // to save time
					continue
				}
				var a array
				a.addHashes(hs, 0)
				equal, err := a.sortHashes(t.Context(), workers)
				check(t, err)
				wantArray(t, &a, want, "%s, %d hashes, %d workers", in.name, n, workers)
				if twice := len(ordered(hs)) < n; equal != twice {
					t.Errorf("%s, %d hashes, %d workers: some are equal: %t, want %t",
						in.name, n, workers, equal, twice)
				}
				a.compact()
				wantArray(t, &a, ordered(hs), "%s, %d hashes, compact", in.name, n)
			}
		}
	}
}

func wantArray(t *testing.T, a *array, want []filter.Hash, format string, args ...any) {
	t.Helper()
	if a.n != len(want) {
		t.Fatalf(format+": %d hashes, want %d", append(args, a.n, len(want))...)
	}
	for i, h := range want {
		if *a.at(i) != h {
			t.Fatalf(format+": hash %d is %v, want %v", append(args, i, *a.at(i), h)...)
		}
	}
}

// TestArrayPart takes parts of an array that end at and near the ends of its chunks.
func TestArrayPart(t *testing.T) {
	hs := input(2, inputs[0].make, 3*chunkLen+10)
	var a array
	a.addHashes(hs[:5], 3)
	a.addHashes(hs[5:], 3)
	cuts := []int{0, 1, chunkLen - 1, chunkLen, chunkLen + 1, 2 * chunkLen, 2*chunkLen + 1, 3 * chunkLen, len(hs)}
	for i, lo := range cuts {
		for _, hi := range cuts[i+1:] {
			got, copied := a.sliceOf(lo, hi)
			if !slices.Equal(got, hs[lo:hi]) || len(got) != cap(got) || copied != (&got[0] != a.at(lo)) {
				t.Errorf("part(%d, %d): %d hashes, copied: %v", lo, hi, len(got), copied)
			}
		}
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
