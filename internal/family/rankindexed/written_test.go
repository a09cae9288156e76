package rankindexed

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// TestWrittenIsRead changes filters of random geometries in every way: also by many goroutines, while they double, with
// keys that look alike, past the capacity. Decode must read what Encode writes at any time, as files are.
func TestWrittenIsRead(t *testing.T) {
	rounds := uint64(300)
	if testing.Short() {
		rounds = 30
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 17))
		g := randomGeometry(r)
		f, err := newFilter(g)
		if err != nil {
			t.Fatalf("seed %d: %+v: %v", seed, g, err)
		}
		keys := make([]filter.Hash, 1+r.IntN(400))
		for i := range keys {
			keys[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64() >> r.IntN(9) >> r.IntN(9)}
		}
		for range 4 {
			changeOften(f, keys, r, 400)
			readBack(t, seed, f)
			c := newConcurrent(f)
			var wg sync.WaitGroup
			for range 2 {
				own := rand.New(rand.NewPCG(r.Uint64(), 1))
				wg.Go(func() { changeOften(c, keys, own, 300) })
			}
			copied, err := c.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			wg.Wait()
			readBack(t, seed, copied.(*Filter))
			f = c.filter()
			readBack(t, seed, f)
		}
		if f, err = f.tidy(); err != nil {
			t.Fatal(err)
		}
		readBack(t, seed, f)
	}
}

// randomGeometry returns a small valid Geometry.
func randomGeometry(r *rand.Rand) Geometry {
	g := Geometry{
		Capacity: 1 + r.Uint64N(300), Buckets: 1 + r.Uint64N(6), Chains: 1 + r.IntN(200),
		Cells: [levels]int{1 + r.IntN(120)}, Remainder: 1 + r.IntN(MaxRemainder>>r.IntN(4)),
	}
	for i := 1; i < levels && r.IntN(4) > 0; i++ {
		g.Cells[i], g.Pools[i] = 1+r.IntN(90), 1+r.Uint64N(8)
		if i > 1 {
			g.Pools[i] = min(g.Pools[i], g.Pools[i-1])
		}
	}
	g.Growth = min(r.IntN(5), MaxRemainder-g.Remainder)
	switch r.IntN(3) {
	case 0:
		g.Counting = true
	case 1:
		g.ValueBits = min(1+r.IntN(MaxValueBits), 63-g.Growth-g.Remainder)
	}
	return g
}

// changeOften changes a filter at random. A full filter and an absent key are no errors here.
func changeOften(f interface {
	family.Adder
	family.Remover
	family.Valuer
}, keys []filter.Hash, r *rand.Rand, times int) {
	adds := 2 + r.IntN(6)
	for range times {
		h := keys[r.IntN(len(keys))]
		switch op := r.IntN(10); {
		case op < adds:
			_ = f.Add(h)
		case op == adds:
			_ = f.AddValue(h, r.Uint64()>>r.IntN(64))
		case op == adds+1:
			_ = f.Upsert(h, r.Uint64N(4))
			_ = f.Put(h, r.Uint64N(2))
		default:
			_ = f.Remove(h)
		}
	}
}

// readBack decodes both forms of a filter.
func readBack(t *testing.T, seed uint64, f *Filter) {
	t.Helper()
	forms := []family.Encoder{f}
	if f.Trimmable() == nil {
		forms = append(forms, f.Trimmed().(family.Encoder))
	}
	for _, form := range forms {
		e := copied(form.Encode())
		g, err := Decode(e)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, e.Spec, err)
		}
		if g.used != f.used || g.keys != f.keys {
			t.Fatalf("seed %d: %s: %d keys in %d cells, want %d in %d", seed, e.Spec, g.keys, g.used, f.keys, f.used)
		}
	}
}
