package bulk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/intake"
)

// MaxStrangers is the value of Removed.Strangers from which a guarded removal changes nothing.
const MaxStrangers = 0.5

// Removal is the job of bloomery.Removal.
//
// A stranger, a key that was never added, is mostly not found. But at the false-positive rate p of the Set it looks
// present, and its removal takes other keys with it. A key of the list that is not found proves that the list has
// strangers, since keys that were added are always found. If u distinct keys are not found, about u·p/(1-p) others are
// strangers that look present.
type Removal struct {
	set    Target
	list   list
	force  bool
	looked bool
	ended  bool // by Commit, unless it was refused, or by Close
	seen   Removed
	// Distinct keys of the list, and those of them that the set does not hold at all.
	distinct, absent uint64
}

// Removed is the result of a Removal.
type Removed struct {
	Removed  uint64 // keys, each as often as it was removed; after Look, as often as it would be
	NotFound uint64 // keys that were not found, each as often as that happened
	// Unknown is the number of distinct keys of the list that are not in the Set, or fewer times than in the list.
	Unknown uint64
	// Strangers is the expected number of distinct keys of the list that were never added, or not as often, and look
	// present nevertheless.
	Strangers float64
	// Lost is the expected number of keys outside the list that become absent. It assumes that each of them was added
	// once: keys that were added more often are lost less often.
	Lost float64
}

// NewRemoval returns a Removal of keys from a Set.
func NewRemoval(set Target, o Options) (*Removal, error) {
	l, err := newList(set.Engine, o)
	if err != nil {
		return nil, err
	}
	return &Removal{set: set, list: l}, nil
}

// AddMany adds keys to the list, from any number of goroutines. After Look or Commit it returns an error.
func (r *Removal) AddMany(keys [][]byte) error {
	switch {
	case r.looked:
		return errLooked
	case r.ended:
		return errRemoved
	}
	return intake.Hash(r.set.hasher(), keys, r.list.AddMany)
}

var errRemoved = fmt.Errorf("bloomery: the Removal is %w, and removes no more keys", filter.ErrClosed)

var errLooked = fmt.Errorf("bloomery: the Removal has looked at its list, which is %w to more keys", filter.ErrClosed)

// Look returns what Commit would do, and changes nothing. If strangers look like keys of the list, Commit finds a few
// keys less.
func (r *Removal) Look(ctx context.Context) (Removed, error) {
	switch {
	case r.ended:
		return Removed{}, errRemoved
	case r.looked:
		return r.seen, nil
	}
	if err := r.list.finish(ctx); err != nil {
		return Removed{}, err
	}
	var seen Removed
	var hits []bool
	err := r.list.each(ctx, 0, func(hs []filter.Hash) error {
		hits = append(hits[:0], make([]bool, len(hs))...)
		return r.set.Now().Guarded(func() error {
			r.set.Now().HasMany(hits, hs)
			r.look(&seen, hs, hits)
			return nil
		})
	})
	if err != nil {
		return Removed{}, err
	}
	r.estimate(&seen)
	if err := r.set.Now().Err(); err != nil {
		return Removed{}, err
	}
	r.seen, r.looked = seen, true
	return seen, nil
}

// look counts sorted keys as found or not. hits are the answers of the filter.
func (r *Removal) look(seen *Removed, hs []filter.Hash, hits []bool) {
	for from, to := 0, 0; from < len(hs); from = to {
		for to = from + 1; to < len(hs) && hs[to] == hs[from]; {
			to++
		}
		n, found := uint64(to-from), uint64(0)
		if hits[from] {
			found = 1
			if n > 1 {
				found = min(n, r.set.copies(hs[from]))
			}
		}
		r.distinct++
		if found == 0 {
			r.absent++
		}
		if found < n {
			seen.Unknown++
		}
		seen.Removed += found
		seen.NotFound += n - found
	}
}

// estimate sets Strangers and Lost of the result of a look.
func (r *Removal) estimate(seen *Removed) {
	if seen.Unknown == 0 {
		return
	}
	info := r.set.Now().Info()
	p := min(info.FPRPosterior, 1-1e-9)
	all := float64(seen.Unknown) / (1 - p)
	seen.Strangers = all * p
	keys := float64(info.Keys)
	kept := min(max(keys-max(float64(seen.Removed)-seen.Strangers, 0), 0), keys)
	if kept == 0 {
		return
	}
	loss, ok := r.list.loss(kept / keys)
	if !ok {
		loss = p * kept / keys
	}
	seen.Lost = -kept * math.Expm1(-all*loss/kept) // a key is lost once: the loss slows down as keys are lost
}

// wrong returns an error wrapping filter.ErrStrangers if the removal would lose members, or if it is the wrong list.
func (r *Removal) wrong(seen Removed) error {
	switch {
	case seen.Strangers >= MaxStrangers:
		return fmt.Errorf("%w: %d are not in the filter, or fewer times than in the list; about %s others look "+
			"present, and removing them would lose about %s members",
			filter.ErrStrangers, seen.Unknown, about(seen.Strangers), about(seen.Lost))
	case seen.Removed > 0 && r.absent > r.distinct/2:
		return fmt.Errorf("%w: %d of its %d keys are not in the filter, more than half; the other %d may only look "+
			"present, and removing them would lose members",
			filter.ErrStrangers, r.absent, r.distinct, r.distinct-r.absent)
	}
	return nil
}

// Force makes Commit remove keys although strangers are among them.
func (r *Removal) Force() { r.force = true }

// Commit removes the keys of the list. If Strangers is MaxStrangers or more, or more than half of the distinct keys are
// not in the Set, it changes nothing unless it was forced, and returns the result of Look and an error wrapping
// filter.ErrStrangers. After another result, further calls return an error.
func (r *Removal) Commit(ctx context.Context) (Removed, error) {
	seen, err := r.Look(ctx)
	if err != nil {
		return Removed{}, err
	}
	if err := r.wrong(seen); err != nil && !r.force {
		return seen, err
	}
	r.ended = true // to remove the list again would remove other keys
	seen.Removed, seen.NotFound = 0, 0
	err = r.list.each(ctx, 0.5, func(hs []filter.Hash) error {
		for _, h := range hs {
			err := r.set.remove(h)
			switch {
			case err == nil:
				seen.Removed++
			case errors.Is(err, filter.ErrNotFound):
				seen.NotFound++
			default:
				return err
			}
		}
		return nil
	})
	return seen, err
}

// about writes an estimate: below 10 with two decimals, from 1000 on rounded to three digits.
func about(v float64) string {
	if v < 10 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	unit := math.Pow(10, max(math.Floor(math.Log10(v))-2, 0))
	return strconv.FormatFloat(math.Round(v/unit)*unit, 'f', 0, 64)
}

// Close drops the list and removes its temporary file.
func (r *Removal) Close() error {
	r.ended = true
	return r.list.Close()
}
