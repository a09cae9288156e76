package drift

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
)

// Defaults for the largest fraction of the keys of a list that may be lost.
const (
	ShrinkOfList     = 0.5 // of a published list, or of one for a filter like an older one
	ShrinkOfMembers  = 0.1 // of the members of an exact set
	ShrinkOfUniverse = 0   // of the universe of an exact set
)

// AnyShrink allows every loss.
const AnyShrink = 1

// CheckShrink returns a *ShrinkError if a list of before keys now has after keys and the loss exceeds the fraction
// allowed, in [0, 1], of before. To lose all keys is always too much, unless allowed is AnyShrink. what names the keys
// in the error.
func CheckShrink(what string, before, after uint64, allowed float64) error {
	if after >= before || allowed >= AnyShrink {
		return nil
	}
	if lost := float64(before - after); after > 0 && lost <= allowed*float64(before) {
		return nil
	}
	return &ShrinkError{what, before, after, allowed}
}

// AllowedShrink returns the fraction that an option allows: normal if the option is 0. The error wraps filter.ErrConfig
// if the option is not in [0, 1].
func AllowedShrink(option, normal float64) (float64, error) {
	switch {
	case math.IsNaN(option) || option < 0 || option > AnyShrink:
		return 0, &filter.ConfigError{Field: "shrink", Value: option, Reason: "want a fraction from 0 to 1"}
	case option == 0:
		return normal, nil
	}
	return option, nil
}

// ShrinkError means that a good file was not replaced, since the new list has far fewer keys. It wraps
// filter.ErrShrunk.
type ShrinkError struct {
	What          string // what was counted, such as "members"
	Before, After uint64
	Allowed       float64 // the fraction of Before that may be lost, in [0, 1]
}

func (e *ShrinkError) Error() string {
	return fmt.Sprintf("%s: %d, and %d before: %d are lost, and at most %.3g%% may be", e.What, e.After, e.Before,
		e.Before-e.After, 100*e.Allowed)
}

func (e *ShrinkError) Unwrap() error { return filter.ErrShrunk }
