package fuse

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestView compares the view of filters of many geometries with the filters.
func TestView(t *testing.T) {
	for _, spec := range []string{
		"fuse(width=8)", "fuse(width=16)", "fuse(width=1)", "fuse(width=7)", "fuse(width=13)", "fuse(width=32)",
	} {
		for _, n := range []int{1, 2, 20, 3000} {
			f := viewed(t, spec, n)
			keys := filtertest.Hashes(n, 1)
			v, err := ViewOf(f.Encode().Spec)
			if err != nil || !v.Valid() {
				t.Fatalf("%v: view %+v, %v", f.Encode().Spec, v, err)
			}
			filtertest.View(t, f, keys, []uint64{v.Bytes()}, func(s [][]byte, h filter.Hash) bool { return v.Has(s[0], h) })
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

// TestViewValid wants ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {Segment: 4, Segments: 1}, {Segment: 3, Segments: 1, Width: 8}, {Segment: 4, Width: 8},
		{Segment: 1 << 19, Segments: 1, Width: 8}, {Segment: 4, Segments: 1<<30 + 1, Width: 8},
		{Segment: 4, Segments: 1, Width: 33},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	for _, s := range []filter.Spec{family.NewSpec("fuse"), newEmpty(8).Spec} {
		if _, err := ViewOf(s); err == nil {
			t.Errorf("a view of %v, which is not built or has no keys", s)
		}
	}
}
