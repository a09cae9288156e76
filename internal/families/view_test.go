package families

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/ribbon"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// hasIn answers a query of a stored filter from its sections.
type hasIn func(sections [][]byte, h filter.Hash) bool

// views lists the specs and numbers of keys that TestView tests. of returns the number of bytes in use of each section
// and the forms of queries of a built filter with the Spec.
var views = []struct {
	specs []string
	keys  []int
	of    func(s filter.Spec) (used []uint64, forms []hasIn, err error)
}{
	{[]string{
		"blocked(bits_per_key=10)", "blocked(bits_per_key=1)", "blocked(bits_per_key=8,layout=split)",
		"blocked(bits_per_key=16)",
		"blocked(bits_per_key=24,k=14)", "blocked(bits_per_key=30,k=32)", "blocked(bits_per_key=12,k=8)",
	}, []int{0, 1, 20, 3000}, func(s filter.Spec) ([]uint64, []hasIn, error) {
		v, err := blocked.ViewOf(s)
		if err != nil {
			return nil, nil, err
		}
		layout, _ := s.Param("layout")
		other, ok := blocked.NewView(blocked.Layout(layout), int(family.Reader(s).Uint("k")))
		if !ok {
			err = fmt.Errorf("%s: not a layout", s)
		}
		return []uint64{v.Bytes()}, []hasIn{
			func(b [][]byte, h filter.Hash) bool { return v.Has(b[0], h) },
			func(b [][]byte, h filter.Hash) bool {
				v := other.Resize(b[0][:v.Bytes()])
				offset, length := v.Block(h)
				return v.HasBlock(b[0][offset:][:length], h)
			},
		}, err
	}},
	{[]string{
		"fuse(width=8)", "fuse(width=16)", "fuse(width=1)", "fuse(width=7)", "fuse(width=13)", "fuse(width=32)",
	}, []int{1, 2, 20, 3000}, func(s filter.Spec) ([]uint64, []hasIn, error) {
		v, err := fuse.ViewOf(s)
		if err == nil && !v.Valid() {
			err = fmt.Errorf("%+v is not valid", v)
		}
		return []uint64{v.Bytes()}, []hasIn{func(b [][]byte, h filter.Hash) bool { return v.Has(b[0], h) }}, err
	}},
	{[]string{
		"partitioned(bits_per_key=10,effort=fast)", "partitioned(bits_per_key=2,effort=fast)",
		"partitioned(bits_per_key=5,effort=fast)", "partitioned(bits_per_key=16,effort=fast)",
		"partitioned(bits_per_key=8,effort=fast,later=500)", "partitioned(bits_per_key=40,effort=fast)",
	}, []int{1, 100, 3000, 20_000}, func(s filter.Spec) ([]uint64, []hasIn, error) {
		v, err := partitioned.ViewOf(s)
		if err == nil && !v.Valid() {
			err = fmt.Errorf("%+v is not valid", v)
		}
		bitmap, shifts := v.Bytes()
		return []uint64{bitmap, shifts}, []hasIn{
			func(b [][]byte, h filter.Hash) bool { return v.Has(b[0], b[1], h) },
		}, err
	}},
	{[]string{
		"blockpartitioned(bits_per_key=10,effort=fast)", "blockpartitioned(bits_per_key=2,effort=fast)",
		"blockpartitioned(bits_per_key=6,effort=fast)", "blockpartitioned(bits_per_key=14,effort=fast)",
		"blockpartitioned(bits_per_key=24,effort=fast)", "blockpartitioned(bits_per_key=40,effort=fast)",
		"blockpartitioned(bits_per_key=10,block=1024,effort=fast)",
		"blockpartitioned(bits_per_key=32,block=1024,effort=fast)",
	}, []int{0, 1, 20, 3000}, func(s filter.Spec) ([]uint64, []hasIn, error) {
		v, err := blockpartitioned.ViewOf(s)
		if err != nil {
			return nil, nil, err
		}
		r := family.Reader(s)
		other, ok := blockpartitioned.NewView(r.Uint("block"), r.Uint("groups"), int(r.Uint("k")), int(r.Uint("width")))
		if !ok {
			err = fmt.Errorf("%s: not a geometry of blocks", s)
		}
		return []uint64{v.Bytes()}, []hasIn{
			func(b [][]byte, h filter.Hash) bool { return v.Has(b[0], h) },
			func(b [][]byte, h filter.Hash) bool {
				v := other.Resize(b[0][:v.Bytes()])
				offset, length := v.Block(h)
				return v.HasBlock(b[0][offset:][:length], h)
			},
		}, err
	}},
	{[]string{
		"ribbon(r=8)", "ribbon(r=1,w=128)", "ribbon(fpr=0.01)", "ribbon(r=32)", "ribbon(bits_per_key=5.3,w=128)",
		"ribbon(r=31,wide=1000)",
	}, []int{1, 20, 300, 3000, 70_000}, func(s filter.Spec) ([]uint64, []hasIn, error) {
		v, err := ribbon.ViewOf(s)
		solution, classes, tail := v.Bytes()
		return []uint64{solution, classes, tail}, []hasIn{
			func(b [][]byte, h filter.Hash) bool { return v.Has(b[0], b[1], b[2], h) },
		}, err
	}},
}

// TestView compares views of stored filters of many geometries with the filters.
func TestView(t *testing.T) {
	for _, v := range views {
		if testing.Short() {
			v.keys = v.keys[:min(4, len(v.keys))]
		}
		for _, text := range v.specs {
			f, s := parse(t, text)
			for _, n := range v.keys {
				t.Run(fmt.Sprintf("%s/n=%d", text, n), func(t *testing.T) {
					keys := filtertest.Hashes(n, 1)
					built := build(t, f, s, keys)
					used, forms, err := v.of(family.SpecOf(built))
					if err != nil {
						t.Fatal(err)
					}
					for _, has := range forms {
						compareView(t, built, keys, used, has)
					}
				})
			}
		}
	}
}

// compareView compares a query of the sections of a filter with the filter, for its keys and for other keys, at every
// alignment. The query must not allocate. Each section consists of the bytes in use and 8 more bytes, which a query may
// read.
func compareView(t *testing.T, f family.Filter, keys []filter.Hash, used []uint64, has hasIn) {
	e := f.(family.Encoder).Encode()
	hs := append(filtertest.Hashes(20_000, 71), keys...)
	for i := range 1000 {
		edge := [...]uint64{0, 1, 1 << 63, math.MaxUint64, math.MaxUint32}
		hs[i].Hi = edge[i%5]
		if i%2 == 0 {
			hs[i].Lo = edge[i/2%5]
		}
	}

	present := 0
	for skip := range 9 {
		sections := make([][]byte, len(used))
		for i, n := range used {
			if bytes := 8 * uint64(len(e.Sections[i])); n > bytes {
				t.Fatalf("section %d uses %d bytes of %d", i, n, bytes)
			}
			b := make([]byte, skip)
			for _, w := range e.Sections[i] {
				b = binary.LittleEndian.AppendUint64(b, w)
			}
			b = append(b[:skip+int(n):skip+int(n)], 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5)
			sections[i] = b[skip:]
		}
		asked := hs
		if skip > 0 { // the alignment affects how words are read, not which words
			asked = append(hs[:3000:3000], keys...)
		}
		for _, h := range asked {
			want := f.Has(h)
			if got := has(sections, h); got != want {
				t.Fatalf("%v, %d bytes off, hash %x: %v, want %v", e.Spec, skip, h, got, want)
			}
			if want {
				present++
			}
		}
		if n := testing.AllocsPerRun(100, func() { has(sections, hs[0]) }); n != 0 {
			t.Fatalf("%v: %v allocations per query", e.Spec, n)
		}
	}
	if present < 9*len(keys) {
		t.Fatalf("%v: %d of %d keys are present", e.Spec, present, 9*len(keys))
	}
}
