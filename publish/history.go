package publish

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Step is an older release in a History.
type Step struct {
	Number       uint64    `json:"release"`
	Published    time.Time `json:"published"`
	Object                 // the filter file, or the manifest of a set
	Keys         uint64    `json:"keys"`
	FPRPosterior float64   `json:"fpr_posterior"`
	Delta        *Object   `json:"delta,omitempty"` // to the current release; nil if none is smaller than the whole file
}

// History lists the older releases that are kept, the newest first.
type History []Step

// step returns a release as an older one.
func (r *Release) step() Step {
	return Step{Number: r.Number, Published: r.Published, Object: r.Object, Keys: r.Keys, FPRPosterior: r.FPRPosterior}
}

// check returns an error if a field of a step is out of range.
func (s *Step) check() error {
	if s.Number == 0 || s.Number > maxNumber || s.Keys > maxNumber || !isRate(s.FPRPosterior) {
		return fmt.Errorf("%w: history: release %d with %d keys, rate %v", ErrRelease, s.Number, s.Keys, s.FPRPosterior)
	}
	return errors.Join(s.Object.check(maxNumber), s.Delta.check(maxNumber))
}

// Marshal returns the history object: one release a line. The error wraps ErrRelease if it is too large.
func (h History) Marshal() ([]byte, error) {
	whole := slices.Clone(h)
	for i := range whole {
		whole[i].Published = wholeSeconds(whole[i].Published)
	}
	out, err := table(historyFormat, "releases", whole)
	if err == nil && len(out) > MaxHistory {
		err = fmt.Errorf("%w: a history of %d bytes; want at most %d: keep fewer releases", ErrRelease, len(out), MaxHistory)
	}
	return out, cmp.Or(err, h.check())
}

// ParseHistory returns the content of a history object. The error wraps ErrRelease or ErrVersion.
func ParseHistory(b []byte) (History, error) {
	if len(b) > MaxHistory {
		return nil, fmt.Errorf("%w: a history of %d bytes; want at most %d", ErrRelease, len(b), MaxHistory)
	}
	var all struct {
		Releases History `json:"releases"`
	}
	if err := parse(b, historyFormat, &all); err != nil {
		return nil, err
	}
	return all.Releases, all.Releases.check()
}

// check returns an error unless the numbers descend and all steps are valid.
func (h History) check() error {
	for i := range h {
		if i > 0 && h[i].Number >= h[i-1].Number {
			return fmt.Errorf("%w: history: release %d after %d; want the newest first", ErrRelease, h[i].Number,
				h[i-1].Number)
		}
		if err := h[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// horizons are the ages that a reader may have skipped: of each, a version stays as long as it is the newest so old.
var horizons = []time.Duration{7 * 24 * time.Hour, 30 * 24 * time.Hour}

// retain returns the releases to keep: the newest n, and for each horizon the newest one that is at least so old, and
// the oldest one that is younger, which is going to replace it. older is in descending order. With n = 0 it keeps none.
func retain(older History, n int, now time.Time) History {
	if n == 0 {
		return nil
	}
	keep := make([]bool, len(older))
	for i := range min(n, len(older)) {
		keep[i] = true
	}
	for _, age := range horizons {
		at := slices.IndexFunc(older, func(s Step) bool { return now.Sub(s.Published) >= age })
		if at < 0 { // all are younger
			at = len(older)
		}
		for i := max(at-1, 0); i <= at && i < len(older); i++ {
			keep[i] = true
		}
	}
	var kept History
	for i, s := range older {
		if keep[i] {
			kept = append(kept, s)
		}
	}
	return kept
}
