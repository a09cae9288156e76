package anneal

import (
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Check returns an error wrapping filter.ErrConfig if the Effort is wrong, or keeps an earlier search and there is
// none.
func Check(e filter.Effort, earlier bool) error {
	if err := family.CheckEffort(e); err != nil {
		return err
	}
	if e.Level == filter.Keep && !earlier {
		return family.Invalid("effort", e.Level,
			"it keeps the search of an earlier filter; name one, or want fast, default or max")
	}
	return nil
}

// Passes returns the number of passes over all keys that an Effort stands for, or 0 for one by time or target.
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

// soonSearched bounds keys times passes of a search that Longer repeats: 32,768 keys at the default effort, which take
// a few tenths of a second.
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
