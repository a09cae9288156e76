package filter

import "time"

// Effort limits the search of a family that fits its filter to the keys: by name, by passes over all keys, by time,
// or by the rate to reach. Set at most one field. The zero Effort is the level Default.
type Effort struct {
	Level  Level
	Passes int // over all keys, 1 to MaxPasses
	// Budget is the time for the whole Build, at least half of it for the search. The filter then depends
	// on the speed of the machine.
	Budget time.Duration
	Target float64 // the posterior false-positive rate to reach, with as few passes as possible, in (0, 1)
}

// Level names an Effort.
type Level string

// The levels. They search for 24, 64 and 2,500 passes over all keys: more passes give a lower false-positive rate.
const (
	Fast    Level = "fast"
	Default Level = "default"
	Max     Level = "max"
)

// Keep is the level without a search: what the search of an earlier filter has chosen stays, so that a filter of
// similar keys has similar bits. Only bloomery.Set.Optimizer takes it; other builds return an error wrapping
// ErrConfig.
const Keep Level = "keep"

// MaxPasses is the largest Effort.Passes. Searches stop improving far below it.
const MaxPasses = 1_000_000
