package except

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// few is a filter that contains all members and one of 16 other keys.
type few struct{ members map[filter.Hash]bool }

func (f few) Has(h filter.Hash) bool { return f.members[h] || h.Hi>>60 == 7 }
func (f few) Info() filter.Info      { return filter.Info{Keys: uint64(len(f.members)), Bits: 8} }

// hashes returns n random hashes.
func hashes(r *rand.Rand, n int) []filter.Hash {
	hs := make([]filter.Hash, n)
	for i := range hs {
		hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	return hs
}

// built returns the exceptions of members for a list, and the filter.
func built(t *testing.T, members, list []filter.Hash, like []Size) (*Cascade, *Filter) {
	t.Helper()
	main := few{map[filter.Hash]bool{}}
	for _, h := range members {
		main.members[h] = true
	}
	b := NewBuilder(main, uint64(len(members)), like)
	if err := errors.Join(b.Allow(list, nil), b.Members(members)); err != nil {
		t.Fatal(err)
	}
	c, err := b.Build(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f := New(main, c)
	for i, hs := range [][]filter.Hash{list, members} {
		many := make([]bool, len(hs))
		f.HasMany(many, hs)
		for j, h := range hs {
			if want := i == 1; f.Has(h) != want || many[j] != want {
				t.Fatalf("%d members, list of %d: key %d of %v is present: %t", len(members), len(list), j, want, !want)
			}
		}
	}
	return c, f
}

// TestCost compares the size with the documented equation, for any ratio of members to exceptions.
func TestCost(t *testing.T) {
	for _, n := range [][3]int{ // members, exceptions, most bits per exception
		{0, 100, 200}, {1, 10, 100}, {133_604, 1000, 17}, {133_604, 10_000, 10}, {10_000, 10_000, 5},
		{1000, 100_000, 2},
		{100_000, 1, 500}, {3, 3, 150}, {64, 64, 25},
	} {
		r := rand.New(rand.NewPCG(uint64(n[0]), uint64(n[1])))
		list := hashes(r, n[1])
		for i := range list {
			list[i].Hi = list[i].Hi<<4>>4 | 7<<60
		}
		c, _ := built(t, hashes(r, n[0]), list, nil)
		bits := float64(c.Bits()) / float64(n[1])
		t.Logf("%d members, %d exceptions: %d levels, %.2f bits an exception", n[0], n[1], len(c.levels), bits)
		if bits > float64(n[2]) || c.Exceptions() != uint64(n[1]) {
			t.Errorf("%d members: %d exceptions with %.2f bits each, want %d at most", n[0], c.Exceptions(), bits, n[2])
		}
	}
}

// TestPlanWrong uses a plan for other numbers of keys. Further levels must follow until no key is left.
func TestPlanWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tiny := range [][]Size{{{1, 1}}, {{1, 1}, {1, 1}, {1, 1}}, {{1, 64}}, {{9, 2}, {1, 1}}} {
		main := few{map[filter.Hash]bool{}}
		list, members := hashes(r, 20_000), hashes(r, 2000)
		for _, h := range members {
			main.members[h] = true
		}
		b := NewBuilder(main, 1, nil)
		if err := b.Allow(list, nil); err != nil {
			t.Fatal(err)
		}
		if err := b.beginLevels(); err != nil {
			t.Fatal(err)
		}
		b.sizes, b.words = tiny, nil
		var err error
		if b.first, err = b.addLevel(tiny[0], maps.Keys(b.found)); err != nil {
			t.Fatal(err)
		}
		if err := b.Members(members); err != nil {
			t.Fatal(err)
		}
		c, err := b.Build(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f := New(main, c)
		lost := func(h filter.Hash) bool { return !f.Has(h) }
		if slices.ContainsFunc(list, f.Has) || slices.ContainsFunc(members, lost) {
			t.Errorf("levels %v: a wrong answer", c.Sizes())
		}
		if len(c.levels) < 3 {
			t.Errorf("levels %v, want more", c.Sizes())
		}
	}
}

// TestLike compares the sizes of a chain of versions, each like the one before.
func TestLike(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	members, list := hashes(r, 30_000), hashes(r, 40_000)
	c, _ := built(t, members, list, nil)
	first := c.Sizes()
	for day := range 20 {
		copy(members[50*day:], hashes(r, 60))
		copy(list[80*day:], hashes(r, 100))
		c, _ = built(t, members, list, c.Sizes())
		if fmt.Sprint(c.Sizes()) != fmt.Sprint(first) {
			t.Fatalf("day %d: levels %v, on the first day %v", day, c.Sizes(), first)
		}
	}
	c, _ = built(t, members[:10_000], list, first)
	if fmt.Sprint(c.Sizes()) == fmt.Sprint(first) {
		t.Errorf("a third of the members: the same levels %v", first)
	}
}

// TestBoth checks that a hash that belongs to both a member and a key of the list is an error.
func TestBoth(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	members, list := hashes(r, 100), hashes(r, 100)
	list[3], list[4], list[5] = members[9], members[9], members[7]
	b := NewBuilder(few{map[filter.Hash]bool{members[9]: true, members[7]: true}}, 100, nil)
	names := func(i int) string { return fmt.Sprintf("key %d", i) }
	if err := errors.Join(b.Allow(list, names), b.Members(members)); err != nil {
		t.Fatal(err)
	}
	if seen, missing := b.Seen(); seen != 100 || missing < 50 {
		t.Errorf("%d members, %d not in the filter", seen, missing)
	}
	if err := b.Allow(list, names); err == nil {
		t.Error("a list after the members")
	}
	_, err := b.Build(context.Background())
	var both *filter.AllowedError
	if !errors.As(err, &both) || fmt.Sprint(both.Keys) != "[key 3 key 5]" {
		t.Errorf("%v", err)
	}
}

// TestDecode checks that every inconsistent section and every truncated section is refused.
func TestDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	c, f := built(t, hashes(r, 3000), hashes(r, 3000), nil)
	for n := range c.words {
		if _, err := Decode(c.words[:n]); err == nil {
			t.Errorf("%d of %d words are accepted", n, len(c.words))
		}
	}
	for at := range headWords + len(c.levels) {
		for bit := range 64 {
			words := slices.Clone(c.words)
			words[at] ^= 1 << bit
			d, err := Decode(words)
			if err != nil {
				continue
			}
			for _, h := range hashes(r, 10) { // any answer, no panic
				d.Has(h)
			}
			if at == 0 || at >= headWords && bit < probeShift {
				t.Errorf("word %d with bit %d inverted is accepted", at, bit)
			}
		}
	}
	copied, err := c.Clone()
	if err != nil || !slices.Equal(copied.words, c.words) || &copied.words[0] == &c.words[0] {
		t.Errorf("a clone differs or shares memory: %v", err)
	}
	if i := f.Info(); i.Bits != 8+c.Bits() || i.Allowed != 3000 || i.Exceptions != c.Exceptions() {
		t.Errorf("Info %+v", i)
	}
}
