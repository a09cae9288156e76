package anneal

import (
	"errors"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Common contains the parameters that the Configs of all families with a search share.
type Common struct {
	Keys    uint64
	Size    family.Sizing
	Later   uint64
	K       int
	Effort  filter.Effort
	Workers int
	Table   uint64
	From    bool // the search starts from an earlier filter
	Empty   bool // the earlier filter is the zero Filter
}

// Limits are the limits of a family with a search.
type Limits struct {
	Family      string
	Least, Most int // bits per key; Least is 0 if any small number is valid
	MaxK        int
	Target      bool // whether an Effort may have a Target
}

// Check returns an error wrapping filter.ErrConfig if c is invalid for every number of keys.
func (l Limits) Check(c Common) error {
	if err := errors.Join(c.Size.Check(), family.CheckEffort(c.Effort)); err != nil {
		return err
	}

	switch per := c.Size.BitsPerKey; {
	case c.Effort.Level == filter.Keep && !c.From:
		return family.Invalid("effort", c.Effort.Level,
			"it keeps the search of an earlier filter; name one, or want fast, default or max")
	case c.Table > tables:
		return family.Invalid("table", c.Table, "want 1 to %d; newer versions of Bloomery may have more", tables)
	case c.Empty:
		return family.Invalid("from", "an empty Filter", "want one that was built or read")
	case c.K < 0 || c.K > l.MaxK:
		return family.Invalid("k", c.K, "want 1 to %d", l.MaxK)
	case c.Workers < 0:
		return family.Invalid("workers", c.Workers, "want 0 or more")
	case per > float64(l.Most) && l.Least == 0:
		return family.Invalid("bits_per_key", per, "want at most %d", l.Most)
	case per > float64(l.Most) || per != 0 && per < float64(l.Least):
		return family.Invalid("bits_per_key", per, "want %d to %d", l.Least, l.Most)
	case c.Effort.Target != 0 && !l.Target:
		return family.Invalid("target", c.Effort.Target, "%s takes no target; give fpr", l.Family)
	}
	return nil
}

// Passes returns the number of passes over all keys of an Effort, or 0 if the Effort is a time or a target.
func Passes(e filter.Effort) int {
	switch {
	case e.Passes != 0:
		return e.Passes
	case e.Budget != 0 || e.Target != 0:
		return 0
	case e.Level == filter.Max:
		return 2500
	case e.Level == filter.Fast:
		return 24
	}
	return 64
}

// soonSearched is the largest product of keys and passes of a search that Longer repeats: 32,768 keys at the default
// effort, which take a few tenths of a second.
const soonSearched = 64 << 15

// Longer returns the Effort of another search of the same size that is twice as long as the last one. It returns false
// if a longer search would take too much time or was excluded by the caller:
//
//   - with more than soonSearched keys times passes; forecasts are good for many keys and poor for few;
//   - if asked names a number of passes, a time or a target;
//   - after two longer searches, when was has four times the passes of asked.
func Longer(asked, was filter.Effort, keys uint64) (filter.Effort, bool) {
	first, now := Passes(asked), Passes(was)
	if asked.Passes != 0 || first == 0 || keys > soonSearched/uint64(first) || now >= 4*first {
		return was, false
	}
	return filter.Effort{Passes: 2 * now}, true
}
