package exact

import (
	"fmt"

	"github.com/bloomery/bloomery/filter"
)

// batchLen is the number of keys whose hashes are computed together, so that their cache misses overlap.
const batchLen = 256

// ContainsMany sets dst[i] to Contains(keys[i]) for every i, or if there are partitions, to Contains(keys[i],
// partitions[i]). It panics if dst or partitions differ in length from keys.
func (s *Set) ContainsMany(dst []bool, keys [][]byte, partitions ...[]byte) {
	s.containsMany(dst, partitionsOf(keys, partitions), keys)
}

// partitionsOf returns the partitions of keys, or nil if there are none. It panics if their number differs from the
// number of keys.
func partitionsOf(keys, partitions [][]byte) [][]byte {
	if len(partitions) == 0 {
		return nil
	}
	if len(partitions) != len(keys) {
		panic(fmt.Sprintf("exact: %d partitions for %d keys", len(partitions), len(keys)))
	}
	return partitions
}

func (s *Set) containsMany(dst []bool, partitions, keys [][]byte) {
	if len(dst) != len(keys) {
		panic(fmt.Sprintf("exact: room for %d answers to %d keys", len(dst), len(keys)))
	}
	if len(s.records) == 0 {
		// A closed set answers true for every key, and the zero Set contains nothing.
		for i := range dst {
			dst[i] = s.fault != nil
		}
		return
	}

	q := batch{set: s}
	for len(keys) > 0 {
		n := min(len(keys), batchLen)
		names := emptyNames[:n]
		if partitions != nil {
			names, partitions = partitions[:n], partitions[n:]
		}
		q.sumAll(names, keys[:n])
		q.answer(dst[:n])
		dst, keys = dst[n:], keys[n:]
	}
}

var emptyNames [batchLen][]byte

// batch is up to batchLen keys that are queried together, with the buffers for their answers.
type batch struct {
	set    *Set
	buffer []byte
	names  [batchLen]filter.Hash // the hashes of the partitions' names
	hashes [batchLen]filter.Hash

	codes [batchLen]code
	at    [batchLen]int // indices of the keys with one r
	some  [batchLen]filter.Hash
	hits  [batchLen]bool
}

// sumAll hashes keys, with their partitions if the set is partitioned.
func (q *batch) sumAll(partitions, keys [][]byte) {
	in := q.set.partitioned()
	for i, key := range keys {
		switch p := partitions[i]; {
		case !in:
			q.hashes[i] = clearUnused(q.set.hasher.Sum(key))
			continue
		// Keys usually come grouped by partition, so the previous hash is often right.
		case i > 0 && string(p) == string(partitions[i-1]):
			q.names[i] = q.names[i-1]
		default:
			q.names[i] = q.set.hasher.Sum(p)
		}
		q.hashes[i], q.buffer = sumInPartition(q.set.hasher, q.buffer, partitions[i], key)
	}
}

// answer sets dst to the answers for the hashes.
func (q *batch) answer(dst []bool) {
	clear(dst)
	// Each record flips the answers of its keys: a key is a member if an odd number of records contain it.
	for _, r := range q.set.records {
		if r.kind == kindPositions {
			for i := range dst {
				dst[i] = dst[i] != r.positions.hasKey(q.hashes[i])
			}
			continue
		}
		for i := range dst {
			if i > 0 && q.names[i] == q.names[i-1] {
				q.codes[i] = q.codes[i-1]
			} else {
				q.codes[i] = r.classOf(q.names[i])
			}
		}

		// The classes are sorted by rate, and two classes with one rate share level 1.
		last := -1
		for _, c := range r.classes {
			if c.rate() != last {
				last = c.rate()
				q.answerRate(dst, r, last)
			}
		}
	}
}

// answerRate flips the answers of the keys with that r that a record contains.
func (q *batch) answerRate(dst []bool, r *record, rate int) {
	n := 0
	for i := range dst {
		if q.codes[i].rate() == rate {
			q.at[n], q.some[n], q.hits[n] = i, q.hashes[i], rate == 0
			n++
		}
	}
	// One call for all keys of a rate lets their cache misses overlap.
	if rate > 0 && rate < constant && n > 0 {
		r.first[rate].HasMany(q.hits[:n], q.some[:n])
	}

	for j, i := range q.at[:n] {
		has := q.hits[j] && r.lastBit(q.some[j])
		dst[i] = dst[i] != (has != q.codes[i].inverted())
	}
}
