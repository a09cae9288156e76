package rankindexed

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
)

// TestGrowthDiffers runs the same operations on a Concurrent and on a Filter, in small geometries whose buckets and
// pools are often full. Every result must be the same, even during a growth, and the filters must be equal in the end.
// A run tests a third of the geometries.
func TestGrowthDiffers(t *testing.T) {
	runs := filtertest.Third(t, testing.Short())
	rounds := 2000
	if testing.Short() {
		rounds = 300
	}
	var growths, full, both int
	for seed := range uint64(rounds) {
		if !runs() {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 3))
		g := Geometry{
			Capacity: 1 + r.Uint64N(120), Buckets: 1 + r.Uint64N(40), Chains: 1 + r.IntN(20), Cells: [levels]int{1 + r.IntN(8)},
			Remainder: 1 + r.IntN(20), Growth: r.IntN(5), Counting: r.IntN(2) == 0,
		}
		if !g.Counting {
			g.ValueBits = r.IntN(5)
		}
		if r.IntN(3) > 0 {
			g.Cells[1], g.Pools[1] = 1+r.IntN(5), 1+r.Uint64N(g.Buckets)
			if r.IntN(2) == 0 {
				g.Cells[2], g.Pools[2] = 1+r.IntN(5), 1+r.Uint64N(g.Pools[1])
			}
		}
		f := ofGeometry(t, g)
		start := ofGeometry(t, g)
		c := newConcurrent(start)
		keys := filtertest.Hashes(600, seed)
		for step := range 900 {
			h, v := keys[r.IntN(len(keys))], r.Uint64N(1<<g.ValueBits)
			var want, got error
			switch op := r.IntN(20); {
			case op < 10:
				want, got = f.Add(h), c.Add(h)
			case op < 12:
				want, got = f.AddValue(h, v), c.AddValue(h, v)
			case op < 13:
				want, got = f.Upsert(h, v), c.Upsert(h, v)
			case op < 15:
				want, got = f.Put(h, v), c.Put(h, v)
			case op < 17:
				had := f.Has(h)
				if !had {
					want = f.Add(h)
				}
				var present bool
				if present, got = c.TestAndAdd(h); present != (had && want == nil) {
					t.Fatalf("seed %d step %d: TestAndAdd %t, want %t", seed, step, present, had)
				}
			default:
				want, got = f.Remove(h), c.Remove(h)
			}
			if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
				t.Fatalf("%+v seed %d step %d: error %v, a Filter returns %v", g, seed, step, got, want)
			}
			growing := c.table.Load().next.Load() != nil
			if errors.Is(want, filter.ErrFull) {
				full++
			}
			if growing {
				growths++
			}
			if growing && c.table.Load().next.Load().to.pools[1].reserved > 0 {
				both++
			}
			h = keys[r.IntN(len(keys))]
			gv, gok := c.Get(h)
			wv, wok := f.Get(h)
			if gv != wv || gok != wok || c.Has(h) != wok || countOf(c, h) != countOf(f, h) || c.Keys() != f.keys {
				t.Fatalf("%+v seed %d step %d: a query differs", g, seed, step)
			}
		}
		last := c.filter()
		if !same(t, last, f) {
			t.Fatalf("%+v seed %d: %d keys in %d cells, a Filter has %d in %d", g, seed, last.keys, last.used, f.keys, f.used)
		}
	}
	if growths < 1000 || full < 1000 || both < 1000 {
		t.Errorf("too few: %d steps in growths, %d with reserved extensions, %d full", growths, both, full)
	}
}

// same reports whether two filters have the same content. Numbers of extensions may differ.
func same(t *testing.T, a, b *Filter) bool {
	t.Helper()
	a, err := a.renumberExtensions()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = b.renumberExtensions(); err != nil {
		t.Fatal(err)
	}
	return a.g == b.g && a.tally == b.tally && slices.EqualFunc(a.Encode().Sections, b.Encode().Sections, slices.Equal[[]uint64])
}

// atCapacity returns a Concurrent that is at its capacity, and its keys followed by more other keys.
func atCapacity(t *testing.T, cfg Config, more int) (*Concurrent, []filter.Hash) {
	t.Helper()
	f := made(t, cfg)
	n := int(f.g.Capacity)
	hs := filtertest.Hashes(n+more, 17)
	addAll(t, f, hs[:n])
	return newConcurrent(f), hs
}

// TestGrowthInParts checks that an operation moves at most max(1, buckets/256) buckets during a growth, that at most
// this number of buckets share a lock, and that a growth ends after a bounded number of changes.
func TestGrowthInParts(t *testing.T) {
	for _, cfg := range []Config{
		{Keys: 1, Growth: 1}, {Keys: 10_000, Growth: 2}, {Keys: 100_000, Growth: 1},
		{Keys: 100_000, Growth: 1, Bucket: 64}, {Keys: 80_000, Growth: 2, Bucket: 512, Counting: true},
	} {
		c, hs := atCapacity(t, cfg, 100_000)
		n := len(hs) - 100_000
		growing, changes := false, uint64(0)
		for i, h := range hs[n:] {
			was := c.table.Load()
			buckets := was.buckets
			most := max(1, buckets/256)
			left := buckets
			if g := was.next.Load(); g != nil {
				left = g.left.Load()
			}
			var err error
			switch {
			case i%2 == 0:
				err = c.Add(h)
			case cfg.Counting:
				_, err = c.TestAndAdd(h)
			default:
				err = c.Remove(hs[i])
			}
			if err != nil {
				t.Fatal(err)
			}
			g := was.next.Load()
			if g == nil {
				continue
			}
			changes++
			if moved := left - g.left.Load(); moved > most {
				t.Fatalf("%+v: an operation moved %d of %d buckets, want at most %d", cfg, moved, buckets, most)
			}
			if c.table.Load() == was {
				growing = true
				continue
			}
			if changes > 2*buckets {
				t.Errorf("%+v: a growth of %d buckets took %d changes", cfg, buckets, changes)
			}
			changes = 0
			break
		}
		if !growing && c.table.Load().buckets > 2 || changes > 0 {
			t.Errorf("%+v: no growth began and ended", cfg)
		}
	}
	for buckets := uint64(1); buckets < 1e6; buckets += 1 + buckets/50 {
		f := &Filter{}
		f.buckets = buckets
		g := newGeneration(f)
		locked := map[*stripe]uint64{}
		for b := range buckets {
			locked[g.stripeOf(b)]++
		}
		for _, n := range locked {
			if n > max(1, buckets/256) {
				t.Fatalf("a lock guards %d of %d buckets", n, buckets)
			}
		}
	}
}

// TestGrowthHoldsOneLock holds one lock of a growing filter. An operation on a bucket with another lock must not wait
// for this lock, neither to begin the growth nor to help with it.
func TestGrowthHoldsOneLock(t *testing.T) {
	c, hs := atCapacity(t, Config{Keys: 50_000, Growth: 1}, 5000)
	old := c.table.Load()
	const bucket = 3
	held := old.stripeOf(bucket)
	held.mu.Lock()
	done := make(chan error, 1)
	go func() {
		for _, h := range hs {
			if old.stripeOf(probe.Position(h.Hi, old.buckets)) == held {
				continue
			}
			if _, err := c.TestAndAdd(h); err != nil || !c.Has(h) {
				done <- errors.Join(errors.New("not added"), err)
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("an operation waits for the lock of another bucket")
	}
	g := old.next.Load()
	if g == nil || c.table.Load() != old || g.left.Load() == 0 {
		t.Fatal("the filter did not grow, or finished without the bucket")
	}
	held.mu.Unlock()
	for _, h := range hs {
		if present, err := c.TestAndAdd(h); err != nil || !present && old.stripeOf(probe.Position(h.Hi, old.buckets)) != held {
			t.Fatal("lost a key", err)
		}
	}
	if c.table.Load() != g.to {
		t.Error("the growth did not end")
	}
}

// TestGrowthClosesPools requires that no bucket of the old table gets an extension once a growth has begun, because the
// number of extensions to reserve in the new table is counted at that time.
func TestGrowthClosesPools(t *testing.T) {
	c, hs := atCapacity(t, Config{Keys: 20_000, Growth: 1}, 0)
	old := c.table.Load()
	var before [levels]uint64
	for level := 1; level < levels; level++ {
		before[level] = old.pools[level].recordsInUse()
		if record, _, err := old.pools[level].takeRecord(false); err != nil {
			t.Fatal(err)
		} else {
			old.pools[level].freeRecord(record)
		}
	}
	if err := c.beginGrowth(old); err != nil {
		t.Fatal(err)
	}
	g := old.next.Load()
	for level := 1; level < levels; level++ {
		if _, _, err := old.pools[level].takeRecord(false); err != errGrow || g.to.pools[level].reserved != 2*before[level] {
			t.Errorf("level %d: %v, %d extensions reserved for %d", level, err, g.to.pools[level].reserved, before[level])
		}
	}
	if err := c.beginGrowth(old); err != nil || old.next.Load() != g {
		t.Errorf("growing again: %v", err)
	}
	c.finishGrowth()
	for level := 1; level < levels; level++ {
		if p := g.to.pools[level]; p.reserved != 0 || p.used > 2*old.pools[level].used {
			t.Errorf("level %d: %d extensions in use, %d reserved after the growth", level, p.used, p.reserved)
		}
	}
	requireAll(t, c, hs)
}

// TestGrowthWithoutMemory makes the allocation of the larger table fail. The filter must stay unchanged, and grow when
// the allocation succeeds.
func TestGrowthWithoutMemory(t *testing.T) {
	c, hs := atCapacity(t, Config{Keys: 20_000, Growth: 1}, 2000)
	n := len(hs) - 2000
	before := c.Info()
	snapshot, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	c.alloc = func(Geometry) (*Filter, error) { return nil, filter.ErrTooLarge }
	for _, h := range hs[n:] {
		if err := c.Add(h); !errors.Is(err, filter.ErrTooLarge) {
			t.Fatalf("Add without memory: %v", err)
		}
		if present, err := c.TestAndAdd(h); !errors.Is(err, filter.ErrTooLarge) && !present || present && err != nil {
			t.Fatalf("TestAndAdd without memory: %t, %v", present, err)
		}
	}
	if after := c.Info(); after.Keys != before.Keys || after.Bits != before.Bits || c.table.Load().next.Load() != nil {
		t.Errorf("%+v, before %+v", after, before)
	}
	after, err := c.Snapshot()
	if err != nil || !same(t, after.(*Filter), snapshot.(*Filter)) {
		t.Error("the content changed", err)
	}
	c.alloc = newFilter
	addAll(t, c, hs[n:])
	requireAll(t, c, hs)
	// At its last doubling it continues beyond the capacity.
	for i := range filtertest.Hashes(n, 4) {
		if err := c.Add(filter.Hash{Hi: hs[i].Lo, Lo: hs[i].Hi}); err != nil && (!errors.Is(err, filter.ErrFull) || i < n/2) {
			t.Fatalf("key %d: %v", i, err)
		}
	}
}
