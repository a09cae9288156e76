package plank

import (
	"slices"
	"testing"
)

// TestNotes requires the counts of the eight runs of the notes.
func TestNotes(t *testing.T) {
	found, blocks, err := tested.run(notesSeed, len(testerFound))
	if err != nil || blocks != testerBlocks || !slices.Equal(found, testerFound) {
		t.Errorf("%d blocks, found %v, %v; the notes have %d and %v", blocks, found, err, testerBlocks, testerFound)
	}
}

// TestTester counts the new blocks of runs with only one-off blocks, with one reused block, and in a filter of one bit.
func TestTester(t *testing.T) {
	sim := tester{block: 20, reused: 1, oneOff: 100, events: 500, m: 1 << 20}
	found, blocks, err := sim.run(notesSeed, 5)
	if err != nil || blocks != 500 || found[4] != 0 {
		t.Errorf("%d blocks, found %v, %v", blocks, found, err)
	}
	sim.oneOff = 0
	if _, blocks, err = sim.run(notesSeed, 5); err != nil || blocks != 1 {
		t.Errorf("%d blocks, %v", blocks, err)
	}
	sim.m = 1 // every block but the first is found
	sim.oneOff = 100
	if found, _, _ = sim.run(notesSeed, 2); found[0] != 499 || found[1] != 499 {
		t.Errorf("found %v", found)
	}
}
