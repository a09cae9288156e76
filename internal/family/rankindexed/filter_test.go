package rankindexed

import (
	"errors"
	"flag"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
	"github.com/bloomery/bloomery/internal/probe"
)

var long = flag.Bool("long", false, "ten million operations against a map, a thousand filters filled to their capacity")

// TestFull requires that an Add with ErrFull leaves the filter unchanged.
func TestFull(t *testing.T) {
	f := made(t, Config{Keys: 1000})
	hs := filtertest.Hashes(5000, 1)
	for i, h := range hs {
		err := f.Add(h)
		if err == nil {
			continue
		}
		if !errors.Is(err, filter.ErrFull) || i < 1000 {
			t.Fatalf("key %d: %v", i, err)
		}
		was := f.Encode()
		before := append([]uint64(nil), was.Sections[0]...)
		if f.Add(h) == nil || f.Info().Keys != uint64(i) {
			t.Fatal("a full filter took a key")
		}
		for j, w := range f.Encode().Sections[0] {
			if before[j] != w {
				t.Fatal("a refused key changed the filter")
			}
		}
		requireAll(t, f, hs[:i])
		return
	}
	t.Fatal("never full")
}

// TestHotKey adds one key until its bucket is full. The filter must not grow, since growth would not help.
func TestHotKey(t *testing.T) {
	f := made(t, Config{Keys: 1000, Growth: 16})
	var err error
	h := filtertest.Hashes(1, 1)[0]
	was := f.g.Bits()
	for err == nil {
		err = f.Add(h)
	}
	if !errors.Is(err, filter.ErrFull) || f.g.Bits() != was {
		t.Errorf("%v after %d keys, at %d times the size", err, f.keys, f.g.Bits()/was)
	}
	c := newConcurrent(f)
	if err := c.Add(h); !errors.Is(err, filter.ErrFull) || c.Info().Bits != was {
		t.Errorf("Concurrent: %v", err)
	}
}

// TestLookalikes adds two keys with the same chain and remainder. Each must get a cell, and Put and Get must use the
// same cell.
func TestLookalikes(t *testing.T) {
	f := made(t, Config{Keys: 1000, ValueBits: 8})
	a := filtertest.Hashes(1, 1)[0]
	b := a
	b.Lo ^= 1
	if err := errors.Join(f.Add(a), f.Add(b), f.Put(a, 5)); err != nil {
		t.Fatal(err)
	}
	if v, ok := f.Get(a); v != 5 || !ok || f.Info().Keys != 2 {
		t.Errorf("Get after Put(5): %d, %t, %d keys", v, ok, f.Info().Keys)
	}
	if err := f.Remove(b); err != nil || !f.Has(a) {
		t.Errorf("removing one loses the other: %v", err)
	}
}

// TestPutKeeps adds and removes keys with values, some with equal fingerprints. No other key may be lost.
func TestPutKeeps(t *testing.T) {
	f := made(t, Config{Keys: 20_000, ValueBits: 8, Size: family.Sizing{FPR: 0.05}})
	hs := filtertest.Hashes(20_000, 4)
	for i, h := range hs {
		if err := f.AddValue(h, uint64(i)%256); err != nil {
			t.Fatal(err)
		}
		if err := f.Put(h, uint64(i+1)%256); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range hs[:10_000] {
		if err := f.Remove(h); err != nil {
			t.Fatal(err)
		}
	}
	requireAll(t, f, hs[10_000:])
}

// TestPools allocates and frees hundreds of extensions.
func TestPools(t *testing.T) {
	f := ofGeometry(t, Geometry{Capacity: 1, Buckets: 250, Chains: 30, Cells: [levels]int{5, 4, 0}, Pools: [levels]uint64{0, 250, 0}, Remainder: 20})
	hs := filtertest.Hashes(2000, 3)
	for round := range 4 {
		var in []filter.Hash
		for _, h := range hs[round*100:] {
			if err := f.Add(h); err == nil {
				in = append(in, h)
			} else if !errors.Is(err, filter.ErrFull) {
				t.Fatal(err)
			}
		}
		if f.pools[1].used < 150 {
			t.Fatalf("%d extensions are in use", f.pools[1].used)
		}
		if again, err := Decode(f.Encode()); err != nil || again.pools[1].used != f.pools[1].used {
			t.Fatalf("round %d: %v", round, err)
		}
		for i := range in { // every second one first, so that holes are filled
			h := in[(i*7)%len(in)]
			if len(in)%7 == 0 {
				h = in[i]
			}
			if err := f.Remove(h); err != nil {
				t.Fatal(err)
			}
			if i%5 == 0 {
				if err := f.Add(h); err != nil {
					t.Fatal(err)
				}
				if err := f.Remove(h); err != nil {
					t.Fatal(err)
				}
			}
		}
		if f.used != 0 || f.pools[1].used != 0 {
			t.Fatalf("round %d: %d cells and %d extensions are left", round, f.used, f.pools[1].used)
		}
	}
}

// TestHasMany tests the code for large filters on a small one.
func TestHasMany(t *testing.T) {
	hs := filtertest.Hashes(3000, 5)
	f := made(t, Config{Keys: 1500})
	addAll(t, f, hs[:1500])
	for _, n := range []int{0, 1, 31, 32, 33, 1000, len(hs)} {
		dst := make([]bool, n)
		part := hs[len(hs)-n:]
		probe.HasMany(probe.InCache, dst, part, f.prefetch, f.hasEach)
		for i, got := range dst {
			if got != f.Has(part[i]) {
				t.Fatalf("hasMany of %d differs from Has at %d", n, i)
			}
		}
	}
}

// TestNoAllocation requires that no operation allocates, also in buckets with extensions.
func TestNoAllocation(t *testing.T) {
	hs := filtertest.Hashes(20_000, 1)
	for _, c := range []Config{{}, {Counting: true}, {ValueBits: 3}, {Growth: 3}, {Fast: true}} {
		c.Keys = 20_000
		f := made(t, c)
		addAll(t, f, hs)
		if f.pools[1].used == 0 && !c.Fast {
			t.Errorf("%+v: no bucket has an extension", c)
		}
		clone := ofGeometry(t, f.g)
		addAll(t, clone, hs)
		shared := newConcurrent(clone)
		var batch [4]bool
		i := 0
		n := testing.AllocsPerRun(15_000, func() {
			h := hs[i]
			i++
			_ = f.Remove(h)
			_ = f.Add(h)
			f.Has(h)
			countOf(f, h)
			f.Get(h)
			if c.ValueBits > 0 {
				_ = f.Put(h, 5)
				_ = f.Upsert(h, 6)
				_ = shared.Put(h, 5)
				_ = shared.Upsert(h, 6)
				_ = shared.Remove(h)
				_ = shared.AddValue(h, 7)
			}
			_ = shared.Remove(h)
			if present, err := shared.TestAndAdd(h); err != nil || !present && shared.Keys() == 0 {
				t.Error(err)
			}
			_ = shared.Remove(h)
			_ = shared.Add(h)
			shared.Has(h)
			shared.HasMany(batch[:], hs[:4])
			countOf(shared, h)
			shared.Get(h)
			shared.Keys()
		})
		if n != 0 {
			t.Errorf("%+v: %g allocations", c, n)
		}
	}
}

// BenchmarkOperations measures the operations of a Filter, in ns per key.
func BenchmarkOperations(b *testing.B) {
	const n = 1_000_000
	hs, absent := filtertest.Hashes(n, 1), filtertest.Hashes(n, 2)
	for name, c := range map[string]Config{
		"default": {}, "smallest": {Bucket: 16384}, "fast": {Fast: true}, "counting": {Counting: true},
	} {
		c.Keys = n
		f := made(b, c)
		for _, h := range hs {
			_ = f.Add(h)
		}
		for _, op := range []struct {
			name string
			do   func(i int)
		}{
			{"op=has/hit=1", func(i int) { f.Has(hs[i]) }},
			{"op=has/hit=0", func(i int) { f.Has(absent[i]) }},
			{"op=count", func(i int) { countOf(f, hs[i]) }},
			{"op=remove-add", func(i int) { _ = f.Remove(hs[i]); _ = f.Add(hs[i]) }},
		} {
			b.Run("form="+name+"/"+op.name, func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					op.do(i)
					if i++; i == n {
						i = 0
					}
				}
			})
		}
	}
}

// countOf returns the count of a key, saturated or not.
func countOf(c family.Counter, h filter.Hash) uint64 {
	n, _ := c.Count(h)
	return n
}

// made returns an empty filter.
func made(t testing.TB, c Config) *Filter {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// ofGeometry returns an empty filter of a geometry.
func ofGeometry(t testing.TB, g Geometry) *Filter {
	t.Helper()
	f, err := newFilter(g)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// addAll adds keys.
func addAll(t testing.TB, f family.Adder, hs []filter.Hash) {
	t.Helper()
	for i, h := range hs {
		if err := f.Add(h); err != nil {
			t.Fatalf("key %d of %d: %v", i, len(hs), err)
		}
	}
}

// requireAll fails the test unless a filter contains all keys.
func requireAll(t testing.TB, f family.Filter, hs []filter.Hash) {
	t.Helper()
	for i, h := range hs {
		if !f.Has(h) {
			t.Fatalf("key %d of %d is lost", i, len(hs))
		}
	}
}
