package family

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Sizing is the size of a filter: in bits per key, as the false-positive rate to keep, or in total. Set at most one
// field. If no field is set, the family uses its default.
type Sizing struct {
	BitsPerKey float64 // bits per key, in (0, 4096]
	FPR        float64 // rate in (0, 1)
	Bytes      uint64  // bytes of the whole filter, file headers not included; below 2^59
}

// maxBitsPerKey catches typing errors. It is far above any useful value: the rate at 4096 bits per key is below 1e-800.
const maxBitsPerKey = 4096

// ReadSizing reads the parameters bits_per_key, fpr and bytes. Errors are left in r.
func ReadSizing(r *SpecReader) Sizing {
	s := Sizing{BitsPerKey: r.Float("bits_per_key"), FPR: r.Float("fpr"), Bytes: r.Uint("bytes")}
	for i, zero := range []bool{s.BitsPerKey == 0, s.FPR == 0, s.Bytes == 0} {
		if name := []string{"bits_per_key", "fpr", "bytes"}[i]; zero && Given(r.spec, name) {
			r.refuse(name, 0, "want more than 0")
		}
	}
	return s
}

// AddTo returns the spec with the size, or spec if no field is set.
func (s Sizing) AddTo(spec filter.Spec) filter.Spec {
	switch {
	case s.BitsPerKey != 0:
		return spec.With("bits_per_key", s.BitsPerKey)
	case s.FPR != 0:
		return spec.With("fpr", s.FPR)
	case s.Bytes != 0:
		return spec.With("bytes", s.Bytes)
	}
	return spec
}

// IsZero reports whether no field is set.
func (s Sizing) IsZero() bool { return s == Sizing{} }

// Check returns an error wrapping ErrConfig if a field is out of range or more than one is set.
func (s Sizing) Check() error {
	switch {
	case !(s.BitsPerKey >= 0 && s.BitsPerKey <= maxBitsPerKey):
		return Invalid("bits_per_key", s.BitsPerKey, "want more than 0 and at most %d", maxBitsPerKey)
	case s.FPR == 1: // fpr=100% too, which does not mean 1%
		return Invalid("fpr", s.FPR, "want a rate above 0 and below 1, such as 0.01")
	case !ValidRate(s.FPR):
		return Invalid("fpr", s.FPR, "want a rate above 0 and below 1, such as 0.01%s", MeantRate(s.FPR))
	case s.BitsPerKey != 0 && s.FPR != 0 || s.Bytes != 0 && (s.BitsPerKey != 0 || s.FPR != 0):
		return Invalid("size", "two sizes", "give only one of bits_per_key, fpr and bytes")
	}
	return nil
}

// Bits returns the size in bits that BitsPerKey, times keys, or Bytes gives, or 0 if neither is set. The error wraps
// ErrTooLarge if the size is 2^62 bits or more.
func (s Sizing) Bits(keys uint64) (uint64, error) {
	if s.Bytes != 0 {
		if s.Bytes >= 1<<59 {
			return 0, fmt.Errorf("bytes=%d: %w", s.Bytes, filter.ErrTooLarge)
		}
		return s.Bytes * 8, nil
	}
	return BitsFor(s.BitsPerKey * float64(keys))
}

// AtMost returns an error wrapping ErrConfig if the size exceeds most bits, the largest filter of a family for keys
// keys, by more than one bit per key. The filter would be smaller than requested.
func (s Sizing) AtMost(most, keys uint64, family string) error {
	asked, err := s.Bits(keys)
	if err != nil || keys == 0 || asked <= most+keys {
		return err
	}
	const reason = "%s takes at most %.3g bits per key, %d bytes for %d keys; ask for less, or take family standard or " +
		"blocked"
	return s.Invalid(reason, family, float64(most)/float64(keys), (most+7)/8, keys)
}

// Invalid returns an Invalid error for Bytes if it is set, else for BitsPerKey.
func (s Sizing) Invalid(reason string, args ...any) error {
	if s.Bytes != 0 {
		return Invalid("bytes", s.Bytes, reason, args...)
	}
	return Invalid("bits_per_key", s.BitsPerKey, reason, args...)
}

// ValidRate reports whether r is a valid planned false-positive rate, in [0, 1), where 0 stands for none.
// The rate of an existing filter may also be 1; see MeasuredRate.
func ValidRate(r float64) bool { return r >= 0 && r < 1 }

// MeantRate returns a hint for an invalid rate that is probably in percent, such as 5, or "".
func MeantRate(r float64) string {
	if !(r >= 1 && r < 100) {
		return ""
	}
	return fmt.Sprintf("; did you mean %g%%?", r)
}

// MeasuredRate reports whether r is a false-positive rate of a filter, in [0, 1]: it is 1 if all bits are set.
func MeasuredRate(r float64) bool { return ValidRate(r) || r == 1 }

// BitsFor rounds a number of bits up. The error wraps ErrTooLarge if bits is 2^62 or more, or NaN.
func BitsFor(bits float64) (uint64, error) {
	if !(bits < 1<<62) {
		return 0, fmt.Errorf("%.3g bits: %w", bits, filter.ErrTooLarge)
	}
	return uint64(math.Ceil(bits)), nil
}

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

// several reports whether more than one argument is true.
func several(set ...bool) bool {
	i := slices.Index(set, true)
	return i >= 0 && slices.Contains(set[i+1:], true)
}
