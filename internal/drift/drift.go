// Package drift compares a filter or list with earlier ones. Drift predicts from the false-positive rates of successive
// releases when a fresh build is due. CheckShrink guards good files: a truncated list must not replace a file that was
// built from the full list.
package drift

import (
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
)

// Measured is the false-positive rate of a release.
type Measured struct {
	Release      uint64
	FPRPosterior float64 // posterior in (0, 1), as in release.json
}

// Drift compares the false-positive rate of successive releases with the rate that was planned for them. Builds like an
// older filter keep its size, and searched families its search, so their rate rises until a fresh build.
type Drift struct {
	Planned float64 // the promised rate; 0 if none was planned
	Rate    float64 // the rate of the last release
	Ratio   float64 // Rate / Planned; 0 without a planned rate
	Slope   float64 // change of the rate from release to release; 0 if the releases show none
	// Due is the number of releases after which the rate is above tolerance times Planned if the slope stays, so that a
	// fresh build is due: 0 if the rate is already above it, Never if more than 1,000 releases are left.
	Due uint64
}

// Never is the value of Drift.Due if more than 1,000 releases are left, or no rate was planned.
const Never = math.MaxUint64

const (
	// tolerance is the factor by which a rate may exceed the planned one before a fresh build is due. All commands warn
	// from the same factor on; see filter.Info.Exceeded.
	tolerance = 1.1

	driftWindow = 30   // number of releases for the slope
	freshDrop   = 0.95 // a rate below this share of the previous one means a fresh build, or a much shorter list
	noise       = 2    // a slope of at most this many standard errors counts as 0
	horizon     = 1000 // number of releases that the forecast covers
)

// Of returns the drift of a rate. releases are in ascending order; the rate belongs to the last one. The slope comes
// from the least-squares line through the last 30 releases since the last fresh build. A fall of the rate by more than
// 5% marks a fresh build. It needs at least three of them. planned is 0 if no rate was planned. Releases without a rate
// do not count. Without a release the drift is zero, except Due, which is Never.
func Of(planned float64, releases []Measured) Drift {
	d := Drift{Due: Never}
	if planned > 0 && planned < 1 {
		d.Planned = planned
	}

	since := sinceFresh(releases)
	if len(since) == 0 {
		return d
	}

	d.Rate = since[len(since)-1].FPRPosterior
	d.Slope = slopeOf(since)
	if d.Planned == 0 {
		return d
	}

	d.Ratio = d.Rate / planned

	// A slope of 0 gives an infinity or NaN, which the cases below never use.
	left := (planned*tolerance - d.Rate) / d.Slope
	switch {
	case d.Rate > planned*tolerance:
		d.Due = 0
	case d.Slope > 0 && left < horizon:
		d.Due = uint64(left) + 1
	}
	return d
}

// sinceFresh returns the last releases with a rate, at most driftWindow, from the last fresh build on.
func sinceFresh(releases []Measured) []Measured {
	var since []Measured
	for _, r := range releases {
		if !(r.FPRPosterior > 0 && r.FPRPosterior < 1) {
			continue
		}
		if n := len(since); n > 0 && r.FPRPosterior < freshDrop*since[n-1].FPRPosterior {
			since = nil
		}
		since = append(since, r)
	}
	return since[max(0, len(since)-driftWindow):]
}

// slopeOf returns the slope of the least-squares line, or 0 if it is not clear of the scatter around the line.
func slopeOf(releases []Measured) float64 {
	n := float64(len(releases))
	if n < 3 {
		return 0
	}

	first := releases[0].Release
	var meanX, meanY float64
	for _, r := range releases {
		meanX += float64(r.Release-first) / n
		meanY += r.FPRPosterior / n
	}

	var xx, xy, yy float64
	for _, r := range releases {
		x, y := float64(r.Release-first)-meanX, r.FPRPosterior-meanY
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
	}
	if xx == 0 {
		return 0
	}

	// Two points always lie on a line, so n-2 releases are left to measure the scatter around it.
	slope := xy / xx
	deviation := math.Sqrt(max(0, yy-slope*xy) / (n - 2) / xx)
	if math.Abs(slope) <= noise*deviation {
		return 0
	}
	return slope
}

// String returns the drift as one line, such as "rate 0.98%, below the planned 1%, rising 0.004 points a release; a
// fresh build is due in 31 releases".
func (d Drift) String() string {
	if d.Rate == 0 {
		return "no rate"
	}

	text := "rate " + stat.Percent(d.Rate)
	if d.Planned == 0 {
		return text + ", none planned"
	}

	switch {
	case math.Abs(d.Ratio-1) < 0.005:
		text += ", at"
	case d.Ratio < 1:
		text += ", below"
	default:
		text += fmt.Sprintf(", %.3g times", d.Ratio)
	}

	text += " the planned " + stat.Percent(d.Planned)
	switch {
	case d.Slope > 0:
		text += fmt.Sprintf(", rising %.2g points a release", 100*d.Slope)
	case d.Slope < 0:
		text += fmt.Sprintf(", falling %.2g points a release", -100*d.Slope)
	}

	switch {
	case d.Due == 0:
		text += "; a fresh build is due now"
	case d.Due == 1:
		text += "; a fresh build is due with the next release"
	case d.Due != Never:
		text += fmt.Sprintf("; a fresh build is due in %d releases", d.Due)
	}
	return text
}

// Default values of the largest fraction of the keys of a list that may be lost.
const (
	ShrinkOfList     = 0.5 // for a published list, or a list for a filter like an older one
	ShrinkOfMembers  = 0.1 // for the members of an exact set
	ShrinkOfUniverse = 0   // for the universe of an exact set
)

// AnyShrink allows every loss.
const AnyShrink = 1

// CheckShrink returns a *ShrinkError if a list of before keys now has after keys and the loss exceeds the fraction
// allowed, in [0, 1], of before. Losing all keys is always an error, unless allowed is AnyShrink. what names the keys
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
