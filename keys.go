package bloomery

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
)

// Contains reports whether key may be in the set. If it is false, the key is absent. For an absent key it is true with
// probability Info().FPRPosterior. If the file of a mapped Set or a shard cannot be read, it is true, and Err returns
// an error; see ContainsContext.
func (s *Set) Contains(key []byte) bool {
	if s.filter != nil {
		h := s.hasher.Sum(key) // before s.filter is read: one word less on the stack, a cycle faster
		return s.filter.Has(h)
	}
	return s.inner().Contains(s.key(key))
}

// ContainsString is Contains for a string.
func (s *Set) ContainsString(key string) bool {
	if s.filter != nil {
		h := s.hasher.SumString(key)
		return s.filter.Has(h)
	}
	return s.inner().Contains(s.keyOfString(key))
}

// ContainsUint64 is Contains for the eight bytes of key, little endian.
func (s *Set) ContainsUint64(key uint64) bool {
	if s.filter != nil {
		h := s.hasher.SumUint64(key)
		return s.filter.Has(h)
	}
	return s.inner().Contains(s.keyOfUint64(key))
}

// Has is Contains for a key hashed by Hasher. A filter that takes raw keys has more false positives here.
func (s *Set) Has(h filter.Hash) bool {
	if s.filter != nil {
		return s.filter.Has(h)
	}
	return s.inner().Contains(h, nil)
}

// ContainsContext is Contains that also returns an error: if the answer cannot be known, because a shard or the mapped
// file cannot be read or ctx has ended, it returns true and the error. In a sharded Set it may load a shard.
func (s *Set) ContainsContext(ctx context.Context, key []byte) (bool, error) {
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	h, raw := s.key(key)
	one, err := s.at(h, false)
	if err != nil { // an empty Set knows that it has no key
		if !s.inner().Contains(h, raw) {
			err = nil
		}
		return err != nil, err
	}
	return one.Ask(h, raw)
}

// ContainsMany sets dst[i] to Contains(keys[i]) for every i. If the filter is larger than the processor's caches, this
// is several times as fast as single queries. It panics if dst and keys differ in length.
func (s *Set) ContainsMany(dst []bool, keys [][]byte) {
	sameLength("ContainsMany", len(dst), len(keys))
	s.inner().ContainsMany(dst, engine.Keys{Bytes: keys})
}

// ContainsManyStrings is ContainsMany for strings.
func (s *Set) ContainsManyStrings(dst []bool, keys []string) {
	sameLength("ContainsMany", len(dst), len(keys))
	s.inner().ContainsMany(dst, engine.Keys{Strings: keys})
}

// ContainsManyUint64 is ContainsMany for integers.
func (s *Set) ContainsManyUint64(dst []bool, keys []uint64) {
	sameLength("ContainsMany", len(dst), len(keys))
	s.inner().ContainsMany(dst, engine.Keys{Uint64s: keys})
}

// HasMany is ContainsMany for keys hashed by Hasher. A filter that takes raw keys has more false positives here.
func (s *Set) HasMany(dst []bool, hs []filter.Hash) {
	sameLength("HasMany", len(dst), len(hs))
	s.inner().HasMany(dst, hs)
}

// sameLength panics if the numbers of results and keys differ.
func sameLength(what string, dst, keys int) {
	if dst != keys {
		panic(fmt.Sprintf("bloomery: %s: dst has %d places for %d keys", what, dst, keys))
	}
}

// key returns what the Engine takes of a key: its hash, or a copy of its bytes, so that key does not escape.
func (s *Set) key(key []byte) (h filter.Hash, raw []byte) {
	if s.hashes {
		return s.hasher.Sum(key), nil
	}
	raw = make([]byte, len(key))
	copy(raw, key)
	return h, raw
}

// keyOfString is key for a string.
func (s *Set) keyOfString(key string) (h filter.Hash, raw []byte) {
	if s.hashes {
		return s.hasher.SumString(key), nil
	}
	return h, []byte(key)
}

// keyOfUint64 is key for the eight bytes of key, little endian.
func (s *Set) keyOfUint64(key uint64) (h filter.Hash, raw []byte) {
	if s.hashes {
		return s.hasher.SumUint64(key), nil
	}
	return h, binary.LittleEndian.AppendUint64(nil, key)
}
