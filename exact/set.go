package exact

import (
	"encoding/binary"
	"errors"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// partitionMask is the part of Lo that a set does not use. During a build it holds the partition of the key.
const partitionMask = 1<<32 - 1

// Set answers whether keys of a universe are members, without error. It is immutable, so all methods are safe for
// concurrent use. The answer for a key outside the universe is meaningless; see Info.OutsideRate.
//
// The zero Set contains nothing and cannot be written. The Set of a closed Live answers true for every key.
type Set struct {
	hasher  filter.Hasher
	records []*record // the base, then updates; none for the zero Set
	fault   error     // the reason why the set cannot answer, or nil
	changed changed   // the changes that Build made to Config.Base
}

var errEmpty = errors.New("exact: the Set is empty: it was neither built nor read")

// checkUsable returns the error of methods that need records, or nil if there are some.
func (s *Set) checkUsable() error {
	switch {
	case s.fault != nil:
		return s.fault
	case len(s.records) == 0:
		return errEmpty
	}
	return nil
}

// partitioned reports whether keys have partitions.
func (s *Set) partitioned() bool { return len(s.records) > 0 && s.records[0].partitions > 0 }

// Contains reports whether a key of the universe is a member. In a set with partitions, partition[0] is the partition
// of the key; the default is the partition with the empty name. Other elements are ignored, as is the argument in a set
// without partitions. It allocates only if the set has partitions and the name and the key together have more than 200
// bytes.
func (s *Set) Contains(key []byte, partition ...[]byte) bool {
	var name []byte
	if len(partition) > 0 {
		name = partition[0]
	}
	return s.contains(name, key) // Contains is inlined, so the list of partitions costs nothing
}

func (s *Set) contains(partition, key []byte) bool {
	// A closed set answers true, because a missing member is the error that callers cannot notice.
	if len(s.records) == 0 {
		return s.fault != nil
	}
	if !s.partitioned() {
		return s.hasHashes(filter.Hash{}, clearUnused(s.hasher.Sum(key)))
	}
	var buffer [sumBuffer]byte
	h, _ := sumInPartition(s.hasher, buffer[:0], partition, key)
	return s.hasHashes(s.hasher.Sum(partition), h)
}

// hasHashes returns the answer for the hashes of a partition's name and of a key.
func (s *Set) hasHashes(name, h filter.Hash) bool {
	answer := false
	for _, r := range s.records {
		answer = answer != r.hasHashes(name, h)
	}
	return answer
}

// classOf returns the class of a partition.
func (r *record) classOf(name filter.Hash) code {
	if r.index == nil {
		return r.classes[0].code
	}
	// The ribbon returns arbitrary bits for a name that it does not store, perhaps more than the largest class.
	v, _ := r.index.Get(name)
	return r.classes[min(v, uint64(len(r.classes)-1))].code
}

// hasHashes returns the answer of a record for the hashes of a partition's name and of a key.
func (r *record) hasHashes(name, h filter.Hash) bool {
	if r.kind == kindPositions {
		return r.positions.hasKey(h)
	}
	c := r.classOf(name)
	switch {
	case c.rate() == constant, c.rate() > 0 && !r.first[c.rate()].Has(h):
		return c.inverted()
	}
	return r.lastBit(h) != c.inverted()
}

// lastBit returns the bit of level 2 for a key.
func (r *record) lastBit(h filter.Hash) bool {
	v, _ := r.last.Get(rehash(h))
	return v == 1
}

// sumBuffer is the size of the buffer in which a partition and a key are joined.
const sumBuffer = 210

// sumInPartition returns the hash of a key of a partition, and its buffer for the next call.
func sumInPartition(h filter.Hasher, buffer, partition, key []byte) (filter.Hash, []byte) {
	// The length keeps partition "ab" with key "c" apart from partition "a" with key "bc".
	buffer = binary.AppendUvarint(buffer[:0], uint64(len(partition)))
	buffer = append(append(buffer, partition...), key...)
	return clearUnused(h.Sum(buffer)), buffer
}

// sumAll returns the hashes of keys in their partitions, or of keys alone if partitions is nil.
func sumAll(h filter.Hasher, partitions, keys [][]byte) []filter.Hash {
	hs := make([]filter.Hash, len(keys))
	var buffer []byte
	for i, key := range keys {
		if partitions == nil {
			hs[i] = clearUnused(h.Sum(key))
		} else {
			hs[i], buffer = sumInPartition(h, buffer, partitions[i], key)
		}
	}
	return hs
}

// clearUnused clears the bits that a set does not use.
func clearUnused(h filter.Hash) filter.Hash {
	h.Lo &^= partitionMask
	return h
}

// rehash returns the hash of a key for level 2: keys that are false positives of level 1 are not independent of its
// hash functions.
func rehash(h filter.Hash) filter.Hash {
	return filter.Hash{Hi: probe.Mix(h.Hi^mixHi, mixHiBy), Lo: probe.Mix(h.Lo^mixLo, mixLoBy)}
}
