package ribbon

import (
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestLayers requires that the layers and the tail hold all keys, and none of them more than its slots.
func TestLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 100, 5000, 100_000} {
		hs := make([]filter.Hash, n)
		for i := range hs {
			hs[i] = filter.Hash{Hi: r.Uint64(), Lo: r.Uint64()}
		}
		b, err := NewBuilder(Config{R: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.AddMany(hs); err != nil {
			t.Fatal(err)
		}
		built, err := b.Build(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := built.(*Filter)
		counts, all := f.Layers(hs), uint64(0)
		for i, keys := range counts {
			all += keys
			// A dependent equation that happens to hold takes no slot: with one bit that is every second one.
			if room := f.room(i); float64(keys) > 1.05*float64(room)+20 {
				t.Errorf("%d keys: part %d has %d in %d slots", n, i, keys, room)
			}
		}
		if all != uint64(n) || len(counts) != len(f.layers)+1 {
			t.Errorf("%d keys: %v", n, counts)
		}
	}
}

// room returns the slots of a layer or, for the number after the last layer, of the tail.
func (f *Filter) room(i int) uint64 {
	if i == len(f.layers) {
		return f.slots
	}
	return f.layers[i].blocks * 64
}
