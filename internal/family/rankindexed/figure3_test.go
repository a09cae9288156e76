package rankindexed

import (
	"strings"
	"testing"

	"github.com/bloomery/bloomery/filter"
)

// figure3 is the bucket of Figure 3 of the paper: L = 8 chains and Z = 12 cells of 7 bits. Section III.A gives the
// ranks on the way to the fingerprint 1010101 in chain 7 and the length of the longest chain, 3. The other fingerprints
// are ours, in the order in which our cells are sorted.
var figure3 = [8][]uint64{
	1: {0b0001100},
	4: {0b0100111, 0b1110000},
	6: {0b0010110, 0b0111001, 0b1010101},
	7: {0b0000001, 0b1011110},
}

// TestFigure3 follows the chain of Figure 3 from rank to rank.
func TestFigure3(t *testing.T) {
	f := ofGeometry(t, Geometry{
		Capacity: 12, Buckets: 1, Chains: 8, Cells: [levels]int{12}, Remainder: 7,
	})
	hashOf := func(chain, remainder uint64) filter.Hash { return filter.Hash{Lo: chain<<61 | remainder<<54} }
	for chain, remainders := range figure3 {
		for _, r := range remainders {
			h := hashOf(uint64(chain), r)
			if b, c, got := f.walk.Locate(h.Hi, h.Lo); b != 0 || c != uint64(chain) || got != r {
				t.Fatalf("chain %d, remainder %07b: located at %d, %d, %07b", chain, r, b, c, got)
			}
			if err := f.Add(h); err != nil {
				t.Fatal(err)
			}
		}
	}

	// The parts I0 to I3 of the index, whose sizes are popcounts of the part before, and the room that is left.
	u := f.bucket(0)
	bitsOf := func(from, n int) string {
		var s strings.Builder
		for at := from; at < from+n; at++ {
			s.WriteByte("01"[btoi(u.indexBit(uint64(at)))])
		}
		return s.String()
	}
	const i0, i1, i2, i3 = "01001011", "0111", "010", "0"
	from := 0
	for j, want := range []string{i0, i1, i2, i3, "0000"} {
		if got := bitsOf(from, len(want)); got != want {
			t.Errorf("I%d is %s, want %s", j, got, want)
		}
		from += len(want)
	}

	// The paper counts from 1: rank(s, i) is the number of ones among the first i bits of s.
	rank := func(s string, i int) int { return strings.Count(s[:i], "1") }
	const chain = 7
	a1 := rank(i0, chain)
	a2 := rank(i1, a1)
	a3 := rank(i2, a2)
	if a1 != 3 || a2 != 2 || a3 != 1 || i0[chain-1] != '1' || i1[a1-1] != '1' || i2[a2-1] != '1' || i3[a3-1] != '0' {
		t.Errorf("ranks %d, %d, %d, want 3, 2, 1", a1, a2, a3)
	}

	// A1, A2 and A3 are packed: the cell of A2[i] comes after those of A1. Our ranks count the whole index at once.
	at := uint64(chain - 1)
	for depth, cell := range []int{a1 - 1, len(i1) + a2 - 1, len(i1) + len(i2) + a3 - 1} {
		if got := u.rankOf(at); !u.indexBit(at) || got != uint64(cell) {
			t.Fatalf("fingerprint %d of chain 7 is in cell %d, want %d", depth+1, got, cell)
		}
		if got, want := u.cellValue(uint64(cell)), figure3[chain-1][depth]; got != want {
			t.Errorf("cell %d has %07b, want %07b", cell, got, want)
		}
		at = 8 + uint64(cell)
	}
	if u.indexBit(at) {
		t.Error("chain 7 goes on")
	}

	// A removal packs the bucket again.
	last := hashOf(chain-1, 0b1010101)
	if err := f.Remove(last); err != nil || f.Has(last) {
		t.Errorf("%v, or the removed fingerprint is present", err)
	}
	if got, want := bitsOf(0, 20), i0+i1+"000"+"00000"; got != want {
		t.Errorf("the index is %s, want %s", got, want)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
