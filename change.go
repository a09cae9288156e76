package bloomery

import (
	"errors"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/family"
)

// Add adds a key. The error wraps errors.ErrUnsupported if the family is static, and filter.ErrFull if there is no
// room; the set is then unchanged.
func (s *Set) Add(key []byte) error { return s.add(s.key(key)) }

// AddString is Add for a string.
func (s *Set) AddString(key string) error { return s.add(s.keyOfString(key)) }

// AddUint64 is Add for the eight bytes of key, little endian.
func (s *Set) AddUint64(key uint64) error { return s.add(s.keyOfUint64(key)) }

// AddHash is Add for a key hashed by Hasher. For a filter that takes raw keys the error wraps errors.ErrUnsupported.
func (s *Set) AddHash(h filter.Hash) error { return s.add(h, nil) }

func (s *Set) add(h filter.Hash, raw []byte) error {
	one, err := s.at(h, true)
	if err == nil {
		err = one.Add(h, raw)
		s.follow()
	}
	return err
}

// AddMany adds keys until one fails.
func (s *Set) AddMany(keys [][]byte) error { return s.addMany(engine.Keys{Bytes: keys}) }

// AddHashes adds keys hashed by Hasher until one fails.
func (s *Set) AddHashes(hs []filter.Hash) error { return s.addMany(engine.Keys{Hashes: hs}) }

func (s *Set) addMany(keys engine.Keys) error {
	err := s.inner().AddMany(keys)
	s.follow()
	return err
}

// TestAndAdd adds a key unless Contains(key) is true, and returns Contains(key). In a Set for many writers this is one
// atomic step: if many goroutines add the same new key at the same time, present is false for exactly one of them, or
// for none if the key is a false positive. Errors are those of Add; present is then false.
func (s *Set) TestAndAdd(key []byte) (present bool, err error) { return s.testAndAdd(s.key(key)) }

// TestAndAddString is TestAndAdd for a string.
func (s *Set) TestAndAddString(key string) (present bool, err error) {
	return s.testAndAdd(s.keyOfString(key))
}

// TestAndAddUint64 is TestAndAdd for the eight bytes of key, little endian.
func (s *Set) TestAndAddUint64(key uint64) (present bool, err error) {
	return s.testAndAdd(s.keyOfUint64(key))
}

// TestAndAddHash is TestAndAdd for a key hashed by Hasher.
func (s *Set) TestAndAddHash(h filter.Hash) (present bool, err error) {
	return s.testAndAdd(h, nil)
}

func (s *Set) testAndAdd(h filter.Hash, raw []byte) (present bool, err error) {
	one, err := s.at(h, true)
	if err == nil {
		present, err = one.TestAndAdd(h, raw)
		s.follow()
	}
	return present, err
}

// Remove undoes one Add. Remove only keys that were added. For most other keys the error wraps filter.ErrNotFound and
// the set is unchanged, but a key that collides with a present one removes that one. The error wraps
// errors.ErrUnsupported if the family has no Remove. See RemoveMany for lists of keys.
func (s *Set) Remove(key []byte) error { return s.remove(s.key(key)) }

// RemoveString is Remove for a string.
func (s *Set) RemoveString(key string) error { return s.remove(s.keyOfString(key)) }

// RemoveUint64 is Remove for the eight bytes of key, little endian.
func (s *Set) RemoveUint64(key uint64) error { return s.remove(s.keyOfUint64(key)) }

// RemoveHash is Remove for a key hashed by Hasher.
func (s *Set) RemoveHash(h filter.Hash) error { return s.remove(h, nil) }

// remove is RemoveHash. No filter of raw keys can remove any.
func (s *Set) remove(h filter.Hash, _ []byte) error {
	one, err := s.at(h, true)
	if err == nil {
		err = one.Remove(h)
		s.follow()
	}
	return err
}

// Count returns how often a key was added, minus how often it was removed. n is never too small, unless saturated is
// true: then the counters of the key are at their maximum, and n is that maximum, a lower bound. The error wraps
// errors.ErrUnsupported if the family does not count.
func (s *Set) Count(key []byte) (n uint64, saturated bool, err error) {
	return s.count(s.key(key))
}

// CountString is Count for a string.
func (s *Set) CountString(key string) (n uint64, saturated bool, err error) {
	return s.count(s.keyOfString(key))
}

// CountUint64 is Count for the eight bytes of key, little endian.
func (s *Set) CountUint64(key uint64) (n uint64, saturated bool, err error) {
	return s.count(s.keyOfUint64(key))
}

// CountHash is Count for a key hashed by Hasher.
func (s *Set) CountHash(h filter.Hash) (n uint64, saturated bool, err error) {
	return s.count(h, nil)
}

// count is CountHash. No filter of raw keys counts.
func (s *Set) count(h filter.Hash, _ []byte) (n uint64, saturated bool, err error) {
	one, err := s.at(h, false)
	if err != nil {
		return 0, false, err
	}
	return one.Count(h)
}

// AddValue adds a key with a value. Each AddValue needs its own Remove, like each Add. The error wraps
// errors.ErrUnsupported if the filter stores no values, filter.ErrConfig if the value has too many bits, filter.ErrFull
// if there is no room; the set is then unchanged.
func (s *Set) AddValue(key []byte, value uint64) error {
	return s.withValuer(key, func(v family.Valuer, h filter.Hash) error { return v.AddValue(h, value) })
}

// Put sets the value of a key that was added. The error wraps filter.ErrNotFound if the key is absent; others are those
// of AddValue.
func (s *Set) Put(key []byte, value uint64) error {
	return s.withValuer(key, func(v family.Valuer, h filter.Hash) error { return v.Put(h, value) })
}

// Upsert sets the value of a key, and adds the key if it is absent. Errors are those of AddValue. In a Set for many
// writers it is atomic: two goroutines with the same new key add it once.
func (s *Set) Upsert(key []byte, value uint64) error {
	return s.withValuer(key, func(v family.Valuer, h filter.Hash) error {
		if u, ok := v.(family.Upserter); ok {
			return u.Upsert(h, value)
		}
		if err := v.Put(h, value); !errors.Is(err, filter.ErrNotFound) {
			return err
		}
		return v.AddValue(h, value)
	})
}

// withValuer calls f with the filter that holds a key, ready to be changed.
func (s *Set) withValuer(key []byte, f func(family.Valuer, filter.Hash) error) error {
	h, _ := s.key(key)
	one, err := s.at(h, true)
	if err != nil {
		return err
	}
	v, err := one.Valuer()
	s.follow()
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
	h, _ := s.key(key)
	one, err := s.at(h, false)
	if err != nil {
		return 0, s.Has(h), err
	}
	return one.Get(h)
}

// ValueBits returns the number of bits of the value of a key. The error wraps errors.ErrUnsupported if the filter
// stores no values.
func (s *Set) ValueBits() (int, error) {
	one, err := s.at(filter.Hash{}, false) // any
	if err != nil {
		return 0, err
	}
	return one.ValueBits()
}
