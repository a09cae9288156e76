package rankindexed

import (
	"context"
	"errors"
	"iter"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
)

// SetOptions implements family.Gatherer. With values, half of the memory is for keys and half for values.
func (b *Builder) SetOptions(o family.BuildOptions) {
	if b.config.valueBits() > 0 {
		o.Memory = (o.Memory + 1) / 2
	}
	b.Intake.SetOptions(o)
	b.values = hashes.NewSorted(hashes.Config{Memory: b.Memory, Dir: b.Dir, Workers: b.Workers})
}

// Close drops the keys and removes their files. Build calls it.
func (b *Builder) Close() error { return errors.Join(b.Intake.Close(), b.values.Close()) }

// valueBits returns the number of bits of the value of each key.
func (c Config) valueBits() int {
	if c.Geometry != nil {
		return c.Geometry.ValueBits
	}
	return c.ValueBits
}

// AddValues adds the keys hs[i] with values[i], below 2^ValueBits, and keeps no reference to either. It may be called
// from several goroutines at once. A key of AddMany has the value 0 unless AddValues also adds it. Values take 16 bytes
// each until Build, in addition to the keys. The error wraps filter.ErrConfig if the filter is to have no values, the
// two slices differ in length, or a value has too many bits; then it has added nothing. Any other error means that keys
// beyond the memory limit cannot be written.
func (b *Builder) AddValues(hs []filter.Hash, values []uint64) error {
	return hashes.AddValues(hs, values, b.config.valueBits(), func(keys, valued []filter.Hash) error {
		if err := b.Keys.AddMany(keys); err != nil {
			return err
		}
		return b.values.AddMany(valued)
	})
}

// addValued fills the buckets of a filter with all keys and their values. It calls done after each part.
func (b *Builder) addValued(
	ctx context.Context, fill *filler, part func(filter.Hash) uint64, done func(keys int) error,
) (err error) {
	if err := b.checkValues(ctx); err != nil {
		return err
	}

	// Keys and values are sorted by hash: merge them. Pull turns the loop over the values into calls of next.
	next, stop := iter.Pull(func(yield func([]filter.Hash) bool) {
		if e := b.values.Blocks(ctx, func(hs []filter.Hash) error {
			if !yield(hs) {
				return errEnd
			}
			return nil
		}); e != errEnd {
			err = e
		}
	})
	defer stop()
	values, more := next() // the values of the next keys
	var own []uint64       // the values of the keys of a part
	return errors.Join(err, b.Keys.Each(ctx, part, func(_ uint64, hs []filter.Hash) error {
		own = own[:0]
		for _, h := range hs {
			for more && (len(values) == 0 || keyBefore(values[0], h)) {
				if len(values) > 0 {
					values = values[1:]
				} else if values, more = next(); err != nil {
					return err
				}
			}
			value := uint64(0)
			if more && hashes.SameKey(values[0], h) {
				value = values[0].Lo & hashes.ValueMask
			}
			own = append(own, value)
		}
		if err := fill.fillBuckets(hs, own); err != nil {
			return err
		}
		return done(len(hs))
	}))
}

// checkValues returns a *family.ValueError if a key has two values.
func (b *Builder) checkValues(ctx context.Context) error {
	if _, err := b.values.Finish(ctx); err != nil {
		return err
	}
	var one hashes.OneValue
	return b.values.Blocks(ctx, func(hs []filter.Hash) error { return one.Check(hs, 1) })
}

// keyBefore reports whether the key of a comes before the key of b. The low half of Lo is a value, not part of the key.
func keyBefore(a, b filter.Hash) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo>>32 < b.Lo>>32 }

// errEnd ends a pass over the values before their end.
var errEnd = errors.New("end")
