package bloomery

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// Contains reports whether key may be in the set. If it is false, the key is absent. For an absent key it is true with
// probability Info().FPRPosterior. If the file of a mapped Set or a shard cannot be read, it is true, and Err returns
// an error; see ContainsContext.
func (s *Set) Contains(key []byte) bool { return s.query.Bytes(key) }

// ContainsString is Contains for a string. For integers and batches see [Keyed].
func (s *Set) ContainsString(key string) bool { return s.query.String(key) }

// Hash returns the hash of a key. Pass it to ContainsHash of any Set with an equal Hasher.
func (s *Set) Hash(key []byte) filter.Hash { return s.Hasher().Sum(key) }

// ContainsHash is Contains for a key hashed by Hash or Hasher. A filter that takes raw keys has more false positives
// here.
func (s *Set) ContainsHash(h filter.Hash) bool { return s.query.Hash(h) }

// ContainsHashes sets dst[i] to ContainsHash(hs[i]) for every i. For a filter larger than the processor's caches, it is
// several times as fast as single queries. It panics if dst and hs differ in length.
func (s *Set) ContainsHashes(dst []bool, hs []filter.Hash) {
	sameLength("ContainsHashes", len(dst), len(hs))
	s.inner().HasMany(dst, hs)
}

// ContainsContext is Contains that also returns an error: if the answer cannot be known, because a shard or the mapped
// file cannot be read or ctx has ended, it returns true and the error. In a sharded Set it may load a shard.
func (s *Set) ContainsContext(ctx context.Context, key []byte) (bool, error) {
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	h, raw := s.key(key)
	one, err := s.at(h, false)
	if err != nil {
		return true, err
	}
	return one.Ask(h, raw)
}

// sameLength panics if the numbers of results and keys differ.
func sameLength(what string, dst, keys int) {
	if dst != keys {
		panic(fmt.Sprintf("bloomery: %s: dst has %d places for %d keys", what, dst, keys))
	}
}

// key returns the hash of a key, or for a raw-key filter a copy of its bytes, so that key does not escape.
func (s *Set) key(key []byte) (h filter.Hash, raw []byte) {
	if s.hashes {
		return s.Hasher().Sum(key), nil
	}
	raw = make([]byte, len(key))
	copy(raw, key)
	return h, raw
}

// keyOfString is key for a string.
func (s *Set) keyOfString(key string) (h filter.Hash, raw []byte) {
	if s.hashes {
		return s.Hasher().SumString(key), nil
	}
	return h, []byte(key)
}

// keyOfUint64 is key for an integer: see filter.Hasher.SumUint64.
func (s *Set) keyOfUint64(key uint64) (h filter.Hash, raw []byte) {
	if s.hashes {
		return s.Hasher().SumUint64(key), nil
	}
	raw, _ = s.Hasher().Form().AppendUint64([]byte{}, key) // the empty key if it has none: no integer is empty
	return h, raw
}

// Add adds a key. The error wraps errors.ErrUnsupported if the family is static, and filter.ErrFull if there is no
// room; the set is then unchanged.
func (s *Set) Add(key []byte) error { return s.add(s.key(key)) }

// AddString is Add for a string. For integers and batches see [Keyed].
func (s *Set) AddString(key string) error { return s.add(s.keyOfString(key)) }

func (s *Set) add(h filter.Hash, raw []byte) error {
	s.begin()
	one, err := s.at(h, true)
	if err == nil {
		err = one.Add(h, raw)
	}
	s.end()
	return err
}

// TestAndAdd adds a key unless Contains(key) is true, and returns Contains(key). In a Set for many writers this is one
// atomic step: if many goroutines add the same new key at the same time, present is false for exactly one of them, or
// for none if the key is a false positive. Errors come from Add; present is then false.
func (s *Set) TestAndAdd(key []byte) (present bool, err error) { return s.testAndAdd(s.key(key)) }

func (s *Set) testAndAdd(h filter.Hash, raw []byte) (present bool, err error) {
	s.begin()
	one, err := s.at(h, true)
	if err == nil {
		present, err = one.TestAndAdd(h, raw)
	}
	s.end()
	return present, err
}

// Remove undoes one Add. Remove only keys that were added. For most other keys the error wraps filter.ErrNotFound and
// the set is unchanged, but a key that collides with a present one removes that one. The error wraps
// errors.ErrUnsupported if the family has no Remove. For lists see [Removal], for strings and integers [Keyed].
func (s *Set) Remove(key []byte) error { return s.remove(s.key(key)) }

// remove is Remove for a hash. Raw-key filters cannot remove keys.
func (s *Set) remove(h filter.Hash, _ []byte) error {
	s.begin()
	one, err := s.at(h, true)
	if err == nil {
		err = one.Remove(h)
	}
	s.end()
	return err
}

// Count returns how often a key was added, minus how often it was removed. n is never too small, unless saturated is
// true: then the counters of the key are at their maximum, and n is that maximum, a lower bound. The error wraps
// errors.ErrUnsupported if the family does not count.
func (s *Set) Count(key []byte) (n uint64, saturated bool, err error) { return s.count(s.key(key)) }

// count is Count for a hash. Raw-key filters do not count.
func (s *Set) count(h filter.Hash, _ []byte) (n uint64, saturated bool, err error) {
	one, err := s.at(h, false)
	if err != nil {
		return 0, false, err
	}
	return one.Count(h)
}

// Get returns the value of a key, 0 if it was added without one, and whether the key may be in the set. In rankindexed,
// keys that collide share a value. A key that was not added has an arbitrary value at the false-positive rate: always
// in a filter without fingerprints, such as ribbon(r=0,value_bits=8). The error wraps errors.ErrUnsupported if the
// filter stores no values.
func (s *Set) Get(key []byte) (value uint64, ok bool, err error) { return s.get(s.key(key)) }

// get is Get for a hash. Raw-key filters store no values.
func (s *Set) get(h filter.Hash, _ []byte) (value uint64, ok bool, err error) {
	one, err := s.at(h, false)
	if err != nil {
		return 0, true, err
	}
	return one.Get(h)
}

// AddValue adds a key with a value. Each AddValue needs its own Remove, like each Add. The error wraps
// errors.ErrUnsupported if the filter stores no values, filter.ErrConfig if the value has too many bits, or
// filter.ErrFull if there is no room. On error the set is unchanged.
func (s *Set) AddValue(key []byte, value uint64) error {
	h, _ := s.key(key)
	return s.addValue(h, value)
}

// Put sets the value of a key that was added. The error wraps filter.ErrNotFound if the key is absent; others: see
// AddValue.
func (s *Set) Put(key []byte, value uint64) error {
	h, _ := s.key(key)
	return s.put(h, value)
}

// Upsert sets the value of a key, and adds the key if it is absent. Errors: see AddValue. In a Set for many
// writers it is atomic: two goroutines with the same new key add it once.
func (s *Set) Upsert(key []byte, value uint64) error {
	h, _ := s.key(key)
	return s.upsert(h, value)
}

func (s *Set) addValue(h filter.Hash, value uint64) error {
	return s.withValuer(h, func(v family.Valuer) error { return v.AddValue(h, value) })
}

func (s *Set) put(h filter.Hash, value uint64) error {
	return s.withValuer(h, func(v family.Valuer) error { return v.Put(h, value) })
}

func (s *Set) upsert(h filter.Hash, value uint64) error {
	return s.withValuer(h, func(v family.Valuer) error { return v.Upsert(h, value) })
}

// withValuer calls f with the filter that holds a key, ready to be changed.
func (s *Set) withValuer(h filter.Hash, f func(family.Valuer) error) error {
	s.begin()
	defer s.end()
	one, err := s.at(h, true)
	if err != nil {
		return err
	}
	v, err := one.Valuer()
	if err != nil {
		return err
	}
	return f(v)
}
