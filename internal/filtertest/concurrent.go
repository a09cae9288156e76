package filtertest

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
	"github.com/bloomery/bloomery/internal/stat"
)

// writers is the number of goroutines that change a filter at once.
const writers = 4

// Concurrent tests the concurrent form of a family: start returns an empty filter with room for that many keys, copies
// included, that is a family.Sharer; decode makes a filter from its stored form. Run calls it for families that can
// start empty. Run the tests with the race detector as well.
func Concurrent(t *testing.T, start func(keys uint64) family.Filter, decode func(family.Encoded) (family.Filter, error)) {
	t.Run("dedup", func(t *testing.T) { dedup(t, start) })
	t.Run("takesOver", func(t *testing.T) { takesOver(t, start) })
	t.Run("lookAlikes", func(t *testing.T) { lookAlikes(t, start) })
	t.Run("allocations", func(t *testing.T) { noAllocationWriting(t, start) })
	t.Run("owners", func(t *testing.T) { owners(t, start, decode) })
}

// share returns the concurrent form of a new filter.
func share(t *testing.T, start func(keys uint64) family.Filter, keys uint64) family.Concurrent {
	t.Helper()
	s, ok := start(keys).(family.Sharer)
	if !ok {
		t.Fatal("the filter is not a family.Sharer")
	}
	return s.Concurrent()
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
func dedup(t *testing.T, start func(keys uint64) family.Filter) {
	n := 10_000
	if testing.Short() {
		n = 2000
	}
	hs := Hashes(n, 61)
	c := share(t, start, uint64(n))
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
	if b, ok := c.(family.Batcher); !ok {
		t.Error("the concurrent form is not a family.Batcher")
	} else {
		batched(t, c, hs)
		unequalLengths(t, b)
	}
	sameAnswers(t, c, snapshot(t, c), hs)
}

// sameAnswers compares a concurrent form that nobody changes with its snapshot.
func sameAnswers(t *testing.T, c family.Concurrent, f family.Filter, hs []filter.Hash) {
	t.Helper()
	a, b := c.Info(), f.Info()
	if a.Keys != b.Keys || a.Spec != b.Spec || a.Spec != c.Spec() || a.FPRPosterior != b.FPRPosterior ||
		a.Fill != b.Fill {
		t.Errorf("Info is %v, in the snapshot %v", a, b)
	}
	for i, h := range append(slices.Clone(hs), Hashes(len(hs), 62)...) {
		if c.Has(h) != f.Has(h) {
			t.Fatalf("key %d: Has differs from Has of the snapshot", i)
		}
	}
}

// unequalLengths checks that HasMany panics instead of writing beyond the end of dst.
func unequalLengths(t *testing.T, b family.Batcher) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("HasMany with room for 2 answers about 3 keys did not panic")
		}
	}()
	b.HasMany(make([]bool, 2, 8), make([]filter.Hash, 3))
}

// takesOver checks that keys added before Concurrent remain, that a snapshot shares no memory, and that TestAndAdd of a
// present key changes nothing.
func takesOver(t *testing.T, start func(keys uint64) family.Filter) {
	const n = 1000
	hs := Hashes(2*n, 63)
	f := start(2 * n)
	for _, h := range hs[:n] {
		if err := f.(family.Adder).Add(h); err != nil {
			t.Fatal(err)
		}
	}
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
	for _, h := range hs[n:] {
		if err := c.Add(h); err != nil {
			t.Fatal(err)
		}
	}
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
func lookAlikes(t *testing.T, start func(keys uint64) family.Filter) {
	c := share(t, start, 60)
	r, ok := c.(family.Remover)
	if !ok {
		t.Skip("the family does not remove")
	}
	rounds := 20_000
	if testing.Short() {
		rounds = 4000
	}
	hs := Hashes(8, 64)
	for _, h := range hs {
		if err := c.Add(h); err != nil {
			t.Fatal(err)
		}
	}
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
func noAllocationWriting(t *testing.T, start func(keys uint64) family.Filter) {
	const n = 2000
	hs := Hashes(n, 66)
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
	try("plain", start(n))
	try("concurrent", share(t, start, n))
}
