package filter

import (
	"fmt"
	"math"
)

// Sizing says how large a filter shall be: by bits a key, by the rate that it shall keep, or in all. At most one
// field is set; with none, a family takes its default.
type Sizing struct {
	BitsPerKey float64 // in (0, 4096]
	FPR        float64 // in (0, 1)
	Bytes      uint64  // the whole filter without file headers
}

// maxBitsPerKey is far above any use (the rate at 4096 bits a key is below 1e-800) and keeps slips of the pen out.
const maxBitsPerKey = 4096

// ReadSizing takes the parameters bits_per_key, fpr and bytes.
func ReadSizing(r *SpecReader) Sizing {
	s := Sizing{BitsPerKey: r.Float("bits_per_key"), FPR: r.Float("fpr"), Bytes: r.Uint("bytes")}
	for name, zero := range map[string]bool{"bits_per_key": s.BitsPerKey == 0, "fpr": s.FPR == 0, "bytes": s.Bytes == 0} {
		if zero && r.spec.Has(name) {
			r.errs = append(r.errs, &ConfigError{name, 0, "want more than 0"})
		}
	}
	return s
}

// IsZero reports whether no field is set.
func (s Sizing) IsZero() bool { return s == Sizing{} }

// Check returns an error wrapping ErrConfig if a field is out of its range or more than one is set.
func (s Sizing) Check() error {
	set := 0
	for _, is := range []bool{s.BitsPerKey != 0, s.FPR != 0, s.Bytes != 0} {
		if is {
			set++
		}
	}
	switch {
	case !(s.BitsPerKey >= 0 && s.BitsPerKey <= maxBitsPerKey):
		return &ConfigError{"bits_per_key", s.BitsPerKey, fmt.Sprintf("want more than 0 and at most %d", maxBitsPerKey)}
	case !(s.FPR >= 0 && s.FPR < 1):
		return &ConfigError{"fpr", s.FPR, "want a rate between 0 and 1, both excluded, such as 0.01"}
	case set > 1:
		return &ConfigError{"size", fmt.Sprintf("%+v", s), "give one of bits_per_key, fpr and bytes"}
	}
	return nil
}

// Bits returns the number of bits that BitsPerKey or Bytes ask for, or 0 if neither is set. It fails with an error
// wrapping ErrTooLarge at 2^62 bits and more.
func (s Sizing) Bits(keys uint64) (uint64, error) {
	if s.Bytes != 0 {
		if s.Bytes >= 1<<59 {
			return 0, fmt.Errorf("bytes=%d: %w", s.Bytes, ErrTooLarge)
		}
		return s.Bytes * 8, nil
	}
	return BitsFor(s.BitsPerKey * float64(keys))
}

// BitsFor rounds a computed number of bits up, or fails with an error wrapping ErrTooLarge at 2^62 and more.
func BitsFor(bits float64) (uint64, error) {
	if !(bits < 1<<62) {
		return 0, fmt.Errorf("%.3g bits: %w", bits, ErrTooLarge)
	}
	return uint64(math.Ceil(bits)), nil
}
