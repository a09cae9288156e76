package hashes

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// TestSortPages sorts arrays that end at and near the ends of pages, with one worker and with many. Then it sorts them
// again with further hashes, some of which are duplicates.
func TestSortPages(t *testing.T) {
	sizes := []int{chunkLen + pageLen, roomLen*2 + 5, chunkLen + 1, chunkLen + 2*pageLen - 1}
	if testing.Short() {
		sizes = sizes[1:2]
	}
	for _, in := range inputs {
		for _, n := range sizes {
			hs := input(12, in.make, n)
			more := append(input(13, in.make, pageLen+3), hs[:pageLen]...)
			want := slices.Concat(hs, more)
			slices.SortFunc(want, compare)
			for _, workers := range []int{1, 2, 7} {
				if workers != 2 && n != chunkLen+pageLen {
					continue // to save time
				}
				var a array
				a.addHashes(hs, 0)
				for _, all := range [][]filter.Hash{nil, more} {
					a.addHashes(all, 0)
					if _, err := a.sortHashes(t.Context(), workers); err != nil {
						t.Fatal(err)
					}
				}
				wantArray(t, &a, want, "%s, %d hashes, %d workers", in.name, n, workers)
				pages := map[*page]bool{}
				for _, p := range a.pages {
					pages[p] = true
				}
				if len(pages) != len(a.pages) {
					t.Errorf("%s, %d hashes: a page is used twice", in.name, n)
				}
			}
		}
	}
}

// TestSortPagesAgain requires that repeated sorting reuses the same pages.
func TestSortPagesAgain(t *testing.T) {
	hs := input(14, inputs[0].make, 4*chunkLen)
	var a array
	for range 5 {
		a.n = 0
		a.addHashes(hs, 0)
		if _, err := a.sortHashes(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	// One page for each bucket and worker, one for each bucket, and the pages that a worker allocates in advance.
	if most := 4*chunkLen/pageLen + 32*4 + 3*freshLen; len(a.pages) > most {
		t.Errorf("%d pages after five times, want at most %d", len(a.pages), most)
	}
}

// TestDuplicates adds hashes twice, far apart, so that different workers spread them.
func TestDuplicates(t *testing.T) {
	hs := input(15, inputs[0].make, 2*chunkLen)
	k := NewSorted(Config{Workers: 3})
	defer k.Close()
	for range 2 {
		check(t, k.AddMany(hs))
	}
	want := ordered(hs)
	if n, err := k.Finish(t.Context()); n != uint64(len(want)) || err != nil {
		t.Errorf("%d hashes, %v; want %d", n, err, len(want))
	}
	wantPieces(t, pieces(t, k, parts["many"]), want, parts["many"])
}

// TestParts reads parts in several goroutines, also after Close.
func TestParts(t *testing.T) {
	hs := input(16, inputs[0].make, 3*chunkLen)
	want := ordered(hs)
	for _, memory := range []int64{0, chunkLen * hashSize} {
		k := NewSorted(Config{Memory: memory, Dir: t.TempDir()})
		check(t, k.AddMany(hs))
		if _, err := k.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		part := parts["many"]
		var all []Part
		check(t, k.Parts(t.Context(), part, func(p Part) error { all = append(all, p); return nil }))
		check(t, k.Close())
		got := make([]piece, len(all))
		var wg sync.WaitGroup
		for i, p := range all {
			wg.Go(func() {
				got[i].part = p.Number
				for hs := range p.Pieces() {
					got[i].keys = append(got[i].keys, hs...)
				}
				if len(got[i].keys) != p.Len() {
					t.Errorf("part %d: %d hashes, want %d", i, len(got[i].keys), p.Len())
				}
			})
		}
		wg.Wait()
		wantPieces(t, got, want, part)
	}
}

// TestChange changes gathered hashes to another order and back, in arrays of one slice and of pages.
func TestChange(t *testing.T) {
	turn := func(by int) func(filter.Hash) filter.Hash {
		return func(h filter.Hash) filter.Hash { return filter.Hash{Hi: bits.RotateLeft64(h.Hi, by), Lo: h.Lo} }
	}
	for _, n := range []int{0, 1, 5000, chunkLen + 1, 3*chunkLen + 7} {
		hs := ordered(input(17, inputs[0].make, n))
		for _, workers := range []int{1, 3} {
			k := NewSorted(Config{Workers: workers})
			wantError(t, k.Change(t.Context(), turn(1)), "before Finish")
			check(t, k.AddMany(hs))
			if _, err := k.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, by := range []int{20, 44} {
				check(t, k.Change(t.Context(), turn(by)))
				want := slices.Clone(hs)
				for i, h := range hs {
					want[i] = turn(by % 44)(h)
				}
				slices.SortFunc(want, compare)
				wantPieces(t, pieces(t, k, parts["many"]), want, parts["many"])
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := k.Change(ctx, turn(3)); err != context.Canceled {
				t.Errorf("Change with a context that has ended: %v", err)
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
			wantError(t, k.Change(t.Context(), turn(1)), "canceled")
		}
	}
	k := NewSorted(Config{Memory: 1, Dir: t.TempDir()})
	defer k.Close()
	check(t, k.AddMany(input(18, inputs[0].make, 5000)))
	if _, err := k.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantError(t, k.Change(t.Context(), turn(1)), "file")
}
