package main

import (
	"context"
	"testing"
	"time"
)

// TestPilot checks that pilot sizes filters for its own number of keys. If it sized them for all keys, the
// extrapolation would scale their size and time twice.
func TestPilot(t *testing.T) {
	const n = 40 * pilotKeys
	sized := func(keys int) []contender {
		return []contender{{name: "sized by a count", build: func(context.Context, []uint64) (built, error) {
			words := make([]uint64, keys)
			return built{ask: func([]uint64) int { return len(words) }}, nil
		}}}
	}
	rows := []*measured{{contender: sized(n)[0]}}
	needs, err := pilot(t.Context(), rows, sized(pilotKeys), n, settings{builds: 1, longest: time.Minute}, newProgress(t.Output(), "test"))
	if err != nil || rows[0].leftOut != "" {
		t.Fatalf("%v, %q", err, rows[0].leftOut)
	}
	if heap := needs[rows[0]].heap; heap < 8*n*0.9 || heap > 8*n*1.5 {
		t.Errorf("%.0f bytes of heap, want %d", heap, 8*n)
	}
}
