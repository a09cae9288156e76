package rankindexed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/stat"
)

// actor is a goroutine with its own keys. It adds them in order, and removes key i after the addition of key i+1 unless
// stays(i).
type actor struct {
	hs   []filter.Hash
	done atomic.Int64 // all changes before the addition of this key have returned
}

// stays reports whether key i remains in the filter.
func stays(i int) bool { return i%3 != 1 }

// act adds and removes all keys, and checks its own keys after each change. It calls look four times.
func (w *actor) act(c *Concurrent, seed uint64, look func()) error {
	r := rand.New(rand.NewPCG(seed, 1))
	values := c.table.Load().g.ValueBits > 0
	value := func(i int) uint64 { return uint64(i) % 250 }
	for i, h := range w.hs {
		w.done.Store(int64(i))
		if i%(len(w.hs)/4) == len(w.hs)/8 {
			look()
		}
		var present bool
		var err error
		switch {
		case values && i%2 == 0:
			err = errors.Join(c.AddValue(h, 255), c.Put(h, value(i)))
		case values:
			err = errors.Join(c.Upsert(h, 254), c.Upsert(h, value(i)))
		case i%2 == 0:
			present, err = c.TestAndAdd(h)
		default:
			err = c.Add(h)
		}
		if err != nil || present {
			return fmt.Errorf("adding key %d: present %t, %w", i, present, err)
		}
		if i > 0 && !stays(i-1) {
			if err := c.Remove(w.hs[i-1]); err != nil {
				return fmt.Errorf("removing key %d: %w", i-1, err)
			}
			if c.Has(w.hs[i-1]) || c.Remove(w.hs[i-1]) == nil {
				return fmt.Errorf("key %d is still there", i-1)
			}
		}
		for _, j := range [3]int{i, r.IntN(i + 1), r.IntN(i + 1)} {
			if j != i && !stays(j) {
				continue
			}
			v, ok := c.Get(w.hs[j])
			if n := countOf(c, w.hs[j]); !c.Has(w.hs[j]) || !ok || n != 1 || values && v != value(j) {
				return fmt.Errorf("key %d after %d: %d times, value %d, %t", j, i, n, v, ok)
			}
		}
	}
	w.done.Store(int64(len(w.hs)))
	return nil
}

// TestConcurrent runs goroutines that add and remove their own keys while the filter doubles several times. No key may
// be lost at any moment. A snapshot must be decodable, contain every key whose Add returned before, and no key that was
// removed before. In the end the filter must equal the filter of a single goroutine.
func TestConcurrent(t *testing.T) {
	each := 12_000
	if testing.Short() {
		each = 3000
	}
	const workers = 4
	size := family.Sizing{FPR: 1e-8} // no two of the keys look alike
	for name, cfg := range map[string]Config{
		"plain":    {Keys: 500, Growth: 8, Size: size},
		"counting": {Keys: 500, Growth: 8, Size: size, Counting: true},
		"values":   {Keys: 500, Growth: 8, Size: size, ValueBits: 8},
		"small":    {Keys: 2000, Growth: 6, Size: size, Bucket: 256},
		"fixed":    {Keys: uint64(workers * each), Size: size, Bucket: 512},
	} {
		t.Run(name, func(t *testing.T) {
			f := made(t, cfg)
			already := filtertest.Hashes(400, 99)
			addAll(t, f, already)
			c := f.Concurrent().(*Concurrent)
			actors := make([]actor, workers)
			look := func() { checkSnapshot(t, c, actors, already) }
			for i := range actors {
				actors[i].hs = filtertest.Hashes(each, uint64(i))
			}
			var wg sync.WaitGroup
			for i := range actors {
				wg.Go(func() {
					if err := actors[i].act(c, uint64(i), look); err != nil {
						t.Errorf("actor %d: %v", i, err)
					}
				})
			}
			wg.Wait()
			if t.Failed() {
				return
			}
			look()
			got := c.filter()
			if cfg.Growth > 0 && got.g.Growth > cfg.Growth-3 {
				t.Errorf("it has grown %d times", cfg.Growth-got.g.Growth)
			}
			alone := ofGeometry(t, got.g)
			add := func(h filter.Hash) {
				v, _ := got.Get(h)
				if cfg.ValueBits == 0 {
					addAll(t, alone, []filter.Hash{h})
				} else if err := alone.AddValue(h, v); err != nil {
					t.Fatal(err)
				}
			}
			for _, h := range already {
				add(h)
			}
			for i := range actors {
				for j, h := range actors[i].hs {
					if stays(j) || j == each-1 {
						add(h)
					}
				}
			}
			if !same(t, got, alone) {
				t.Errorf("%d keys in %d cells, one goroutine makes %d in %d", got.keys, got.used, alone.keys, alone.used)
			}
		})
	}
}

// checkSnapshot takes a snapshot and checks it against the changes that had returned before.
func checkSnapshot(t *testing.T, c *Concurrent, actors []actor, already []filter.Hash) {
	done := make([]int, len(actors))
	for i := range actors {
		done[i] = int(actors[i].done.Load())
	}
	f, err := c.Snapshot()
	if err != nil {
		t.Error(err)
		return
	}
	f, err = Decode(f.(*Filter).Encode())
	if err != nil {
		t.Errorf("a snapshot does not decode: %v", err)
		return
	}
	for _, h := range already {
		if !f.Has(h) {
			t.Error("a snapshot lost a key that was there from the start")
		}
	}
	for i := range actors {
		for j, h := range actors[i].hs[:done[i]] {
			switch last := j == len(actors[i].hs)-1; {
			case f.Has(h) != (stays(j) || last) && j < done[i]-1, !f.Has(h) && (stays(j) || last):
				t.Errorf("snapshot of actor %d after %d changes: key %d is %t", i, done[i], j, f.Has(h))
				return
			}
		}
	}
}

// TestTestAndAdd adds all keys from all goroutines while the filter grows. Each key must be new to at most one
// goroutine, and the number of keys that are new to none must agree with the false-positive rate.
func TestTestAndAdd(t *testing.T) {
	const workers, n, rate = 4, 20_000, 0.01
	for _, cfg := range []Config{{Keys: 700, Growth: 6}, {Keys: n, Counting: true}, {Keys: 3000, Growth: 4, Bucket: 64}} {
		cfg.Size.FPR = rate
		f := made(t, cfg)
		c := f.Concurrent()
		hs := filtertest.Hashes(n, 7)
		told := make([]atomic.Uint32, n)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range hs {
					if w%2 == 1 { // two goroutines start from the end
						i = n - 1 - i
					}
					present, err := c.TestAndAdd(hs[i])
					if err != nil {
						t.Error(err)
						return
					}
					if !present {
						told[i].Add(1)
					}
					if !c.Has(hs[i]) {
						t.Error("lost a key")
					}
				}
			})
		}
		wg.Wait()
		var missing, news uint64
		for i := range told {
			switch told[i].Load() {
			case 0:
				missing++
			case 1:
				news++
			default:
				t.Errorf("key %d was new to %d goroutines", i, told[i].Load())
			}
		}
		if stat.UpperTail(missing, n, rate) < 1e-6 || c.Keys() != news || c.Info().Keys != news {
			t.Errorf("%+v: %d of %d keys were new to nobody; %d were, and the filter has %d", cfg, missing, n, news, c.Keys())
		}
	}
}

// TestSnapshotOfPools takes snapshots while many buckets allocate and free a few extensions. No two buckets of a
// snapshot may use the same extension.
func TestSnapshotOfPools(t *testing.T) {
	f, err := newFilter(Geometry{
		Capacity: 1, Buckets: 200, Chains: 8, Cells: [levels]int{1, 1, 3}, Pools: [levels]uint64{0, 6, 3}, Remainder: 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := f.Concurrent().(*Concurrent)
	var full atomic.Uint64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 4 {
		wg.Go(func() {
			hs := filtertest.Hashes(100, uint64(w))
			r := rand.New(rand.NewPCG(uint64(w), 2))
			for {
				select {
				case <-stop:
					return
				default:
				}
				runtime.Gosched() // otherwise a snapshot would wait for many more changes
				h := hs[r.IntN(len(hs))]
				var in int
				for range 4 { // copies of one key need all extensions of a bucket
					switch err := c.Add(h); {
					case err == nil:
						in++
					case errors.Is(err, filter.ErrFull):
						full.Add(1)
					default:
						t.Error(err)
					}
				}
				for range in {
					if err := c.Remove(h); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	rounds := 5000
	if testing.Short() {
		rounds = 500
	}
	for round := 0; round < rounds || full.Load() == 0 && round < 100*rounds; round++ { // until the pools were full, too
		s, err := c.Snapshot()
		if err != nil {
			t.Error(err)
			break
		}
		if _, err := Decode(s.(*Filter).Encode()); err != nil {
			t.Errorf("snapshot %d does not decode: %v", round, err)
			break
		}
	}
	close(stop)
	wg.Wait()
	if full.Load() == 0 {
		t.Error("the pools never were full")
	}
	if n := c.filter(); n.keys != 0 || n.used != 0 || n.pools[1].used != 0 || n.pools[2].used != 0 {
		t.Errorf("%d keys, %d cells and %d extensions are left", n.keys, n.used, n.pools[1].used)
	}
}
