package bloomery

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/bitvec"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/kernel"
)

// KeyedSet is a view of a Set for keys of one type, made by [Keyed]. Changes are made to the Set, with its rules of
// concurrent use.
type KeyedSet[K filter.Key] struct {
	set  *Set
	kind reflect.Kind // kind of K
	size int          // bytes of an integer, or kernel.Hashed, or inHeader
}

// inHeader means that a key starts with its address and its size, as strings and slices do.
const inHeader = 0

// Keyed returns the view of s for keys of type K, such as Keyed[uint64](s). It costs nothing to make.
func Keyed[K filter.Key](s *Set) KeyedSet[K] {
	k := KeyedSet[K]{s, reflect.TypeFor[K]().Kind(), inHeader}
	switch k.kind {
	case reflect.Uint64:
		k.size = 8
	case reflect.Struct:
		k.size = kernel.Hashed
	}
	return k
}

// Contains is Set.Contains.
func (k KeyedSet[K]) Contains(key K) bool {
	p, n := unsafe.Pointer(&key), k.size
	if n == inHeader {
		p, n = *(*unsafe.Pointer)(p), len(*(*string)(p))
	}
	if k.size == 8 {
		n = k.set.query.Integer((*uint64)(p))
	}
	return k.set.query.Ask(p, n)
}

// ContainsMany sets dst[i] to Contains(keys[i]) for every i. For a filter larger than the processor's caches, it is
// several times as fast as single queries. It panics if dst and keys differ in length.
func (k KeyedSet[K]) ContainsMany(dst []bool, keys []K) {
	sameLength("ContainsMany", len(dst), len(keys))
	if all := k.keys(keys); all.Hashes != nil {
		k.set.inner().HasMany(dst, all.Hashes)
	} else {
		k.set.inner().ContainsMany(dst, all)
	}
}

// Add is Set.Add.
func (k KeyedSet[K]) Add(key K) error { return k.set.add(k.key(key)) }

// AddMany adds keys until one fails.
func (k KeyedSet[K]) AddMany(keys []K) error { return k.set.addMany(k.keys(keys)) }

// TestAndAdd is Set.TestAndAdd.
func (k KeyedSet[K]) TestAndAdd(key K) (present bool, err error) { return k.set.testAndAdd(k.key(key)) }

// Remove is Set.Remove.
func (k KeyedSet[K]) Remove(key K) error { return k.set.remove(k.key(key)) }

// Count is Set.Count.
func (k KeyedSet[K]) Count(key K) (n uint64, saturated bool, err error) {
	return k.set.count(k.key(key))
}

// Get is Set.Get.
func (k KeyedSet[K]) Get(key K) (value uint64, ok bool, err error) { return k.set.get(k.key(key)) }

// GetMany sets values[i] and ok[i] to the results of Get(keys[i]) for every i, until an error. It panics if the three
// differ in length.
func (k KeyedSet[K]) GetMany(values []uint64, ok []bool, keys []K) (err error) {
	if len(values) != len(keys) || len(ok) != len(keys) {
		panic(fmt.Sprintf("bloomery: GetMany: %d values and %d answers for %d keys", len(values), len(ok), len(keys)))
	}
	for i, key := range keys {
		if values[i], ok[i], err = k.Get(key); err != nil {
			return err
		}
	}
	return nil
}

// AddValue is Set.AddValue.
func (k KeyedSet[K]) AddValue(key K, value uint64) error { return k.set.addValue(k.hash(key), value) }

// Put is Set.Put.
func (k KeyedSet[K]) Put(key K, value uint64) error { return k.set.put(k.hash(key), value) }

// Upsert is Set.Upsert.
func (k KeyedSet[K]) Upsert(key K, value uint64) error { return k.set.upsert(k.hash(key), value) }

// hash returns the hash of a key, unless the Set takes raw keys.
func (k KeyedSet[K]) hash(key K) filter.Hash {
	h, _ := k.key(key)
	return h
}

// key returns the hash or the raw bytes of a key, whichever the Engine takes.
func (k KeyedSet[K]) key(key K) (h filter.Hash, raw []byte) {
	switch k.kind {
	case reflect.String:
		return k.set.keyOfString(bitvec.As[string](key))
	case reflect.Slice:
		return k.set.key(bitvec.As[[]byte](key))
	case reflect.Uint64:
		return k.set.keyOfUint64(bitvec.As[uint64](key))
	}
	return bitvec.As[filter.Hash](key), nil
}

// keys returns a batch in the form that the Engine takes.
func (k KeyedSet[K]) keys(keys []K) engine.Keys {
	switch k.kind {
	case reflect.String:
		return engine.Keys{Strings: bitvec.As[[]string](keys)}
	case reflect.Slice:
		return engine.Keys{Bytes: bitvec.As[[][]byte](keys)}
	case reflect.Uint64:
		return engine.Keys{Uint64s: bitvec.As[[]uint64](keys)}
	}
	return engine.Keys{Hashes: bitvec.As[[]filter.Hash](keys)}
}

// addMany adds a batch until a key fails.
func (s *Set) addMany(keys engine.Keys) error {
	s.begin()
	defer s.end()
	return s.inner().AddMany(keys)
}
