package blockpartitioned

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestView compares the view of filters of many geometries with the filters.
func TestView(t *testing.T) {
	for _, spec := range []string{
		"blockpartitioned(bits_per_key=10,effort=fast)", "blockpartitioned(bits_per_key=2,effort=fast)",
		"blockpartitioned(bits_per_key=6,effort=fast)", "blockpartitioned(bits_per_key=14,effort=fast)",
		"blockpartitioned(bits_per_key=24,effort=fast)", "blockpartitioned(bits_per_key=40,effort=fast)",
		"blockpartitioned(bits_per_key=10,block=1024,effort=fast)",
		"blockpartitioned(bits_per_key=32,block=1024,effort=fast)",
	} {
		for _, n := range []int{0, 1, 20, 3000} {
			f := viewed(t, spec, n)
			keys := filtertest.Hashes(n, 1)
			v, err := ViewOf(f.Encode().Spec)
			if err != nil {
				t.Fatal(err)
			}
			filtertest.View(t, f, keys, []uint64{v.Bytes()}, func(s [][]byte, h filter.Hash) bool { return v.Has(s[0], h) })
			other, ok := NewView(f.block, f.groups, f.k, f.width)
			if !ok {
				t.Fatalf("%v: not a blockGeometry", f.blockGeometry)
			}
			filtertest.View(t, f, keys, []uint64{v.Bytes()}, func(s [][]byte, h filter.Hash) bool {
				v := other.Resize(s[0][:v.Bytes()])
				offset, length := v.Block(h)
				return v.HasBlock(s[0][offset:][:length], h)
			})
		}
	}
}

func viewed(t *testing.T, spec string, n int) *Filter {
	t.Helper()
	s, err := filter.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ConfigFromSpec(s, uint64(n))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddMany(filtertest.Hashes(n, 1)); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f.(*Filter)
}

// TestViewShapes wants NewView to refuse geometries that no filter has.
func TestViewShapes(t *testing.T) {
	for _, s := range []blockGeometry{
		{}, {512, 1, 7, 0}, {768, 4, 8, 5}, {512, 4, 65, 5}, {512, 4, 8, 6}, {512, 13, 8, 5}, {512, 4, -8, -5},
		{512, 1 << 60, 8, 5}, {512, 1<<64 - 1, 8, 5}, {512, 0, 8, 5},
	} {
		if v, ok := NewView(s.block, s.groups, s.k, s.width); ok {
			t.Errorf("%+v: a view of %d bytes", s, v.Bytes())
		}
	}
	if _, err := ViewOf(family.NewSpec("blockpartitioned")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
