package families

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// writers is the number of goroutines that change a filter at once.
const writers = 4

// shared tests the form of a filter that goroutines may change at the same time. Run it also with the race detector.
func shared(t *testing.T, f Family, s filter.Spec) {
	if !f.Can.Has(family.CanConcurrent) {
		t.Skip("the family has no such form")
	}
	empty := func(keys uint64) family.Filter { return start(t, f, s, keys) }
	t.Run("dedup", func(t *testing.T) { dedup(t, empty) })
	t.Run("takesOver", func(t *testing.T) { takesOver(t, empty) })
	t.Run("lookAlikes", func(t *testing.T) { lookAlikes(t, empty) })
	t.Run("allocations", func(t *testing.T) { noAllocationWriting(t, empty) })
	t.Run("owners", func(t *testing.T) { owners(t, f, empty) })
}

// TestConcurrentSmall runs the same tests in filters so small that keys share most of their counters, and words contain
// many shared counters, with and without stuck ones.
func TestConcurrentSmall(t *testing.T) {
	for _, text := range []string{"counting(k=3,m=300)", "counting(k=5,m=60)"} {
		f, s := parse(t, text)
		t.Run(text, func(t *testing.T) { shared(t, f, s) })
	}
}

// snapshot returns a snapshot or fails the test.
func snapshot(t *testing.T, c family.Concurrent) family.Filter {
	t.Helper()
	f, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dedup calls TestAndAdd with all keys from every goroutine, with each key at the same time. Each key must be absent
// for at most one goroutine. It is absent for none only if it was a false positive at its first call. The
// false-positive rate at that time is at most the posterior rate at the end, which bounds the number of such keys.
func dedup(t *testing.T, empty func(keys uint64) family.Filter) {
	n := 10_000
	if testing.Short() {
		n = 2000
	}
	hs := filtertest.Hashes(n, 61)
	c := empty(uint64(n)).(family.Sharer).Concurrent()
	news := make([]atomic.Int32, n)
	var arrived atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i, h := range hs {
				// All goroutines start each key together. Otherwise they rarely use the same key at the same time.
				for arrived.Add(1); arrived.Load() < int64(i+1)*writers; {
					runtime.Gosched()
				}
				present, err := c.TestAndAdd(h)
				if err != nil {
					t.Errorf("key %d: %v", i, err)
				}
				if !present {
					news[i].Add(1)
				}
				if !c.Has(h) {
					t.Errorf("key %d is absent after TestAndAdd", i)
				}
			}
		})
	}
	wg.Wait()
	var missing, added uint64
	for i := range news {
		switch k := news[i].Load(); k {
		case 0:
			missing++
		case 1:
			added++
		default:
			t.Errorf("key %d was new for %d goroutines", i, k)
		}
	}
	info := c.Info()
	if info.Keys != added || c.Keys() != added {
		t.Errorf("Info has %d keys, Keys %d; %d were new", info.Keys, c.Keys(), added)
	}
	if tail := stat.UpperTail(missing, uint64(n), info.FPRPosterior); tail < 1e-6 {
		t.Errorf("%d of %d keys were new for no goroutine, posterior rate %g (tail %g)", missing, n, info.FPRPosterior, tail)
	}
	noFalseNegative(t, c, hs)
	batched(t, c, hs)
	wrongBatches(t, c, hs)
	sameAnswers(t, c, snapshot(t, c), hs)
}

// sameAnswers compares an unchanging concurrent form with its snapshot.
func sameAnswers(t *testing.T, c family.Concurrent, f family.Filter, hs []filter.Hash) {
	t.Helper()
	a, b := c.Info(), f.Info()
	if a.Keys != b.Keys || a.Spec != b.Spec || a.Spec != c.Spec() || a.FPRPosterior != b.FPRPosterior ||
		a.Fill != b.Fill {
		t.Errorf("Info is %v, in the snapshot %v", a, b)
	}
	for i, h := range append(slices.Clone(hs), filtertest.Hashes(len(hs), 62)...) {
		if c.Has(h) != f.Has(h) {
			t.Fatalf("key %d: Has differs from Has of the snapshot", i)
		}
	}
}

// takesOver checks that keys added before Concurrent remain, that a snapshot shares no memory, and that TestAndAdd of a
// present key changes nothing.
func takesOver(t *testing.T, empty func(keys uint64) family.Filter) {
	const n = 1000
	hs := filtertest.Hashes(2*n, 63)
	f := empty(2 * n)
	addAll(t, f, hs[:n])
	c := f.(family.Sharer).Concurrent()
	before := snapshot(t, c)
	if k := before.Info().Keys; k != n || c.Keys() != n {
		t.Errorf("%d keys, %d in the snapshot, want %d", c.Keys(), k, n)
	}
	for i, h := range hs[:n] {
		if present, err := c.TestAndAdd(h); !present || err != nil {
			t.Fatalf("TestAndAdd of key %d, which was added: %t, %v", i, present, err)
		}
	}
	if !equal(before, snapshot(t, c)) || c.Keys() != n {
		t.Error("TestAndAdd of present keys changed the filter")
	}
	was := before.Info()
	addAll(t, c, hs[n:])
	noFalseNegative(t, snapshot(t, c), hs)
	if now := before.Info(); now.Fill != was.Fill || now.Keys != was.Keys {
		t.Error("a snapshot changed with the filter")
	}
	if _, ok := f.(family.Remover); !ok {
		return
	}
	r, ok := c.(family.Remover)
	if !ok {
		t.Fatal("the filter is a Remover, its concurrent form is not")
	}
	for i, h := range hs {
		if err := r.Remove(h); err != nil {
			t.Fatalf("key %d: %v", i, err)
		}
	}
	nothingLeft(t, c)
	if err := r.Remove(hs[0]); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("Remove from an empty filter: %v", err)
	}
}

// lookAlikes adds and removes the same few keys from several goroutines, in a filter so small that most keys collide.
// Keys that were added at the start and never removed must remain present, and nothing else may remain.
func lookAlikes(t *testing.T, empty func(keys uint64) family.Filter) {
	c := empty(60).(family.Sharer).Concurrent()
	r, ok := c.(family.Remover)
	if !ok {
		t.Skip("the family does not remove")
	}
	rounds := 20_000
	if testing.Short() {
		rounds = 4000
	}
	hs := filtertest.Hashes(8, 64)
	addAll(t, c, hs)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 65))
			for range rounds {
				h := hs[random.IntN(len(hs))]
				switch err := c.Add(h); {
				case errors.Is(err, filter.ErrFull):
				case err != nil:
					t.Error(err)
					return
				default:
					if err := r.Remove(h); err != nil {
						t.Errorf("Remove of a key that was added: %v", err)
						return
					}
				}
			}
		})
	}
	counter, _ := c.(family.Counter)
	for i := range rounds * len(hs) {
		h := hs[i%len(hs)]
		if !c.Has(h) {
			t.Errorf("key %d was absent for a moment", i%len(hs))
			break
		}
		if counter == nil {
			continue
		}
		if n, saturated := counter.Count(h); n < 1 && !saturated {
			t.Errorf("key %d counted %d for a moment", i%len(hs), n)
			break
		}
	}
	wg.Wait()
	for i, h := range hs {
		if err := r.Remove(h); err != nil {
			t.Errorf("key %d: %v", i, err)
		}
	}
	nothingLeft(t, c)
}

// nothingLeft checks that a filter whose keys were all removed is empty, except for saturated counters.
func nothingLeft(t *testing.T, c family.Concurrent) {
	t.Helper()
	f := snapshot(t, c)
	if c.Keys() != 0 || f.Info().Keys != 0 {
		t.Errorf("%d keys, %d in the snapshot, after all were removed", c.Keys(), f.Info().Keys)
	}
	if s, ok := f.(interface{ Stuck() uint64 }); ok && s.Stuck() > 0 {
		return
	}
	if fill := f.Info().Fill; fill != 0 {
		t.Errorf("fill %g after all keys were removed", fill)
	}
}

// noAllocationWriting checks that the operations of both forms do not allocate.
func noAllocationWriting(t *testing.T, empty func(keys uint64) family.Filter) {
	const n = 2000
	hs := filtertest.Hashes(n, 66)
	try := func(form string, f family.Filter) {
		var i int
		once := func(what string, op func(h filter.Hash)) {
			if got := testing.AllocsPerRun(200, func() { op(hs[i%n]); i++ }); got != 0 {
				t.Errorf("%s of the %s form allocates %v times", what, form, got)
			}
		}
		i = 0
		once("Add", func(h filter.Hash) { _ = f.(family.Adder).Add(h) })
		once("Has", func(h filter.Hash) { f.Has(h) })
		if c, ok := f.(family.Counter); ok {
			once("Count", func(h filter.Hash) { c.Count(h) })
		}
		if r, ok := f.(family.Remover); ok {
			i = 0
			once("Remove", func(h filter.Hash) { _ = r.Remove(h) })
		}
		if c, ok := f.(family.Concurrent); ok {
			i = n / 2
			once("TestAndAdd", func(h filter.Hash) { _, _ = c.TestAndAdd(h) })
		}
	}
	try("plain", empty(n))
	try("concurrent", empty(n).(family.Sharer).Concurrent())
}
