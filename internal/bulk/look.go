package bulk

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
)

// MaxStrangers is the limit of Removed.Strangers: a guarded removal with at least this value changes nothing.
const MaxStrangers = 0.5

// Look is the predicted effect of removing a list of keys.
//
// A stranger is a key that was never added. With a probability of p, the false-positive rate of the Set, it looks
// present, and its removal takes other keys with it; otherwise it is not found. A key of the list that is not found
// proves that the list has strangers, since keys that were added are always found. If u distinct keys are not found,
// about u·p/(1-p) others are strangers that look present.
type Look struct {
	Removed
	// Numbers of distinct keys of the list, and of those among them that are not in the set.
	distinct, absent uint64
}

// Removed is the result of a removal: see bloomery.Removed.
type Removed struct {
	Removed  uint64 // keys, each as often as it was removed; after Look, as often as it would be
	NotFound uint64 // keys that were not found, each as often as that happened
	// Unknown is the number of distinct keys that the Set holds fewer times than the list does, or not at all.
	Unknown uint64
	// Strangers is the expected number of distinct keys of the list that look present although they were never added,
	// or were added fewer times.
	Strangers float64
	// Lost is the expected number of keys outside the list that become absent. It assumes that each of them was added
	// once: keys that were added more often are lost less often.
	Lost float64
}

// LookAt compares a finished list with a Set. now returns the Engine of the Set.
func LookAt(ctx context.Context, list List, now func() engine.Engine) (l Look, err error) {
	var hits []bool
	err = list.Each(ctx, 0, func(hs []filter.Hash) error {
		hits = append(hits[:0], make([]bool, len(hs))...)
		return now().Guarded(func() error {
			now().HasMany(hits, hs)
			l.countKeys(hs, hits, now())
			return nil
		})
	})
	if err != nil {
		return l, err
	}
	l.estimate(list, now().Info())
	return l, now().Err()
}

// countKeys counts sorted keys as found or not. hits are the answers of the filter.
func (l *Look) countKeys(hs []filter.Hash, hits []bool, e engine.Engine) {
	for from, to := 0, 0; from < len(hs); from = to {
		for to = from + 1; to < len(hs) && hs[to] == hs[from]; {
			to++
		}
		n, found := uint64(to-from), uint64(0)
		if hits[from] {
			found = 1
			// A single copy of a found key can always be removed, so the count is read only for repeated keys.
			if n > 1 {
				found = min(n, mostCopies(e, hs[from]))
			}
		}

		l.distinct++
		if found == 0 {
			l.absent++
		}
		if found < n {
			l.Unknown++
		}
		l.Removed.Removed += found
		l.NotFound += n - found
	}
}

// mostCopies returns an upper bound of the number of times that a key that looks present can be removed.
func mostCopies(e engine.Engine, h filter.Hash) uint64 {
	if one, err := e.At(h, false); err == nil {
		if n, saturated, err := one.Count(h); err == nil && !saturated {
			return n
		}
	}
	return math.MaxUint64
}

// estimate sets Strangers and Lost.
func (l *Look) estimate(list List, info filter.Info) {
	if l.Unknown == 0 {
		return
	}

	// A full filter has rate 1, and the next line divides by 1-p.
	p := min(info.FPRPosterior, 1-1e-9)
	all := float64(l.Unknown) / (1 - p)
	l.Strangers = all * p
	keys := float64(info.Keys)
	kept := min(max(keys-max(float64(l.Removed.Removed)-l.Strangers, 0), 0), keys)
	if kept == 0 {
		return
	}

	loss, ok := list.meanLoss(kept / keys)
	if !ok {
		loss = p * kept / keys
	}
	l.Lost = -kept * math.Expm1(-all*loss/kept) // a key is lost once: the loss slows down as keys are lost
}

// Refusal returns an error wrapping filter.ErrStrangers if the removal would lose members, or if the list is the wrong
// one.
func (l *Look) Refusal() error {
	switch {
	case l.Strangers >= MaxStrangers:
		return fmt.Errorf("%w: %d are not in the filter, or fewer times than in the list; about %s others look "+
			"present, and removing them would lose about %s members",
			filter.ErrStrangers, l.Unknown, formatEstimate(l.Strangers), formatEstimate(l.Lost))
	case l.Removed.Removed > 0 && l.absent > l.distinct/2:
		return fmt.Errorf("%w: %d of its %d keys are not in the filter, more than half; the other %d may only look "+
			"present, and removing them would lose members",
			filter.ErrStrangers, l.absent, l.distinct, l.distinct-l.absent)
	}
	return nil
}

// formatEstimate formats an estimate with two decimals below 10, and rounded to three digits if it is at least 1000.
func formatEstimate(v float64) string {
	if v < 10 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	unit := math.Pow(10, max(math.Floor(math.Log10(v))-2, 0))
	return strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64)
}
