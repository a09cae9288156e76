package families

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

const (
	ownedKeys = 600 // keys of a goroutine that are added and removed
	stayKeys  = 300 // keys of a goroutine that are never removed
	maxCopies = 3   // largest number of copies of a key; small enough for every family that counts
)

// owner is a goroutine with its own keys and a model of them.
type owner struct {
	c      family.Concurrent
	remove func(filter.Hash) error // nil if the family does not remove
	count  func(filter.Hash) (uint64, bool)
	keys   []filter.Hash
	copies []uint64 // additions minus removals of each key
	stay   []filter.Hash
	stayed atomic.Int64 // number of keys of stay that were added; it changes after their Add has returned
	random *rand.Rand
}

// owners starts goroutines that add, remove, test and count their own keys at random and compare with a model of them,
// while another goroutine takes snapshots. At the end, all keys that can be removed are removed, and the filter must
// then be empty.
func owners(t *testing.T, f Family, empty func(keys uint64) family.Filter) {
	steps := 20_000
	if testing.Short() {
		steps = 5000
	}
	c := empty(writers * (maxCopies*ownedKeys + stayKeys)).(family.Sharer).Concurrent()
	all := make([]*owner, writers)
	var wg sync.WaitGroup
	for w := range all {
		o := &owner{
			c: c, keys: filtertest.Hashes(ownedKeys, uint64(70+w)), stay: filtertest.Hashes(stayKeys, uint64(80+w)),
			copies: make([]uint64, ownedKeys), random: rand.New(rand.NewPCG(uint64(w), 71)),
		}
		if r, ok := c.(family.Remover); ok {
			o.remove = r.Remove
		}
		if n, ok := c.(family.Counter); ok {
			o.count = n.Count
		}
		all[w] = o
		wg.Go(func() {
			for step := range steps {
				if err := o.step(step, steps); err != nil {
					t.Errorf("goroutine %d, step %d: %v", w, step, err)
					return
				}
			}
		})
	}
	var running atomic.Bool
	running.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for more := true; more; {
			more = running.Load()
			runtime.Gosched() // on js, goroutines are not preempted
			if err := checkSnapshot(f, c, all); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	wg.Wait()
	running.Store(false)
	<-done
	if t.Failed() {
		return
	}
	emptied(t, c, all)
}

// step does one operation on one of the goroutine's keys and compares the answers with the model.
func (o *owner) step(step, steps int) error {
	if n := int(o.stayed.Load()); n < len(o.stay) && step*len(o.stay) >= n*steps {
		if err := o.c.Add(o.stay[n]); err != nil {
			return err
		}
		o.stayed.Store(int64(n + 1))
	}
	i := o.random.IntN(len(o.keys))
	h, copies := o.keys[i], &o.copies[i]
	switch what := o.random.IntN(4); {
	case what == 0 && *copies < maxCopies:
		if err := o.c.Add(h); err != nil {
			return err
		}
		*copies++
	case what == 1:
		present, err := o.c.TestAndAdd(h)
		switch {
		case err != nil:
			return err
		case !present && *copies > 0:
			return fmt.Errorf("key %d, added %d times, was new", i, *copies)
		case !present:
			*copies++
		}
	case what == 2 && *copies > 0 && o.remove != nil:
		if err := o.remove(h); err != nil {
			return fmt.Errorf("key %d, added %d times: %w", i, *copies, err)
		}
		*copies--
	}
	if *copies > 0 && !o.c.Has(h) {
		return fmt.Errorf("key %d, added %d times, is absent", i, *copies)
	}
	if o.count != nil {
		if n, saturated := o.count(h); n < *copies && !saturated {
			return fmt.Errorf("key %d, added %d times, counts %d", i, *copies, n)
		}
	}
	if n := int(o.stayed.Load()); n > 0 {
		if j := o.random.IntN(n); !o.c.Has(o.stay[j]) {
			return fmt.Errorf("key %d, which is never removed, is absent", j)
		}
	}
	return nil
}

// checkSnapshot takes a snapshot while others write. The snapshot must contain all keys that were added before and are
// never removed, and it must be possible to store it.
func checkSnapshot(f Family, c family.Concurrent, all []*owner) error {
	added := make([]int64, len(all))
	for w, o := range all {
		added[w] = o.stayed.Load()
	}
	taken, err := c.Snapshot()
	if err != nil {
		return err
	}
	again, err := f.Decode(taken.(family.Encoder).Encode())
	if err != nil {
		return fmt.Errorf("a snapshot cannot be decoded: %w", err)
	}
	for w, o := range all {
		for i, h := range o.stay[:added[w]] {
			if !taken.Has(h) || !again.Has(h) {
				return fmt.Errorf("a snapshot lacks key %d of goroutine %d, which was added before", i, w)
			}
		}
	}
	return nil
}

// emptied compares the remaining keys with the models and then removes all of them.
func emptied(t *testing.T, c family.Concurrent, all []*owner) {
	var want uint64
	for _, o := range all {
		noFalseNegative(t, c, o.stay)
		want += uint64(len(o.stay))
		for i, h := range o.keys {
			want += o.copies[i]
			if o.copies[i] > 0 && !c.Has(h) {
				t.Fatalf("key %d is lost", i)
			}
		}
	}
	if c.Keys() != want || c.Info().Keys != want {
		t.Errorf("Keys is %d, Info().Keys %d, want %d", c.Keys(), c.Info().Keys, want)
	}
	if all[0].remove == nil {
		return
	}
	for _, o := range all {
		for i, h := range o.keys {
			for range o.copies[i] {
				if err := o.remove(h); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, h := range o.stay {
			if err := o.remove(h); err != nil {
				t.Fatal(err)
			}
		}
	}
	nothingLeft(t, c)
}
