package blocked

import (
	"errors"
	"math/bits"
	"testing"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/filtertest"
)

// TestBits compares Bits with a Filter of the same geometry and clears some of the blocks.
func TestBits(t *testing.T) {
	for _, k := range []int{1, 7, 8, MaxK} {
		const blocks = 37
		b, err := NewBits(blocks, k)
		if err != nil {
			t.Fatal(err)
		}
		f, err := New(Config{Blocks: blocks, K: k})
		if err != nil {
			t.Fatal(err)
		}
		hs := filtertest.Hashes(1000, uint64(k))
		for i, h := range hs {
			if had := f.Has(h); b.Has(h) != had || b.Put(h) == had || b.Put(h) {
				t.Fatalf("k=%d, key %d: had %v", k, i, had)
			}
			_ = f.Add(h)
		}
		const from, to = 5, 21
		b.Clear(from, to)
		for i, h := range hs {
			block, _ := bits.Mul64(h.Hi, blocks)
			if cleared := block >= from && block < to; b.Has(h) == cleared {
				t.Fatalf("k=%d, key %d in block %d: has %v after blocks %d to %d were emptied", k, i, block, !cleared, from, to)
			}
		}
		if b.Bytes() != blocks*64 {
			t.Errorf("%d bytes", b.Bytes())
		}
	}
	if _, err := NewBits(1, MaxK+1); !errors.Is(err, filter.ErrConfig) {
		t.Errorf("too many probes: %v", err)
	}
}
