package bloomery

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// ContainsMany sets dst[i] to Contains(keys[i]) for every i. If the filter is larger than the processor's caches, this
// is several times as fast as single queries. It panics if dst and keys differ in length.
func (s *Set) ContainsMany(dst []bool, keys [][]byte) {
	containsMany(s, dst, keys, sumBytes, func(k []byte) string { return string(k) })
}

// ContainsManyStrings is ContainsMany for strings.
func (s *Set) ContainsManyStrings(dst []bool, keys []string) {
	containsMany(s, dst, keys, sumStrings, func(k string) string { return k })
}

// ContainsManyUint64 is ContainsMany for integers.
func (s *Set) ContainsManyUint64(dst []bool, keys []uint64) {
	containsMany(s, dst, keys, filter.Hasher.SumUint64s, func(k uint64) string { return string(littleEndian(k)) })
}

// HasMany is ContainsMany for keys hashed by Hasher. A filter that takes raw keys has more false positives here.
func (s *Set) HasMany(dst []bool, hs []filter.Hash) {
	sameLength("HasMany", len(dst), len(hs))
	if s.shards != nil {
		s.shardedHasMany(dst, hs)
		return
	}
	if s.filter == nil {
		s.allUnknown(dst)
		return
	}
	s.query(dst, hs, false)
}

// allUnknown is HasMany for a Set without a filter.
func (s *Set) allUnknown(dst []bool) {
	answer := s.unknown()
	for i := range dst {
		dst[i] = answer
	}
}

// query is HasMany for a Set of one filter. cold says that the caches probably hold nothing of it.
func (s *Set) query(dst []bool, hs []filter.Hash, cold bool) {
	hasMany := s.hasMany
	if cold && s.cold != nil {
		hasMany = s.cold.HasManyCold
	}
	if s.mapping == nil {
		hasMany(dst, hs)
		return
	}
	if err := s.mapping.Guard(func() { hasMany(dst, hs) }); err != nil {
		s.failed(err)
		for i := range dst {
			dst[i] = true // a false negative is not allowed
		}
	}
}

func (s *Set) hasMany(dst []bool, hs []filter.Hash) {
	if s.batcher != nil {
		s.batcher.HasMany(dst, hs)
		return
	}
	for i, h := range hs {
		dst[i] = s.filter.Has(h)
	}
}

func sumBytes(h filter.Hasher, dst []filter.Hash, keys [][]byte) {
	for i, k := range keys {
		dst[i] = h.Sum(k)
	}
}

func sumStrings(h filter.Hasher, dst []filter.Hash, keys []string) {
	for i, k := range keys {
		dst[i] = h.SumString(k)
	}
}

// containsMany is ContainsMany for keys of any type: sum hashes some of them, and raw returns the bytes of one.
func containsMany[K any](
	s *Set, dst []bool, keys []K, sum func(h filter.Hasher, dst []filter.Hash, keys []K), raw func(K) string,
) {
	sameLength("ContainsMany", len(dst), len(keys))
	switch {
	case s.shards != nil && !s.shards.spreading.ready.Load():
		g := groupPool.Get().(*group)
		defer groupPool.Put(g)
		for start := 0; start < len(keys); start += groupLen {
			part := keys[start:min(start+groupLen, len(keys))]
			sum(s.hasher, g.hs[:], part)
			s.shardedHasMany(dst[start:][:len(part)], g.hs[:len(part)])
		}
		return
	case s.filter == nil && s.shards == nil:
		s.allUnknown(dst)
		return
	case s.raw != nil:
		for i, k := range keys {
			dst[i] = s.containsRaw(raw(k))
		}
		return
	}
	buf := hashPool.Get().(*[batchLen]filter.Hash)
	defer hashPool.Put(buf)
	for start := 0; start < len(keys); start += batchLen {
		part := keys[start:min(start+batchLen, len(keys))]
		sum(s.hasher, buf[:], part)
		s.HasMany(dst[start:][:len(part)], buf[:len(part)])
	}
}

// sameLength panics if the numbers of results and keys differ.
func sameLength(what string, dst, keys int) {
	if dst != keys {
		panic(fmt.Sprintf("bloomery: %s: dst has %d places for %d keys", what, dst, keys))
	}
}
