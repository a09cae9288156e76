package rankindexed

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/kernel"
)

// reference is a simple form of the table in the paper: chains of cells, and the number of cells of each bucket. Tests
// compare Filter with it.
type reference struct {
	s       sizes
	walk    kernel.Chains         // only Locate
	buckets []map[uint64][]uint64 // of each bucket, its chains: cells in order
	load    []uint64
}

func newReference(g Geometry) *reference {
	r := &reference{s: newSizes(g), buckets: make([]map[uint64][]uint64, g.Buckets), load: make([]uint64, g.Buckets)}
	r.walk = kernel.NewChains(nil, r.s.layout())
	for i := range r.buckets {
		r.buckets[i] = map[uint64][]uint64{}
	}
	return r
}

// level returns the number of levels of a bucket with the given number of cells.
func (r *reference) level(cells uint64) (n int) {
	for room := uint64(0); n < levels && room < cells; n++ {
		room += uint64(r.s.g.Cells[n])
	}
	return n
}

// fits reports whether bucket b has room for a further cell.
func (r *reference) fits(b uint64) bool {
	if r.load[b]+1 > uint64(r.s.g.Cells[0]+r.s.g.Cells[1]+r.s.g.Cells[2]) {
		return false
	}
	for level := 1; level < levels; level++ {
		var taken uint64
		for i, n := range r.load {
			if uint64(i) == b {
				n++
			}
			if r.level(n) > level {
				taken++
			}
		}
		if taken > r.s.g.Pools[level] {
			return false
		}
	}
	return true
}

func (r *reference) put(b, chain, cell uint64) error {
	if !r.fits(b) {
		return filter.ErrFull
	}
	c := r.buckets[b][chain]
	at := 0
	for at < len(c) && c[at]>>r.s.payload < cell>>r.s.payload {
		at++
	}
	r.buckets[b][chain] = slices.Insert(c, at, cell)
	r.load[b]++
	return nil
}

// find returns the first cell of a chain with the given remainder.
func (r *reference) find(b, chain, remainder uint64) (at int, ok bool) {
	at = slices.IndexFunc(r.buckets[b][chain], func(c uint64) bool { return c>>r.s.payload == remainder })
	return at, at >= 0
}

func (r *reference) Add(h filter.Hash) error {
	b, chain, remainder := r.walk.Locate(h.Hi, h.Lo)
	if at, ok := r.find(b, chain, remainder); r.s.g.Counting && ok && r.buckets[b][chain][at]&3 < 3 {
		r.buckets[b][chain][at]++
		return nil
	}
	return r.put(b, chain, remainder<<r.s.payload)
}

func (r *reference) AddValue(h filter.Hash, value uint64) error {
	b, chain, remainder := r.walk.Locate(h.Hi, h.Lo)
	return r.put(b, chain, remainder<<r.s.payload|value)
}

func (r *reference) Put(h filter.Hash, value uint64) error {
	b, chain, remainder := r.walk.Locate(h.Hi, h.Lo)
	at, ok := r.find(b, chain, remainder)
	if !ok {
		return filter.ErrNotFound
	}
	r.buckets[b][chain][at] = remainder<<r.s.payload | value
	return nil
}

func (r *reference) cut(b, chain uint64, at int) {
	r.buckets[b][chain] = slices.Delete(r.buckets[b][chain], at, at+1)
	r.load[b]--
}

func (r *reference) Remove(h filter.Hash) error {
	b, chain, remainder := r.walk.Locate(h.Hi, h.Lo)
	at, ok := r.find(b, chain, remainder)
	switch {
	case !ok:
		return filter.ErrNotFound
	case r.s.g.Counting && r.buckets[b][chain][at]&3 > 0:
		r.buckets[b][chain][at]--
	default:
		r.cut(b, chain, at)
	}
	return nil
}

func (r *reference) Count(h filter.Hash) (n uint64) {
	b, chain, remainder := r.walk.Locate(h.Hi, h.Lo)
	for _, c := range r.buckets[b][chain] {
		if c>>r.s.payload == remainder {
			n++
			if r.s.g.Counting {
				n += c & 3
			}
		}
	}
	return n
}

func (r *reference) Get(h filter.Hash) (uint64, bool) {
	b, chain, remainder := r.walk.Locate(h.Hi, h.Lo)
	at, ok := r.find(b, chain, remainder)
	if !ok || r.s.g.Counting {
		return 0, ok
	}
	return r.buckets[b][chain][at] & (1<<r.s.payload - 1), true
}

// TestReference runs the same operations on a Filter and a reference, in geometries in which all levels become full,
// and compares all results.
func TestReference(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for _, g := range []Geometry{
		{Buckets: 5, Chains: 20, Cells: [levels]int{12, 4, 6}, Pools: [levels]uint64{0, 3, 2}, Remainder: 3},
		{Buckets: 3, Chains: 150, Cells: [levels]int{70, 9, 31}, Pools: [levels]uint64{0, 2, 1}, Remainder: 2, Counting: true},
		{Buckets: 2, Chains: 280, Cells: [levels]int{190, 25, 40}, Pools: [levels]uint64{0, 1, 1}, Remainder: 5},
		{Buckets: 1, Chains: 500, Cells: [levels]int{200, 0, 0}, Remainder: 7, ValueBits: 11},
		{Buckets: 4, Chains: 33, Cells: [levels]int{17, 40, 0}, Pools: [levels]uint64{0, 3, 0}, Remainder: 1, ValueBits: 32},
		{Buckets: 7, Chains: 5, Cells: [levels]int{9, 3, 3}, Pools: [levels]uint64{0, 4, 4}, Remainder: 4, Growth: 5, Counting: true, Capacity: 1 << 40},
		{Buckets: 2, Chains: 600, Cells: [levels]int{64, 64, 64}, Pools: [levels]uint64{0, 2, 2}, Remainder: 40, ValueBits: 20},
	} {
		for seed := range uint64(rounds) {
			against(t, g, seed)
		}
	}
}

func against(t *testing.T, g Geometry, seed uint64) {
	t.Helper()
	f := ofGeometry(t, g)
	r := newReference(g)
	rng := rand.New(rand.NewPCG(seed, 1))
	keys := make([]filter.Hash, 40+rng.IntN(800))
	for i := range keys {
		keys[i] = filter.Hash{Hi: rng.Uint64(), Lo: rng.Uint64()}
	}
	adds := 4 + rng.IntN(5)
	for step := range 3000 {
		h := keys[rng.IntN(len(keys))]
		var got, want error
		switch op := rng.IntN(12); {
		case op < adds:
			got, want = f.addHash(h, &f.tally), r.Add(h)
		case op < adds+2 && g.ValueBits > 0:
			v := rng.Uint64() >> (64 - g.ValueBits)
			if got, want = f.Put(h, v), r.Put(h, v); op == adds {
				got, want = f.addValue(h, v, &f.tally), r.AddValue(h, v)
			}
		default:
			got, want = f.Remove(h), r.Remove(h)
		}
		if (got == nil) != (want == nil) || want != nil && !errors.Is(got, want) {
			t.Fatalf("%+v seed %d step %d: %v, the reference %v", g, seed, step, got, want)
		}
		if step%300 != 299 {
			continue
		}
		for i, h := range keys {
			v, ok := f.Get(h)
			rv, rok := r.Get(h)
			if v != rv || ok != rok || f.Has(h) != rok || countOf(f, h) != r.Count(h) {
				t.Fatalf("%+v seed %d step %d key %d: %d %v %v count %d, the reference %d %v count %d", g, seed, step, i, v, ok, f.Has(h), countOf(f, h), rv, rok, r.Count(h))
			}
		}
	}
	again, err := Decode(f.Encode())
	if err != nil {
		t.Fatalf("%+v seed %d: %v", g, seed, err)
	}
	if again.used != f.used || again.pools[1].used != f.pools[1].used || again.pools[2].used != f.pools[2].used {
		t.Fatalf("%+v seed %d: decoded with %d cells", g, seed, again.used)
	}
	trimmed, err := Decode(f.Trimmed().(family.Encoder).Encode())
	if err != nil {
		t.Fatalf("%+v seed %d: %v", g, seed, err)
	}
	if f, err = f.renumberExtensions(); err != nil {
		t.Fatal(err)
	}
	a, b := f.Encode(), trimmed.Encode()
	if !slices.EqualFunc(a.Sections, b.Sections, slices.Equal[[]uint64]) || a.Keys != b.Keys {
		t.Fatalf("%+v seed %d: the trimmed form comes back otherwise", g, seed)
	}
}
