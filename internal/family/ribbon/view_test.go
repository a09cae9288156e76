package ribbon

import (
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestViewValid wants ViewOf and Valid to refuse the same geometries.
func TestViewValid(t *testing.T) {
	for _, v := range []*View{
		{}, {R: 8, W: 64}, {R: 0, W: 64, Tail: 3}, {R: 33, W: 64, Tail: 3}, {R: 8, W: 65, Tail: 3},
		{R: 8, W: 64, Tail: 257}, {R: 8, W: 64, Tail: 3, Wide: 1024}, {R: 32, W: 64, Tail: 3, Wide: 1},
		{R: 8, W: 64, Tail: 3, Seed: 1}, {R: 8, W: 64, Tail: 3, Layers: 1}, {R: 8, W: 64, Tail: 3, Layers: 17},
		{R: 8, W: 64, Tail: 3, Layers: 1, Starts: [MaxLayers]uint64{65}},
		{R: 8, W: 64, Tail: 3, Layers: 1, Starts: [MaxLayers]uint64{1 << 60}},
	} {
		if v.Valid() {
			t.Errorf("%+v is valid", v)
		}
	}
	for _, text := range []string{
		"ribbon", "ribbon(r=8,w=64)", "ribbon(r=8,tail=3,value_bits=1,w=64)", "ribbon(r=8,starts=65,w=64)",
	} {
		s, err := filter.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ViewOf(s); err == nil {
			t.Errorf("a view of %s", text)
		}
	}
}
