package family

import (
	"fmt"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// ReadEffort reads the parameters effort, passes, budget and target. Errors are left in r.
func ReadEffort(r *SpecReader) filter.Effort {
	e := filter.Effort{
		Level:  filter.Level(r.Text("effort", "")),
		Passes: int(min(r.Uint("passes"), filter.MaxPasses+1)),
		Target: r.Float("target"),
	}
	if t := r.Text("budget", ""); t != "" {
		var err error
		if e.Budget, err = time.ParseDuration(t); err != nil || e.Budget <= 0 {
			r.refuse("budget", t, "want a time such as 30s or 1h30m")
		}
	}
	if Given(r.spec, "passes") && e.Passes == 0 {
		r.refuse("passes", 0, "want at least 1")
	}
	return e
}

// CheckEffort returns an error wrapping filter.ErrConfig if a field is out of range or more than one is set.
func CheckEffort(e filter.Effort) error {
	switch {
	case !slices.Contains([]filter.Level{"", filter.Fast, filter.Default, filter.Max, filter.Keep}, e.Level):
		return Invalid("effort", e.Level, "want fast, default or max")
	case e.Passes < 0 || e.Passes > filter.MaxPasses:
		return Invalid("passes", e.Passes, "want 1 to %d", filter.MaxPasses)
	case e.Budget < 0:
		return Invalid("budget", e.Budget, "want more than 0")
	case !(e.Target >= 0 && e.Target < 1):
		return Invalid("target", e.Target, "want a rate above 0 and below 1, such as 0.007")
	case several(e.Level != "", e.Passes != 0, e.Budget != 0, e.Target != 0):
		return Invalid("effort", fmt.Sprintf("%+v", e), "give only one of effort, passes, budget and target")
	}
	return nil
}

// several reports whether more than one is set.
func several(set ...bool) bool {
	i := slices.Index(set, true)
	return i >= 0 && slices.Contains(set[i+1:], true)
}
