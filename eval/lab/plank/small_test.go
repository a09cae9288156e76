package plank

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/bloomery/bloomery/eval/lab/paper"
)

// TestReplay compares the bits after each event with the notes.
func TestReplay(t *testing.T) {
	blocks, found := replay(func(e replayEvent, had bool, b paper.Bitmap) {
		w := uint8(b[0])
		v := uint8(b[0] >> 8)
		if s := fmt.Sprintf("%08b %08b", bits.Reverse8(w), bits.Reverse8(v)); s != e.bits {
			t.Errorf("after %x: %s, want %s", e.at, s, e.bits)
		}
		if !e.fresh && !had {
			t.Errorf("%x is forgotten", e.at)
		}
	})
	if blocks != 5 || found != 1 {
		t.Errorf("%d blocks, %d found; the notes have 5 and 1", blocks, found)
	}
}

// TestTester counts the new blocks of runs with only one-off blocks, with one reused block, and in a filter of one bit.
func TestTester(t *testing.T) {
	sim := tester{block: 20, reused: 1, oneOff: 100, events: 500, m: 1 << 20}
	found, blocks, err := sim.run(rand.NewPCG(1, 2), 5)
	if err != nil || blocks != 500 || found[4] != 0 {
		t.Errorf("%d blocks, found %v, %v", blocks, found, err)
	}
	sim.oneOff = 0
	if _, blocks, err = sim.run(rand.NewPCG(1, 2), 5); err != nil || blocks != 1 {
		t.Errorf("%d blocks, %v", blocks, err)
	}
	sim.m = 1 // every block but the first is found
	sim.oneOff = 100
	if found, _, _ = sim.run(rand.NewPCG(1, 2), 2); found[0] != 499 || found[1] != 499 {
		t.Errorf("found %v", found)
	}
}
