package filter

import (
	"fmt"
	"time"
)

// Effort says how long a family that searches for its hash functions goes on: by name, by passes over all keys, by time,
// or until a rate is reached. At most one field is set; with none it is Default.
type Effort struct {
	Level  Level
	Passes int           // 1 to MaxPasses
	Budget time.Duration // for the whole Build, half of it at least for the search; the result then depends on the speed of the machine
	Target float64       // the posterior rate to reach with as few passes as it takes, in (0, 1)
}

// Level is an Effort by name.
type Level string

// The levels. What they take is said with the families.
const (
	Fast    Level = "fast"
	Default Level = "default"
	Max     Level = "max"
)

// MaxPasses is far above where a search stops to gain.
const MaxPasses = 1_000_000

// ReadEffort takes the parameters effort, passes, budget and target.
func ReadEffort(r *SpecReader) Effort {
	e := Effort{Level: Level(r.Text("effort", "")), Passes: int(min(r.Uint("passes"), MaxPasses+1)), Target: r.Float("target")}
	if t := r.Text("budget", ""); t != "" {
		var err error
		if e.Budget, err = time.ParseDuration(t); err != nil || e.Budget <= 0 {
			r.errs = append(r.errs, &ConfigError{"budget", t, "want a time such as 30s or 1h30m"})
		}
	}
	if r.spec.Has("passes") && e.Passes == 0 {
		r.errs = append(r.errs, &ConfigError{"passes", 0, "want at least one"})
	}
	return e
}

// Check returns an error wrapping ErrConfig if a field is out of its range or more than one is set.
func (e Effort) Check() error {
	set := 0
	for _, is := range []bool{e.Level != "", e.Passes != 0, e.Budget != 0, e.Target != 0} {
		if is {
			set++
		}
	}
	switch {
	case e.Level != "" && e.Level != Fast && e.Level != Default && e.Level != Max:
		return &ConfigError{"effort", e.Level, "want fast, default or max"}
	case e.Passes < 0 || e.Passes > MaxPasses:
		return &ConfigError{"passes", e.Passes, fmt.Sprintf("want 1 to %d", MaxPasses)}
	case e.Budget < 0:
		return &ConfigError{"budget", e.Budget, "want more than 0"}
	case !(e.Target >= 0 && e.Target < 1):
		return &ConfigError{"target", e.Target, "want a rate between 0 and 1, both excluded, such as 0.007"}
	case set > 1:
		return &ConfigError{"effort", fmt.Sprintf("%+v", e), "give one of effort, passes, budget and target"}
	}
	return nil
}
