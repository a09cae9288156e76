package hashes

import (
	"slices"
	"testing"
)

// TestList appends in steps of many lengths, to lists that reuse each other's blocks.
func TestList(t *testing.T) {
	var pool Pool[uint32]
	for round := range 3 {
		for _, total := range []int{0, 1, 1000, pool.Len() / few, pool.Len(), pool.Len() + 1, 3*pool.Len() + 5} {
			l := List[uint32]{Pool: &pool}
			var want []uint32
			for step := 1; len(want) < total; step = step*3 + 1 {
				n := min(step, total-len(want))
				room := l.Next(n)
				if len(room) == 0 || len(room) > n {
					t.Fatalf("room for %d of %d values", len(room), n)
				}
				for i := range room {
					room[i] = uint32(len(want)*7 + round)
					want = append(want, room[i])
				}
			}
			if got := slices.Concat(l.Blocks...); !slices.Equal(got, want) || l.Len() != uint64(total) {
				t.Fatalf("%d values, Len %d, want %d", len(got), l.Len(), total)
			}
			for i, b := range l.Blocks {
				if i < len(l.Blocks)-1 && len(b) != pool.Len() || cap(b) > 2*pool.Len() {
					t.Errorf("block %d of %d has %d values, and room for %d", i, len(l.Blocks), len(b), cap(b))
				}
			}
			l.Free()
			if l.Len() != 0 || len(l.Blocks) != 0 {
				t.Error("not empty after Free")
			}
		}
	}
}

// TestShortLists checks that a short list needs little memory, and that its block is not kept.
func TestShortLists(t *testing.T) {
	var pool Pool[uint64]
	l := List[uint64]{Pool: &pool}
	l.Next(100)
	if room := cap(l.Blocks[0]); room > 200 {
		t.Errorf("room for %d values", room)
	}
	l.Free()
	if block := pool.Grow(nil, 1, true); cap(block) > 1 {
		t.Errorf("a block of %d values", cap(block))
	}
}
