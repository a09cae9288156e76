package window

import (
	"cmp"
	"fmt"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// DefaultFPR is the false-positive rate if Config.FPR is 0.
const DefaultFPR = 0.001

// Config configures a Filter. Zero fields take the default noted beside them.
type Config struct {
	// Keys is the largest number of distinct keys that arrive within TTL. New requires it. Keys and FPR determine the
	// size of the filter: for a million keys, 13.7 bits per key at a rate of 1%, and 17.6 at 0.1%. On average, 1.07·Keys
	// keys are in memory. The filter always has room for min(Keys + 300, 2·Keys) keys.
	Keys uint64
	// TTL is the least time for which a key is remembered, at least a millisecond. New requires it.
	TTL time.Duration
	// FPR bounds the false-positive rate, 1e-12 to 0.5, on average over the filter and while the keys stay within Keys
	// and Burst. Default: DefaultFPR.
	FPR float64
	// Burst is the share of the keys of an epoch (TTL/7) that may arrive within a tenth of the epoch, 0 to 1. With 0.5
	// the filter is 8% larger. Default and minimum: 0.1, for keys that arrive evenly. Up to 300 keys may arrive at any
	// time.
	Burst float64
	// Overflow selects what an operation does if the filter has no room for its key. Default: Refuse.
	Overflow Overflow
	// Refresh makes TestAndAdd renew the keys that are present: TTL then counts from the last time that a key was seen,
	// not from the first. Add always renews keys.
	Refresh bool
	// EventTime selects the times of events instead of a clock: only Advance moves the time. Clock must then be nil.
	EventTime bool
	// Clock returns the time. Each operation calls Clock, from any goroutine. If Clock returns the zero Time, the time
	// of the filter does not change. Default: see the package comment.
	Clock func() time.Time
	// Secret hashes keys with SipHash. Set it if keys come from people who might gain from false positives: without it,
	// anybody can compute keys with equal fingerprints. Default: XXH3, which is faster.
	Secret *filter.Secret
}

// Overflow is the treatment of a key for which a Filter has no room.
type Overflow uint8

const (
	// Refuse returns an error wrapping filter.ErrFull. No added key is lost.
	Refuse Overflow = iota
	// Shorten removes the oldest keys of the new key's bucket before they expire, about an eighth of its 200 keys. Info
	// counts the removed keys. Operations return no error.
	Shorten
)

// Limits of Config.
const (
	minTTL   = time.Millisecond
	minFPR   = 1e-12
	maxFPR   = 0.5
	mostKeys = 1 << 36
)

// validate returns an error wrapping filter.ErrConfig or filter.ErrTooLarge if a field is out of its range.
func (c Config) validate() error {
	switch {
	case c.Keys == 0:
		return family.Invalid("Keys", 0, "want the number of distinct keys that arrive within TTL")
	case c.Keys > mostKeys:
		return fmt.Errorf("%d keys, at most %d: %w", c.Keys, uint64(mostKeys), filter.ErrTooLarge)
	case c.TTL < minTTL:
		return family.Invalid("TTL", c.TTL, "want at least %v", minTTL)
	case c.FPR != 0 && !(c.FPR >= minFPR && c.FPR <= maxFPR): // the negation also refuses NaN
		return family.Invalid("FPR", c.FPR, "want %g to %g, such as 0.001", minFPR, maxFPR)
	case !(c.Burst >= 0 && c.Burst <= 1):
		return family.Invalid("Burst", c.Burst, "want 0 to 1, such as 0.5")
	case c.Overflow > Shorten:
		return family.Invalid("Overflow", c.Overflow, "want Refuse or Shorten")
	case c.EventTime && c.Clock != nil:
		return family.Invalid("EventTime", true, "time comes from Advance or from Clock, not from both")
	}
	return nil
}

// hasher returns the function that hashes keys.
func (c Config) hasher() filter.Hasher {
	if c.Secret != nil {
		return filter.NewKeyedHasher(*c.Secret)
	}
	return filter.NewHasher(0)
}

// chosenFPR returns FPR or its default.
func (c Config) chosenFPR() float64 { return cmp.Or(c.FPR, DefaultFPR) }
