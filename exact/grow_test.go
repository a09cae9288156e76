package exact

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// smallPartitions returns up to 2,000 partitions of up to 1,100 keys, of up to four densities.
func smallPartitions(r *rand.Rand) (partitions []tally) {
	var densities []float64
	for range 1 + r.IntN(4) {
		densities = append(densities, []float64{0, math.Exp(-9 * r.Float64()), .4, .97}[r.IntN(4)])
	}
	largest := 7 * r.Float64()
	for range growFrom + r.IntN(2000) {
		t := tally{keys: 1 + uint64(math.Exp(largest*r.Float64()))}
		d := densities[r.IntN(len(densities))]
		for range t.keys {
			if r.Float64() < d {
				t.members++
			}
		}
		partitions = append(partitions, t)
	}
	return partitions
}

// TestChooseSmall compares the choice for many small partitions with the best one or two codes of all.
func TestChooseSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for round := range 40 {
		partitions := smallPartitions(r)
		codes, _, err := choose(t.Context(), partitions, &stages{})
		if err != nil {
			t.Fatal(err)
		}
		groups := grouped(partitions)
		size := func(codes []code) uint64 {
			total, _ := missed(t.Context(), groups, len(partitions), codes, &stages{})
			return total
		}
		got, best := size(codes), uint64(math.MaxUint64)
		var with []code
		for i, a := range allCodes {
			for _, b := range allCodes[i:] {
				pair := slices.Compact([]code{min(a, b), max(a, b)})
				if s := size(pair); s < best {
					best, with = s, pair
				}
			}
		}
		if got > best+best/16 {
			t.Errorf("round %d: %d partitions take %d bits with %v, and %d with %v",
				round, len(partitions), got/costBit, codes, best/costBit, with)
		}
	}
}

// TestGrouped counts the partitions of each group.
func TestGrouped(t *testing.T) {
	got := grouped([]tally{{5, 1}, {3, 1}, {5, 1}, {5, 0}, {3, 1}, {3, 1}})
	if want := []group{{tally{3, 1}, 3}, {tally{5, 0}, 1}, {tally{5, 1}, 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := grouped(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestCandidates: without a level 1 it does not matter of which keys there are more.
func TestCandidates(t *testing.T) {
	codes := candidates([]group{{tally{3, 2}, 100}})
	if !slices.Contains(codes, 0) || slices.Contains(codes, 2) || !slices.Contains(codes, 3) {
		t.Errorf("%v", codes)
	}
}

// tiny yields n partitions of a key each, of which every hundredth is a member, but the first removed of these.
func tiny(n, removed int, members bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(partition, key []byte) bool) {
		for i := range n {
			is := i%100 == 0 && i >= 100*removed
			if (is || !members) && !yield(fmt.Append(nil, "partition ", i), []byte("key")) {
				return
			}
		}
	}
}

// TestTinyPartitions wants a set of many partitions to take no more than one without partitions, and its update too.
func TestTinyPartitions(t *testing.T) {
	const n = 100_000
	s, err := Build(t.Context(), tiny(n, 0, true), tiny(n, 0, false), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if i := s.Info(); i.BitsPerMember > 9 {
		t.Errorf("%.2f bits a member, %v", i.BitsPerMember, i.Classes)
	}
	const removed = tryPositions + 36
	s, err = Build(t.Context(), tiny(n, removed, true), tiny(n, removed, false), Config{Base: s})
	if err != nil {
		t.Fatal(err)
	}
	if u := s.Info().Changed; u.Removed != removed || float64(u.Bytes) > 1.2*u.Entropy/8+60 {
		t.Errorf("%+v", u)
	}
	i := 0
	for partition, key := range tiny(n, removed, false) {
		if s.in(partition, key) != (i%100 == 0 && i >= 100*removed) {
			t.Fatalf("%s: wrong", partition)
		}
		i++
	}
}
