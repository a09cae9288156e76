package hashes

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestForms gathers hashes in another form, with and without their duplicates, in memory and in a file.
func TestForms(t *testing.T) {
	hs := input(11, inputs[0].make, 30_000)
	hs = append(hs, hs[:10_000]...)
	hs = append(hs, slices.Repeat(hs[:1], 5000)...) // more copies than a run holds
	for name, form := range map[string]func(filter.Hash) filter.Hash{
		"none": nil,
		"turn": func(h filter.Hash) filter.Hash { return filter.Hash{Hi: bits.RotateLeft64(h.Hi, 32), Lo: h.Lo} },
		"less": func(h filter.Hash) filter.Hash { return filter.Hash{Hi: h.Lo >> 52} },
	} {
		formed := slices.Clone(hs)
		for i, h := range hs {
			if form != nil {
				formed[i] = form(h)
			}
		}
		slices.SortFunc(formed, compare)
		for _, copies := range []bool{false, true} {
			want := formed
			if !copies {
				want = ordered(formed)
			}
			for _, memory := range []int64{0, 16 * 1000, 16 * 44_999} {
				t.Run(fmt.Sprintf("%s/copies=%v/memory=%d", name, copies, memory), func(t *testing.T) {
					testForm(t, Config{Memory: memory, Dir: t.TempDir(), Copies: copies, Form: form}, hs, want)
				})
			}
		}
	}
}

func testForm(t *testing.T, c Config, hs, want []filter.Hash) {
	k := NewSorted(c)
	defer k.Close()
	for batch := range slices.Chunk(hs, 777) {
		given := slices.Clone(batch)
		if err := k.AddMany(batch); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(batch, given) {
			t.Fatal("AddMany changes the hashes of its caller")
		}
	}
	if n, err := k.Finish(t.Context()); n != uint64(len(want)) || err != nil {
		t.Errorf("Finish: %d, %v; want %d", n, err, len(want))
	}
	if n := k.Added(); n != uint64(len(hs)) {
		t.Errorf("%d hashes were added, want %d", n, len(hs))
	}
	for _, part := range parts {
		wantPieces(t, pieces(t, k, part), want, part)
	}
}
