package plank

import (
	"slices"
	"testing"
)

// TestTrace requires the nine events that the notes print, and OLD 0 f 7 as the tenth.
func TestTrace(t *testing.T) {
	want := append(slices.Clone(tracePrinted), "OLD 0 f 7 FOUND 10100001 01101111")
	if got := traced.trace(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}

	found, blocks, err := traced.run(notesSeed, smallK)
	if err != nil || blocks != 5 || found[smallK-1] != 1 {
		t.Errorf("%d blocks, found %v, %v; the notes have 5 and 1", blocks, found, err)
	}
}
