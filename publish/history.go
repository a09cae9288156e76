package publish

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bloomery/bloomery/internal/family"
)

// step describes an older release in a history.
type step struct {
	Number       uint64    `json:"release"`
	Published    time.Time `json:"published"`
	object                 // the filter file or the manifest of a set
	Keys         uint64    `json:"keys"`
	FPRPosterior float64   `json:"fpr_posterior"`
	Delta        *object   `json:"delta,omitempty"` // to the current release; nil if none is smaller than the whole file
}

// history lists the kept older releases, newest first.
type history []step

// asStep returns the entry of a release in a history.
func (r *Release) asStep() step {
	return step{Number: r.Number, Published: r.Published, object: r.object(), Keys: r.Keys, FPRPosterior: r.FPRPosterior}
}

// check returns an error if a field of a step is out of range.
func (s *step) check() error {
	if s.Number == 0 || s.Number > maxNumber || s.Keys > maxNumber || !family.MeasuredRate(s.FPRPosterior) ||
		!isWhole(s.Published) {
		return fmt.Errorf("%w: history: release %d of %v with %d keys, rate %v", ErrRelease, s.Number, s.Published,
			s.Keys, s.FPRPosterior)
	}
	return errors.Join(s.object.check(maxNumber), s.Delta.check(maxNumber))
}

// marshal returns the history object, with one release per line. The error wraps ErrRelease if it is too large.
func (h history) marshal() ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}

	out, err := marshalTable(historyFormat, "releases", h)
	if err == nil && len(out) > maxHistory {
		err = fmt.Errorf("%w: a history of %d bytes; want at most %d: keep fewer releases", ErrRelease, len(out), maxHistory)
	}
	return out, err
}

// parseHistory returns the content of a history object. The error wraps ErrRelease or ErrVersion.
func parseHistory(b []byte) (history, error) {
	if len(b) > maxHistory {
		return nil, fmt.Errorf("%w: a history of %d bytes; want at most %d", ErrRelease, len(b), maxHistory)
	}
	var all struct {
		Releases history `json:"releases"`
	}
	if err := parseFormat(b, historyFormat, &all); err != nil {
		return nil, err
	}
	return all.Releases, all.Releases.check()
}

// check returns an error unless the numbers descend and all steps are valid.
func (h history) check() error {
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

// horizons are ages of versions that readers may still have. For each age, the newest version that is at least that old
// is kept.
var horizons = []time.Duration{7 * 24 * time.Hour, 30 * 24 * time.Hour}

// retain returns the releases to keep: the newest n, and for each horizon the newest release that is at least that old
// and the oldest younger release, which will replace it. older is in descending order. With n = 0 it keeps none.
func retain(older history, n int, now time.Time) history {
	if n == 0 {
		return nil
	}

	keep := make([]bool, len(older))
	for i := range min(n, len(older)) {
		keep[i] = true
	}

	for _, age := range horizons {
		at := slices.IndexFunc(older, func(s step) bool { return now.Sub(s.Published) >= age })
		if at < 0 { // all are younger
			at = len(older)
		}
		// The release at "at" is old enough. The release before it in the list replaces it when it reaches the age.
		for i := max(at-1, 0); i <= at && i < len(older); i++ {
			keep[i] = true
		}
	}

	var kept history
	for i, s := range older {
		if keep[i] {
			kept = append(kept, s)
		}
	}
	return kept
}
