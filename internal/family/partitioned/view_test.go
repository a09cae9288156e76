package partitioned

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestView compares the view of filters of many geometries with the filters.
func TestView(t *testing.T) {
	for _, spec := range []string{
		"partitioned(bits_per_key=10,effort=fast)", "partitioned(bits_per_key=2,effort=fast)",
		"partitioned(bits_per_key=5,effort=fast)", "partitioned(bits_per_key=16,effort=fast)",
		"partitioned(bits_per_key=8,effort=fast,later=500)", "partitioned(bits_per_key=40,effort=fast)",
	} {
		for _, n := range []int{1, 100, 3000, 20_000} {
			f := viewed(t, spec, n)
			keys := filtertest.Hashes(n, 1)
			v, err := ViewOf(f.Encode().Spec)
			if err != nil || !v.Valid() {
				t.Fatalf("%v: view %+v, %v", f.Encode().Spec, v, err)
			}
			bitmap, shifts := v.Bytes()
			filtertest.View(t, f, keys, []uint64{bitmap, shifts}, func(s [][]byte, h filter.Hash) bool {
				return v.Has(s[0], s[1], h)
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

// TestViewValid wants ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {Shards: 1, Groups: 1, K: 1, Width: 5, Bits: 31}, {Shards: 1, Groups: 2, K: 1, Bits: 31},
		{Groups: 1, K: 1, Bits: 64},
		{Shards: 1, Groups: 1, K: 65, Bits: 64}, {Shards: 2, Groups: 1, K: 1, Bits: 64}, {Shards: 1, K: 1, Bits: 64},
		{Shards: 1, Groups: 1, K: 1, Bits: 1 << 32}, {Shards: 1 << 30, Groups: 1, K: 1, Width: 5, Bits: 1 << 30},
		{Shards: 1, Groups: 1, K: 1, Width: 6, Bits: 64}, {Shards: 1, Groups: 1, K: 1, Width: -1, Bits: 64},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	if _, err := ViewOf(family.NewSpec("partitioned")); err == nil {
		t.Error("a view of a filter that is not built")
	}
}
