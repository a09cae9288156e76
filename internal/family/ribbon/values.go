package ribbon

import (
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
)

// AddMany adds keys and keeps no reference to hs. It may be called from several goroutines at once. The error wraps
// filter.ErrConfig if the filter is to have values, or says that keys beyond the memory limit cannot be written.
func (b *Builder) AddMany(hs []filter.Hash) error {
	if b.c.ValueBits > 0 {
		return family.Invalid("value_bits", b.c.ValueBits, "every key needs a value, and some came without one")
	}
	return b.Intake.AddMany(hs)
}

// AddValues adds the keys hs[i] with values[i], below 2^ValueBits, and keeps no reference to either. It may be called
// from several goroutines at once. Keys are distinguished by 96 bits: all of Hi and the high half of Lo. The error
// wraps filter.ErrConfig if the filter is to have no values, the two slices differ in length, or a value has too many
// bits; then it has added nothing. Else it says that keys beyond the memory limit cannot be written.
func (b *Builder) AddValues(hs []filter.Hash, values []uint64) error {
	return hashes.AddValues(hs, values, int(b.c.ValueBits), func(_, valued []filter.Hash) error {
		return b.Keys.AddMany(valued)
	})
}

// checkValues returns a *family.ValueError if two of the keys, which are in order, differ only in their values. Hi of
// the key times back is that of its hash.
func checkValues(pieces iter.Seq[[]filter.Hash], back uint64) error {
	var one hashes.OneValue
	for hs := range pieces {
		if err := one.Check(hs, back); err != nil {
			return err
		}
	}
	return nil
}
