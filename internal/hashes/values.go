package hashes

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// MaxValueBits is the largest number of bits of a value. A key that comes with a value is its hash with the value in
// the low half of Lo, ValueMask. Such keys are distinguished by the other 96 bits.
const (
	MaxValueBits = 32
	ValueMask    = 1<<MaxValueBits - 1
)

// WithValue returns h with a value below 2^32 in the low half of Lo. ValuesOf returns the values.
func WithValue(h filter.Hash, value uint64) filter.Hash {
	return filter.Hash{Hi: h.Hi, Lo: h.Lo&^ValueMask | value&ValueMask}
}

// ValuesOf returns the values of hashes from WithValue.
func ValuesOf(hs []filter.Hash) []uint64 {
	values := make([]uint64, len(hs))
	for i, h := range hs {
		values[i] = h.Lo & ValueMask
	}
	return values
}

// AddValues calls add with the keys, in parts. valued has the same keys with their values. It keeps no reference to
// them. The error wraps filter.ErrConfig, and add is not called, if bits is 0 because the filter has no values, if the
// two slices differ in length, or if a value has more bits. Otherwise AddValues returns the error of add.
func AddValues(hs []filter.Hash, values []uint64, bits int, add func(keys, valued []filter.Hash) error) error {
	switch {
	case bits == 0:
		return family.Invalid("value_bits", 0, "a filter of values needs 1 to %d", MaxValueBits)
	case len(hs) != len(values):
		return fmt.Errorf("%d keys and %d values: %w", len(hs), len(values), filter.ErrConfig)
	}

	for _, v := range values {
		if v>>bits != 0 {
			return family.Invalid("value_bits", bits, "the value %d needs more bits", v)
		}
	}

	var buffer [256]filter.Hash
	for len(hs) > 0 {
		n := min(len(buffer), len(hs))
		for i := range n {
			buffer[i] = WithValue(hs[i], values[i])
		}
		if err := add(hs[:n], buffer[:n]); err != nil {
			return err
		}
		hs, values = hs[n:], values[n:]
	}
	return nil
}

// OneValue checks that keys with values, which come in order, have one value each. The zero OneValue is ready.
type OneValue struct {
	last filter.Hash
	some bool
}

// Check takes the next keys and returns a *family.ValueError if two of all keys differ only in their values. The
// product of a key's Hi and back is the Hi of its hash.
func (o *OneValue) Check(hs []filter.Hash, back uint64) error {
	for _, h := range hs {
		if o.some && SameKey(o.last, h) {
			return &family.ValueError{
				Hash:   filter.Hash{Hi: h.Hi * back, Lo: h.Lo &^ ValueMask},
				Values: [2]uint64{o.last.Lo & ValueMask, h.Lo & ValueMask},
			}
		}
		o.last, o.some = h, true
	}
	return nil
}

// SameKey reports whether two hashes, with or without values, belong to the same key.
func SameKey(a, b filter.Hash) bool { return a.Hi == b.Hi && a.Lo>>32 == b.Lo>>32 }
