package bloomery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// AddValue adds a key with its value, for a Spec with value_bits=, such as ribbon(value_bits=8): Set.Get of the built
// Set returns the value. A key that comes again must have the same value, or Build returns a *filter.ValueError, which
// knows the hash of the key only. All keys of a ribbon must come with values, and with Like all keys if that Set has
// values. In a rankindexed filter, whose values can change, other keys have the value 0; of keys that look alike, Get
// returns the value of one.
//
// The error wraps errors.ErrUnsupported if the family takes no values at the build, and filter.ErrConfig if the Spec
// has no value_bits or the value has more bits. Then the key is not added.
func (b *Builder) AddValue(key []byte, value uint64) error {
	return b.addValue(b.hasher.Sum(key), value)
}

// AddValueString is AddValue for a string.
func (b *Builder) AddValueString(key string, value uint64) error {
	return b.addValue(b.hasher.SumString(key), value)
}

// AddValueUint64 is AddValue for the eight bytes of key, little endian.
func (b *Builder) AddValueUint64(key, value uint64) error {
	return b.addValue(b.hasher.SumUint64(key), value)
}

func (b *Builder) addValue(h filter.Hash, value uint64) error {
	if err := b.takesValues(value); err != nil {
		return err
	}
	s := &b.stripes[rand.Uint32()%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent {
		return errSpent
	}
	s.valued, s.values = append(s.valued, h), append(s.values, value)
	if len(s.valued) < stripeLen {
		return nil
	}
	return b.flushValues(s)
}

// flushValues passes on the keys with values of a stripe, which is locked or out of use.
func (b *Builder) flushValues(s *stripe) error {
	hs, values := s.valued, s.values
	s.valued, s.values = s.valued[:0], s.values[:0]
	return b.AddValueHashes(hs, values)
}

// AddManyValues adds keys with their values; values[i] is that of keys[i]. Batches of a few thousand keys are fastest.
// Errors are those of AddValue, and then none of these keys is added. It panics if keys and values differ in length.
func (b *Builder) AddManyValues(keys [][]byte, values []uint64) error {
	buf := hashBuffers.Get().(*[]filter.Hash)
	hs := (*buf)[:0]
	for _, k := range keys {
		hs = append(hs, b.hasher.Sum(k))
	}
	err := b.AddValueHashes(hs, values)
	*buf = hs[:0]
	hashBuffers.Put(buf)
	return err
}

// AddValueHashes is AddManyValues for keys hashed by Hasher. It does not keep the slices.
func (b *Builder) AddValueHashes(hs []filter.Hash, values []uint64) error {
	checkPairs(hs, values)
	if err := b.takesValues(values...); err != nil || len(hs) == 0 {
		return err
	}
	if b.members != nil {
		if err := b.members.Add(hs); err != nil {
			return err
		}
	}
	b.added.Add(uint64(len(hs)))
	b.valued.Add(uint64(len(hs)))
	return b.inner.(filter.ValueBuilder).AddValues(hs, values)
}

// checkPairs panics if there is not one value for each key.
func checkPairs[K any](keys []K, values []uint64) {
	if len(keys) != len(values) {
		panic(fmt.Sprintf("bloomery: %d values for %d keys", len(values), len(keys)))
	}
}

// takesValues returns an error unless the filter takes these values at the build.
func (b *Builder) takesValues(values ...uint64) error {
	if b.inner == nil && b.spool == nil && b.raw == nil && b.shards == nil {
		return errSpent
	}
	if _, ok := b.inner.(filter.ValueBuilder); ok {
		return fitting(values, b.bits)
	}
	if b.spec.Family() == "" {
		return errNoSpec
	}
	return families.Lacks(b.spec, filter.CanBuildValues)
}

// fitting returns an error if a value has more bits, or if a filter of this family has no values.
func fitting(values []uint64, bits int) error {
	if bits == 0 {
		return &filter.ConfigError{Field: "value_bits", Value: 0, Reason: "keys with values need it in the Spec"}
	}
	for _, v := range values {
		if v>>bits != 0 {
			return &filter.ConfigError{Field: "value", Value: v,
				Reason: fmt.Sprintf("want less than 2^%d, as value_bits= says", bits)}
		}
	}
	return nil
}

var errNoSpec = errors.New(
	"bloomery: values at the build need a Spec or Needs with values, such as ribbon(value_bits=8)")

// BuildValues returns a Set of keys with values, for a Spec such as ribbon(value_bits=8): see Builder.AddValue. It
// ranges over keys once, and once more to name the key if one has two values: the error is a *filter.ValueError. It
// keeps no slice that keys yields.
func BuildValues[K Key](ctx context.Context, keys iter.Seq2[K, uint64], c Config) (*Set, error) {
	b, err := NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	sum := sumOf[K](b.hasher)
	hs, values := make([]filter.Hash, 0, feedBatch), make([]uint64, 0, feedBatch)
	give := func() error {
		err := b.AddValueHashes(hs, values)
		hs, values = hs[:0], values[:0]
		return errors.Join(err, ctx.Err())
	}
	for k, value := range keys {
		if hs, values = append(hs, sum(k)), append(values, value); len(hs) < feedBatch {
			continue
		}
		if err := give(); err != nil {
			return nil, err
		}
	}
	if err := give(); err != nil {
		return nil, err
	}
	set, err := b.Build(ctx)
	var both *filter.ValueError
	if errors.As(err, &both) {
		for k := range keys {
			if both.Of(sum(k)) {
				both.Key = nameOf(k)
				break
			}
		}
	}
	return set, err
}
