package ribbon

import (
	"fmt"
	"iter"

	"github.com/bloomery/bloomery/filter"
)

// valueMask is the part of Lo in which a builder keeps the value of a key.
const valueMask = 1<<32 - 1

// AddMany adds keys and keeps no reference to hs. It may be called from several goroutines at once. The error wraps
// filter.ErrConfig if the filter is to have values, or says that keys beyond the memory limit cannot be written.
func (b *Builder) AddMany(hs []filter.Hash) error {
	if b.c.ValueBits > 0 {
		return filter.Invalid("value_bits", b.c.ValueBits, "every key needs a value, and some came without one")
	}
	return b.Intake.AddMany(hs)
}

// AddValues adds the keys hs[i] with values[i], below 2^ValueBits, and keeps no reference to either. It may be called
// from several goroutines at once. Keys are distinguished by 96 bits: all of Hi and the high half of Lo. The error
// wraps filter.ErrConfig if the filter is to have no values, the two slices differ in length, or a value has too many
// bits; then it has added nothing. Else it says that keys beyond the memory limit cannot be written.
func (b *Builder) AddValues(hs []filter.Hash, values []uint64) error {
	switch {
	case b.c.ValueBits == 0:
		return filter.Invalid("value_bits", 0, "a filter of values needs 1 to %d", MaxBits)
	case len(hs) != len(values):
		return fmt.Errorf("%d keys and %d values: %w", len(hs), len(values), filter.ErrConfig)
	}
	for _, v := range values {
		if v>>b.c.ValueBits != 0 {
			return filter.Invalid("value_bits", b.c.ValueBits, "the value %d needs more bits", v)
		}
	}
	var buffer [256]filter.Hash
	for len(hs) > 0 {
		n := copy(buffer[:], hs)
		for i := range n {
			buffer[i].Lo = buffer[i].Lo&^valueMask | values[i]
		}
		if err := b.Keys.AddMany(buffer[:n]); err != nil {
			return err
		}
		hs, values = hs[n:], values[n:]
	}
	return nil
}

// checkValues returns a *filter.ValueError if two of the keys, which are in order, differ only in their values. Hi of
// the key times back is that of its hash.
func checkValues(pieces iter.Seq[[]filter.Hash], back uint64) error {
	var a filter.Hash
	first := true
	for hs := range pieces {
		for _, b := range hs {
			if !first && a.Hi == b.Hi && a.Lo>>32 == b.Lo>>32 {
				return &filter.ValueError{
					Hash:   filter.Hash{Hi: a.Hi * back, Lo: a.Lo &^ valueMask},
					Values: [2]uint64{a.Lo & valueMask, b.Lo & valueMask},
				}
			}
			a, first = b, false
		}
	}
	return nil
}
