package blocked

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestView compares the view of filters of many geometries with the filters.
func TestView(t *testing.T) {
	for _, spec := range []string{
		"blocked(bits_per_key=10)", "blocked(bits_per_key=1)", "blocked(bits_per_key=8,layout=split)",
		"blocked(bits_per_key=16)",
		"blocked(bits_per_key=24,k=14)", "blocked(bits_per_key=30,k=32)", "blocked(bits_per_key=12,k=8)",
	} {
		for _, n := range []int{0, 1, 20, 3000} {
			f := viewed(t, spec, n)
			keys := filtertest.Hashes(n, 1)
			v, err := ViewOf(f.Encode().Spec)
			if err != nil {
				t.Fatal(err)
			}
			filtertest.View(t, f, keys, []uint64{v.Bytes()}, func(s [][]byte, h filter.Hash) bool { return v.Has(s[0], h) })
			other, ok := NewView(f.layout(), f.k)
			if !ok {
				t.Fatalf("%v: not a layout", f.spec())
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

// TestViewLayouts wants NewView to refuse what no filter has.
func TestViewLayouts(t *testing.T) {
	for _, c := range []struct {
		layout Layout
		k      int
	}{{"", 7}, {Line, 0}, {Line, -1}, {Line, MaxK + 1}, {Split, 7}, {Split, 9}, {"lines", 8}} {
		if _, ok := NewView(c.layout, c.k); ok {
			t.Errorf("a view of layout %q with k=%d", c.layout, c.k)
		}
	}
	if _, err := ViewOf(family.NewSpec("blocked")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
