package bloomery

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// Add adds a key. The error wraps errors.ErrUnsupported if the family is static, and filter.ErrFull if there is no
// room; the set is then unchanged.
func (s *Set) Add(key []byte) error {
	if s.raw != nil {
		return s.addRaw(string(key))
	}
	return s.AddHash(s.hashOf(key))
}

// AddString is Add for a string.
func (s *Set) AddString(key string) error {
	if s.raw != nil {
		return s.addRaw(string([]byte(key))) // a copy, so that key does not escape
	}
	return s.AddHash(s.hashOfString(key))
}

// AddUint64 is Add for the eight bytes of key, little endian.
func (s *Set) AddUint64(key uint64) error {
	if s.raw != nil {
		return s.addRaw(string(littleEndian(key)))
	}
	return s.AddHash(s.hashOfUint64(key))
}

// AddHash is Add for a key hashed by Hasher. For a filter that takes raw keys the error wraps errors.ErrUnsupported.
func (s *Set) AddHash(h filter.Hash) error {
	if s.shards != nil {
		return s.change(h, (*Set).AddHash)
	}
	if err := s.own(); err != nil {
		return err
	}
	if a, ok := s.filter.(filter.Adder); ok {
		return a.Add(h)
	}
	return s.lacksHash(filter.CanAdd)
}

// AddMany adds keys until one fails.
func (s *Set) AddMany(keys [][]byte) error {
	if s.shards != nil {
		hs := make([]filter.Hash, len(keys))
		sumBytes(s.hasher, hs, keys)
		return s.addGrouped(hs)
	}
	for i, k := range keys {
		if err := s.Add(k); err != nil {
			return fmt.Errorf("key %d of %d: %w", i, len(keys), err)
		}
	}
	return nil
}

// AddHashes adds keys hashed by Hasher until one fails.
func (s *Set) AddHashes(hs []filter.Hash) error {
	if s.shards != nil {
		return s.addGrouped(hs)
	}
	for i, h := range hs {
		if err := s.AddHash(h); err != nil {
			return fmt.Errorf("key %d of %d: %w", i, len(hs), err)
		}
	}
	return nil
}

func (s *Set) addRaw(key string) error {
	if err := s.own(); err != nil {
		return err
	}
	return s.raw.AddKey([]byte(key))
}

// lacksHash is lacks for an operation on hashes. A filter that takes raw keys may have the operation for keys only.
func (s *Set) lacksHash(can filter.Ability) error {
	if s.raw != nil {
		return errRawKeys
	}
	return s.lacks(can)
}

// TestAndAdd adds a key unless Contains(key) is true, and returns Contains(key). In a Set for many writers this is one
// atomic step: if many goroutines add the same new key at the same time, present is false for exactly one of them, or
// for none if the key is a false positive. Errors are those of Add; present is then false.
func (s *Set) TestAndAdd(key []byte) (present bool, err error) {
	if s.raw != nil {
		return s.testAndAddRaw(string(key))
	}
	return s.TestAndAddHash(s.hashOf(key))
}

// TestAndAddString is TestAndAdd for a string.
func (s *Set) TestAndAddString(key string) (present bool, err error) {
	if s.raw != nil {
		return s.testAndAddRaw(string([]byte(key))) // a copy, so that key does not escape
	}
	return s.TestAndAddHash(s.hashOfString(key))
}

// TestAndAddUint64 is TestAndAdd for the eight bytes of key, little endian.
func (s *Set) TestAndAddUint64(key uint64) (present bool, err error) {
	if s.raw != nil {
		return s.testAndAddRaw(string(littleEndian(key)))
	}
	return s.TestAndAddHash(s.hashOfUint64(key))
}

// TestAndAddHash is TestAndAdd for a key hashed by Hasher.
func (s *Set) TestAndAddHash(h filter.Hash) (present bool, err error) {
	if s.shards != nil {
		err = s.change(h, func(one *Set, h filter.Hash) error {
			present, err = one.TestAndAddHash(h)
			return err
		})
		return present, err
	}
	if s.concurrent != nil {
		return s.concurrent.TestAndAdd(h)
	}
	if err := s.own(); err != nil {
		return false, err
	}
	a, ok := s.filter.(filter.Adder)
	if !ok {
		return false, s.lacksHash(filter.CanAdd)
	}
	if s.filter.Has(h) {
		return true, nil
	}
	return false, a.Add(h)
}

func (s *Set) testAndAddRaw(key string) (present bool, err error) {
	if err := s.own(); err != nil {
		return false, err
	}
	if s.raw.HasKey([]byte(key)) {
		return true, nil
	}
	return false, s.raw.AddKey([]byte(key))
}

// Remove undoes one Add. Remove only keys that were added. For most other keys the error wraps filter.ErrNotFound and
// the set is unchanged, but a key that collides with a present one removes that one. The error wraps
// errors.ErrUnsupported if the family has no Remove. See RemoveMany for lists of keys.
func (s *Set) Remove(key []byte) error { return s.RemoveHash(s.hashOf(key)) }

// RemoveString is Remove for a string.
func (s *Set) RemoveString(key string) error { return s.RemoveHash(s.hashOfString(key)) }

// RemoveUint64 is Remove for the eight bytes of key, little endian.
func (s *Set) RemoveUint64(key uint64) error { return s.RemoveHash(s.hashOfUint64(key)) }

// RemoveHash is Remove for a key hashed by Hasher.
func (s *Set) RemoveHash(h filter.Hash) error {
	if s.shards != nil {
		return s.change(h, (*Set).RemoveHash)
	}
	if err := s.own(); err != nil {
		return err
	}
	if r, ok := s.filter.(filter.Remover); ok {
		return r.Remove(h)
	}
	return s.lacks(filter.CanRemove)
}

// Count returns how often a key was added, minus how often it was removed. n is never too small, unless saturated is
// true: then the counters of the key are at their maximum, and n is that maximum, a lower bound. The error wraps
// errors.ErrUnsupported if the family does not count.
func (s *Set) Count(key []byte) (n uint64, saturated bool, err error) {
	return s.CountHash(s.hashOf(key))
}

// CountString is Count for a string.
func (s *Set) CountString(key string) (n uint64, saturated bool, err error) {
	return s.CountHash(s.hashOfString(key))
}

// CountUint64 is Count for the eight bytes of key, little endian.
func (s *Set) CountUint64(key uint64) (n uint64, saturated bool, err error) {
	return s.CountHash(s.hashOfUint64(key))
}

// CountHash is Count for a key hashed by Hasher.
func (s *Set) CountHash(h filter.Hash) (n uint64, saturated bool, err error) {
	if s.shards != nil {
		one, err := s.shardOf(h)
		if err != nil {
			return 0, false, err
		}
		return one.CountHash(h)
	}
	main, exceptions := s.main()
	c, ok := main.(filter.Counter)
	if !ok {
		return 0, false, s.lacks(filter.CanCount)
	}
	err = s.guarding(func() {
		if exceptions == nil || exceptions.Has(h) {
			n, saturated = c.Count(h)
		}
	})
	return n, saturated, err
}

// AddValue adds a key with a value. Each AddValue needs its own Remove, like each Add. The error wraps
// errors.ErrUnsupported if the filter stores no values, filter.ErrConfig if the value has too many bits, filter.ErrFull
// if there is no room; the set is then unchanged.
func (s *Set) AddValue(key []byte, value uint64) error {
	return s.withValuer(key, func(v filter.Valuer, h filter.Hash) error { return v.AddValue(h, value) })
}

// Put sets the value of a key that was added. The error wraps filter.ErrNotFound if the key is absent; others are those
// of AddValue.
func (s *Set) Put(key []byte, value uint64) error {
	return s.withValuer(key, func(v filter.Valuer, h filter.Hash) error { return v.Put(h, value) })
}

// Upsert sets the value of a key, and adds the key if it is absent. Errors are those of AddValue. In a Set for many
// writers it is atomic: two goroutines with the same new key add it once.
func (s *Set) Upsert(key []byte, value uint64) error {
	return s.withValuer(key, func(v filter.Valuer, h filter.Hash) error {
		if u, ok := v.(filter.Upserter); ok {
			return u.Upsert(h, value)
		}
		if err := v.Put(h, value); !errors.Is(err, filter.ErrNotFound) {
			return err
		}
		return v.AddValue(h, value)
	})
}

// withValuer calls f with the filter that holds a key, or its shard, ready to be changed.
func (s *Set) withValuer(key []byte, f func(filter.Valuer, filter.Hash) error) error {
	h := s.hashOf(key)
	one := s
	if s.shards != nil {
		var err error
		if one, err = s.changing(h); err != nil {
			return err
		}
	}
	v, err := one.valuer()
	if err != nil {
		return err
	}
	return f(v, h)
}

// Get returns the value of a key, 0 if it was added without one, and whether the key may be in the set. In a family
// whose values change, keys that collide share a value. A key that was not added has an arbitrary value at the
// false-positive rate: always in a filter without fingerprints, such as ribbon(r=0,value_bits=8). The error wraps
// errors.ErrUnsupported if the filter stores no values.
func (s *Set) Get(key []byte) (value uint64, ok bool, err error) {
	return s.getHash(s.hashOf(key))
}

// getHash is Get for a key hashed by Hasher.
func (s *Set) getHash(h filter.Hash) (value uint64, ok bool, err error) {
	if s.shards != nil {
		one, err := s.shardOf(h)
		if err != nil {
			return 0, true, err
		}
		return one.getHash(h)
	}
	main, exceptions := s.main()
	v, is := main.(filter.Getter)
	if !is || v.ValueBits() == 0 {
		return 0, s.filter == nil && s.unknown(), s.noValues(is)
	}
	err = s.guarding(func() {
		if exceptions == nil || exceptions.Has(h) {
			value, ok = v.Get(h)
		}
	})
	return value, ok || err != nil, err
}

// ValueBits returns the number of bits of the value of a key. The error wraps errors.ErrUnsupported if the filter
// stores no values.
func (s *Set) ValueBits() (int, error) {
	one := s
	if s.shards != nil {
		var err error
		if one, err = s.Shard(0); err != nil {
			return 0, err
		}
	}
	f, _ := one.main()
	v, ok := f.(filter.Getter)
	if !ok || v.ValueBits() == 0 {
		return 0, s.noValues(ok)
	}
	return v.ValueBits(), nil
}

// noValues returns the error for a filter without values; could says that others of its family have some.
func (s *Set) noValues(could bool) error {
	if s.filter == nil && s.shards == nil {
		return s.empty()
	}
	others := families.With(filter.CanBuildValues) // all whose values can change are among them
	problem := "%s does not keep values; families that do: %s: %w"
	if could {
		problem = "%s was built without values; families with value_bits=: %s: %w"
	}
	return fmt.Errorf(problem, s.Spec(), strings.Join(others, ", "), filter.ErrUnsupported)
}

// valuer returns the filter as a Valuer, ready to be changed.
func (s *Set) valuer() (filter.Valuer, error) {
	if err := s.own(); err != nil {
		return nil, err
	}
	v, ok := s.filter.(filter.Valuer)
	if ok && v.ValueBits() > 0 {
		return v, nil
	}
	if g, static := s.filter.(filter.Getter); !ok && static && g.ValueBits() > 0 {
		return nil, fmt.Errorf("the values of %s came with the keys of its build and cannot change; families whose "+
			"values can: %s: %w", s.Spec(), strings.Join(families.With(filter.CanValues), ", "), filter.ErrUnsupported)
	}
	return nil, s.lacks(filter.CanValues)
}

// Hashes of keys, for operations that no raw-key filter has.

func (s *Set) hashOf(key []byte) (h filter.Hash) {
	if s.filter != nil || s.shards != nil {
		h = s.hasher.Sum(key)
	}
	return h
}

func (s *Set) hashOfString(key string) (h filter.Hash) {
	if s.filter != nil || s.shards != nil {
		h = s.hasher.SumString(key)
	}
	return h
}

func (s *Set) hashOfUint64(key uint64) (h filter.Hash) {
	if s.filter != nil || s.shards != nil {
		h = s.hasher.SumUint64(key)
	}
	return h
}
