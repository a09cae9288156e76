package bloomery_test

import (
	"flag"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
)

var dedupKeys = flag.Uint64("dedup", 50_000, "keys of TestDedup")

// TestDedup has four goroutines bring the same new keys, each in another order: of each key at most one is told that it is new,
// and no more keys are new to nobody than the false-positive rate explains.
func TestDedup(t *testing.T) {
	n := *dedupKeys
	for _, name := range families.With(family.CanConcurrent) {
		set, err := bloomery.New(bloomery.Config{Spec: name + "(fpr=0.01)", Keys: n, Concurrent: true})
		if err != nil {
			t.Fatal(err)
		}
		fresh := make([]atomic.Uint32, n)
		var all sync.WaitGroup
		for worker := range uint64(4) {
			all.Go(func() {
				for i := range n {
					key := i
					if worker%2 == 1 {
						key = n - 1 - i
					}
					present, err := bloomery.Keyed[uint64](set).TestAndAdd(key)
					if err != nil {
						t.Errorf("%s: key %d: %v", name, key, err)
						return
					}
					if !present {
						fresh[key].Add(1)
					}
				}
			})
		}
		all.Wait()
		var twice, nobody uint64
		for i := range fresh {
			switch count := fresh[i].Load(); {
			case count == 0:
				nobody++
			case count > 1:
				twice++
			}
			if !bloomery.Keyed[uint64](set).Contains(uint64(i)) {
				t.Fatalf("%s: key %d is lost", name, i)
			}
		}
		rate := set.Info().FPRPosterior // at the end; it was lower before
		if tail := stat.UpperTail(nobody, n, rate); twice > 0 || tail < 1e-6 {
			t.Errorf("%s: %d keys are new twice, %d to nobody: the rate of %.3g allows that with probability %.2g", name, twice, nobody, rate, tail)
		}
		if keys := set.Len(); keys != n-nobody {
			t.Errorf("%s: %d keys were added, Len %d", name, n-nobody, keys)
		}
		t.Logf("%s: %d keys, 0 new twice, %d new to nobody, rate %.4g", name, n, nobody, rate)
	}
}
