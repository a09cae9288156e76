package filtertest

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// modelKeys is the number of different keys that Model draws from: few, so that each is added and removed many times.
const modelKeys = 300

// modelChecks is the number of sequences of operations that Model draws. It is the default of rapid.
const modelChecks = 100

// Model compares filters with removal with a map, over random sequences of additions and removals. operations is their
// approximate number in total. No present key may become absent and no count may be too small. Removing an absent key
// must return an error, and a full filter must not change. start returns an empty filter with room for a number of
// additions. Model adds up to twice as many.
func Model(t *testing.T, operations int, start func(keys uint64) family.Filter) {
	keys := Hashes(modelKeys, 51)
	rapid.Check(t, func(r *rapid.T) {
		f := start(modelKeys)
		adder, remover := f.(family.Adder), f.(family.Remover)
		counter, _ := f.(family.Counter)
		truth := make([]uint64, len(keys))
		total := 0
		whole := func() {
			for i, n := range truth {
				if n > 0 && !f.Has(keys[i]) {
					r.Fatalf("key %d is lost, it was added %d times more than removed", i, n)
				}
				if counter == nil {
					continue
				}
				if got, saturated := counter.Count(keys[i]); got < n && !saturated {
					r.Fatalf("key %d counts %d, truth %d", i, got, n)
				}
			}
			if got := f.Info().Keys; got != uint64(total) {
				r.Fatalf("Info says %d keys, truth %d", got, total)
			}
		}
		adds := rapid.IntRange(3, 7).Draw(r, "adds of 10")
		for step := range operations / modelChecks {
			draw := rapid.IntRange(0, 10*modelKeys-1).Draw(r, "step")
			i := draw / 10
			switch {
			case draw%10 < adds && total < 2*modelKeys:
				switch err := adder.Add(keys[i]); {
				case err == nil:
					truth[i]++
					total++
				case !errors.Is(err, filter.ErrFull):
					r.Fatal(err)
				}
			case truth[i] > 0:
				if err := remover.Remove(keys[i]); err != nil {
					r.Fatalf("key %d was added: %v", i, err)
				}
				truth[i]--
				total--
			case !f.Has(keys[i]):
				if err := remover.Remove(keys[i]); !errors.Is(err, filter.ErrNotFound) {
					r.Fatalf("removing an absent key: %v", err)
				}
			}
			if truth[i] > 0 && !f.Has(keys[i]) {
				r.Fatalf("key %d is lost", i)
			}
			if step%997 == 0 {
				whole()
			}
		}
		whole()
	})
}
