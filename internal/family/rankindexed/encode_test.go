package rankindexed

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestHostile changes stored filters at random, like an attacker who also corrects the checksums. Decode must return an
// error or a filter that can be queried and changed without a panic.
func TestHostile(t *testing.T) {
	hs := filtertest.Hashes(700, 1)
	rounds := 700
	switch {
	case filtertest.Full():
		rounds = 2000
	case testing.Short():
		rounds = 200
	}
	refused, taken := 0, 0
	for _, c := range []Config{{Keys: 600}, {Keys: 600, Counting: true, Bucket: 512}, {Keys: 600, ValueBits: 20, Size: family.Sizing{FPR: 0.2}}} {
		f := made(t, c)
		for _, h := range hs {
			_ = f.Add(h)
		}
		for _, form := range []family.Encoder{f, f.Trimmed().(family.Encoder)} {
			r := rand.New(rand.NewPCG(1, 2))
			for range rounds {
				e := copied(form.Encode())
				for range 1 + r.IntN(4) {
					if s := e.Sections[r.IntN(len(e.Sections))]; len(s) > 0 {
						s[r.IntN(len(s))] ^= 1 << r.IntN(64)
					}
				}
				if r.IntN(3) == 0 {
					e.Keys += r.Uint64N(3) - 1
				}
				g, err := Decode(e)
				if err != nil {
					refused++
					continue
				}
				taken++
				for _, h := range hs[:100] {
					g.Has(h)
					g.Get(h)
					countOf(g, h)
				}
				for _, h := range hs[600:] {
					_ = g.Add(h)
				}
				for _, h := range hs {
					_ = g.Remove(h)
				}
			}
		}
	}
	if refused < rounds/4 || taken < rounds/40 {
		t.Errorf("%d refused, %d taken: the test does not try both", refused, taken)
	}
}

// TestDecodeChecks violates one rule of the format at a time.
func TestDecodeChecks(t *testing.T) {
	build := func() family.Encoded {
		f := ofGeometry(t, Geometry{Buckets: 2, Chains: 20, Cells: [levels]int{10, 6, 4}, Pools: [levels]uint64{0, 2, 1}, Remainder: 8})
		for i := range uint64(13) { // into bucket 0 and its second level
			if err := f.Add(filter.Hash{Hi: i, Lo: i << 59}); err != nil {
				t.Fatal(err)
			}
		}
		return f.Encode()
	}
	if _, err := Decode(build()); err != nil {
		t.Fatal(err)
	}
	pointer := uint64(30) // first bit of the pointer of bucket 0
	for name, c := range map[string]struct {
		change func(e *family.Encoded)
		want   error
	}{
		"one key more":                   {func(e *family.Encoded) { e.Keys++ }, errKeys},
		"an extension too far":           {func(e *family.Encoded) { e.Sections[0][0] |= 3 << pointer }, errPointer},
		"no extension":                   {func(e *family.Encoded) { e.Sections[0][0] &^= 3 << pointer }, errIndex},
		"an extension of two buckets":    {func(e *family.Encoded) { e.Sections[0][len(e.Sections[0])/2] |= 1 << pointer }, errPointer},
		"a bit behind the last cell":     {func(e *family.Encoded) { e.Sections[1][0] |= 1 << 6 }, errIndex},
		"a free extension that is not 0": {func(e *family.Encoded) { e.Sections[1][len(e.Sections[1])-1] |= 1 }, errPointer},
		"a cell that no chain leads to":  {func(e *family.Encoded) { e.Sections[0][len(e.Sections[0])/2] |= 1 << 20; e.Keys++ }, errIndex},
		"an extension that is empty":     {func(e *family.Encoded) { e.Sections[0][len(e.Sections[0])/2] |= 2 << pointer }, errIndex},
		"a bit behind all cells": {
			func(e *family.Encoded) { e.Sections[0][len(e.Sections[0])-1] |= 1 << 63 }, errUnused},
		"a cell that is not in use": {
			func(e *family.Encoded) { e.Sections[0][len(e.Sections[0])/2] |= 1 << 32 }, errUnused},
		"a bit behind an extension": {func(e *family.Encoded) { e.Sections[1][0] |= 1 << 63 }, errUnused},
	} {
		e := build()
		c.change(&e)
		if _, err := Decode(e); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, spec := range []string{
		"rankindexed(fpr=0.01)", "rankindexed(buckets=1,capacity=1,cells=0,chains=9,remainder=5)", "rankindexed(buckets=1,capacity=1,cells=5,chains=0,remainder=5)",
		"rankindexed(buckets=1,capacity=1,cells=5,chains=9,remainder=0)", "rankindexed(buckets=1,capacity=1,cells=5,chains=9,remainder=49)",
		"rankindexed(buckets=0,capacity=1,cells=5,chains=9,remainder=5)", "rankindexed(buckets=1,capacity=1,cells=5,cells2=5,chains=9,remainder=5)",
		"rankindexed(buckets=1,capacity=1,cells=5,chains=9,pool2=4,remainder=5)", "rankindexed(buckets=1,capacity=1,cells=5,cells2=1,cells3=1,chains=9,pool2=1,pool3=2,remainder=5)",
		"rankindexed(buckets=1,capacity=1,cells=5,chains=9,counting=1,remainder=5,value_bits=3)", "rankindexed(buckets=1,capacity=1,cells=5,chains=9,remainder=40,value_bits=30)",
		"rankindexed(buckets=1,capacity=1,cells=5,chains=9,remainder=5,trimmed=6)",
		"rankindexed(buckets=1,capacity=1,cells=5,chains=9,remainder=5,trimmed=01)",
		"rankindexed(buckets=1,capacity=1,cells=5,chains=9,remainder=5,trimmed=a)",
		"rankindexed(buckets=1,capacity=0,cells=5,chains=9,growth=3,remainder=5)",
		"rankindexed(buckets=1,capacity=1,cells=5,cells2=5,chains=9,growth=24,pool2=140737488355328,remainder=5)", "rankindexed(buckets=281474976710657,capacity=1,cells=5,chains=9,remainder=5)",
	} {
		s, err := filter.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := SectionWords(s); !errors.Is(err, filter.ErrConfig) && !errors.Is(err, filter.ErrTooLarge) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// TestDecodeOrder decodes chains whose remainders decrease, in the bucket, across its extension, and in the trimmed
// form.
func TestDecodeOrder(t *testing.T) {
	for _, cells := range []int{2, 1} {
		f, err := newFilter(Geometry{
			Buckets: 1, Chains: 20, Cells: [levels]int{cells, 6, 4}, Pools: [levels]uint64{0, 1, 1}, Remainder: 8,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, lo := range []uint64{1 << 54, 1 << 55} { // one chain
			if err := f.Add(filter.Hash{Lo: lo}); err != nil {
				t.Fatal(err)
			}
		}
		u := f.bucket(0)
		first, second := u.cellValue(0), u.cellValue(1)
		if first >= second {
			t.Fatalf("remainders %d and %d do not rise", first, second)
		}
		for _, form := range []family.Encoder{f, f.Trimmed().(family.Encoder)} {
			if _, err := Decode(copied(form.Encode())); err != nil {
				t.Fatal(err)
			}
		}
		u.setCell(0, second)
		u.setCell(1, first)
		for _, form := range []family.Encoder{f, f.Trimmed().(family.Encoder)} {
			if _, err := Decode(copied(form.Encode())); !errors.Is(err, errOrder) {
				t.Errorf("%s: %v, want %v", form.Encode().Spec, err, errOrder)
			}
		}
	}
}

// copied returns e with copies of its sections.
func copied(e family.Encoded) family.Encoded {
	e.Sections = slices.Clone(e.Sections)
	for i := range e.Sections {
		e.Sections[i] = slices.Clone(e.Sections[i])
	}
	return e
}

// TestTrimChecks decodes trimmed filters that were truncated or extended.
func TestTrimChecks(t *testing.T) {
	f := ofGeometry(t, Geometry{Capacity: 30, Buckets: 2, Chains: 20, Cells: [levels]int{20, 6, 4}, Pools: [levels]uint64{0, 2, 1}, Remainder: 8})
	addAll(t, f, filtertest.Hashes(25, 1))
	e := f.Trimmed().(family.Encoder).Encode()
	if _, err := Decode(e); err != nil {
		t.Fatal(err)
	}
	if e.Sections[0][len(e.Sections[0])-1]>>63 != 0 {
		t.Fatal("the last bit is in use: choose another number of keys")
	}
	last := slices.Clone(e.Sections[0])
	last[len(last)-1] |= 1 << 63
	if _, err := Decode(family.Encoded{Spec: e.Spec, Keys: e.Keys, Sections: [][]uint64{last}}); !errors.Is(err, errIndex) {
		t.Errorf("a bit behind the end: %v", err)
	}
	ones := slices.Clone(e.Sections[0])
	for i := range ones {
		ones[i] = ^uint64(0)
	}
	for _, words := range [][]uint64{ones, make([]uint64, len(ones))} {
		if _, err := Decode(family.Encoded{Spec: e.Spec, Keys: e.Keys, Sections: [][]uint64{words}}); !errors.Is(err, errIndex) && !errors.Is(err, errPointer) {
			t.Errorf("%x: %v", words[0], err)
		}
	}
	// Exactly the bits of the first index, and fewer bits than its cells need.
	g := f.g
	g.Buckets, g.Pools = 1, [levels]uint64{}
	g.Cells[1], g.Cells[2] = 0, 0
	for cells := range uint64(4) {
		words := make([]uint64, g.trimmedWords(cells))
		words[0] = 0b1111 // four cells
		_, err := Decode(family.Encoded{Spec: g.Spec().With("trimmed", cells), Keys: cells, Sections: [][]uint64{words}})
		if !errors.Is(err, errIndex) {
			t.Errorf("four cells where there are bits of %d: %v", cells, err)
		}
	}
}

// TestWrittenIsRead changes filters of random geometries in every way: by one and by many goroutines, while they
// double, with colliding keys, and beyond the capacity. Decode must accept what Encode writes at any time. A run tests
// a third of the geometries.
func TestWrittenIsRead(t *testing.T) {
	runs := filtertest.Third(t, testing.Short())
	rounds := uint64(300)
	if testing.Short() {
		rounds = 30
	}
	for seed := range rounds {
		if !runs() {
			continue
		}
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
		if f, err = f.renumberExtensions(); err != nil {
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

// changeOften changes a filter at random. A full filter and an absent key are not errors here.
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
