package filter

import (
	"fmt"
	"slices"
	"time"
)

// Effort limits the search of a family that fits its filter to the keys: by name, by passes over all keys, by time,
// or by the rate to reach. Set at most one field. The zero Effort is the level Default.
type Effort struct {
	Level  Level
	Passes int // over all keys, 1 to MaxPasses
	// Budget is the time for the whole Build, at least half of it for the search. The filter then depends on the
	// speed of the machine.
	Budget time.Duration
	Target float64 // the posterior false-positive rate to reach, with as few passes as possible, in (0, 1)
}

// Level names an Effort.
type Level string

// The levels. The package comment of each family that searches gives their times and rates.
const (
	Fast    Level = "fast"
	Default Level = "default"
	Max     Level = "max"
)

// Keep is the level without a search: what the search of an earlier filter has chosen stays, so that a filter of
// similar keys has similar bits. Only a Reoptimizer takes it; other builds return an error wrapping ErrConfig.
const Keep Level = "keep"

// MaxPasses is the largest Effort.Passes. Searches stop improving far below it.
const MaxPasses = 1_000_000

// Check returns an error wrapping ErrConfig if a field is out of range or more than one is set.
func (e Effort) Check() error {
	switch {
	case e.Level != "" && e.Level != Fast && e.Level != Default && e.Level != Max && e.Level != Keep:
		return &ConfigError{"effort", e.Level, "want fast, default or max"}
	case e.Passes < 0 || e.Passes > MaxPasses:
		return &ConfigError{"passes", e.Passes, fmt.Sprintf("want 1 to %d", MaxPasses)}
	case e.Budget < 0:
		return &ConfigError{"budget", e.Budget, "want more than 0"}
	case !(e.Target >= 0 && e.Target < 1):
		return &ConfigError{"target", e.Target, "want a rate above 0 and below 1, such as 0.007"}
	case several(e.Level != "", e.Passes != 0, e.Budget != 0, e.Target != 0):
		return &ConfigError{"effort", fmt.Sprintf("%+v", e), "give only one of effort, passes, budget and target"}
	}
	return nil
}

// several reports whether more than one is set.
func several(set ...bool) bool {
	i := slices.Index(set, true)
	return i >= 0 && slices.Contains(set[i+1:], true)
}
