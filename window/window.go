// Package window provides a filter that forgets: a set of keys in fixed memory that answers "was this key seen within
// the last 24 hours?" for an unlimited stream of keys. It serves deduplication, idempotency keys, rate limits and
// crawlers.
//
// A key is present for at least TTL and at most 8/7·TTL. No key is forgotten early: this is certain, not only probable.
// An absent key is reported as present with a small probability, the false-positive rate.
//
// # Stamps and the hand
//
// The keys are in a [rank-indexed table] of buckets with about 200 cells each; a cell stores a few bits of the hash of a
// key. Here each cell also stores a stamp of 3 bits, the epoch in which the cell was written. An epoch is a seventh of
// TTL. A new epoch of a bucket begins when the hand passes the bucket. The hand goes around all buckets once per epoch:
//
//	bucket            0   1   2   3   4   5   6   7   8   9
//	epoch            13  13  13  13  12  12  12  12  12  12
//	                                ^ hand: has just begun epoch 13 of bucket 3
//
// When the hand begins epoch e of a bucket, it removes the cells with the stamp e mod 8. They were written in epoch e-8
// of that bucket, which ended exactly TTL ago, so that each of them is older than TTL and none is older than 8/7·TTL.
// All eight stamps are in use at all times, and the table contains the keys of 7 to 8 epochs, 7.5 on average. If all
// buckets had the same epochs, with a sweep of the whole table at the start of each epoch, each key would need one bit
// more.
//
// # Late hands
//
// Nothing runs in the background. An operation reads the time, and if the hand is late, moves the hand over at most
// eight buckets. The answer of the operation does not depend on the position of the hand: for every group of eight
// buckets, the filter stores how often the hand passed them, and an operation first brings the group of its key up to
// date. A bucket that the hand should have passed eight times since then is cleared. So the answers are right for the
// current time even if the filter was idle for a year.
//
// # Time
//
// Time never goes back. If the clock jumps:
//
//   - Back: time stands still until the clock reaches its former time. Keys live longer by the size of the jump.
//   - Ahead: keys age by the size of the jump. Each of the next operations removes the old keys of at most sixteen
//     buckets.
//
// By default time starts at the machine's time when New is called, and then goes on with the monotonic clock, which no
// adjustment of the clock changes. On Linux the monotonic clock stands still while the machine is suspended, so that
// keys live longer by that time. See Config for other clocks and for the time of events.
//
// # Files
//
// Save writes a filter and its time to a file, and Open reads them: no key expires early, and no expired key comes
// back. A file that is an hour old gives a filter that was idle for an hour; a file that is far ahead of the clock is
// an error, see Open. The [format] has a page of its own.
//
// # No removal
//
// Two keys may share a cell, and a cell does not count its keys. So removing one key could remove another: removing a
// tenth of the keys would remove 0.03% of the others.
//
// The [guide] lists sizes and speeds.
//
// [rank-indexed table]: https://github.com/bloomery/bloomery/blob/main/docs/families/rankindexed.md
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format/window.md
// [guide]: https://github.com/bloomery/bloomery/blob/main/docs/guides/dedup.md
package window

import (
	"fmt"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/probe"
)

// Filter is a set of keys that are forgotten after a time. Any number of goroutines may use it at once. Operations do
// not allocate. An operation that changes the filter locks the bucket of its key together with 32 to 64 other buckets,
// or 1/1,024 of all buckets if that is more.
type Filter[K filter.Key] struct {
	ring *ring
}

// New returns an empty Filter. The error wraps filter.ErrConfig, or filter.ErrTooLarge if the memory does not suffice.
func New[K filter.Key](c Config) (*Filter[K], error) {
	r, err := newRing(c)
	if err != nil {
		return nil, err
	}
	return &Filter[K]{r}, nil
}

// Add adds a key, which is then present for at least TTL and at most 8/7·TTL from the time of the call. The error wraps
// filter.ErrFull if the filter has no room for the key and Config.Overflow is Refuse; the filter is then unchanged.
func (f *Filter[K]) Add(key K) error {
	f.ring.readClock()
	_, err := f.ring.addHash(f.hashKey(key), true)
	return err
}

// Contains reports whether the key is present: whether it, or a key with the same fingerprint, was added within TTL, or
// up to TTL/7 earlier.
func (f *Filter[K]) Contains(key K) bool {
	f.ring.readClock()
	return f.ring.containsHash(f.hashKey(key))
}

// TestAndAdd adds the key unless it is present, and reports whether it was present, in one atomic step: if many
// goroutines call it with the same key at the same time, exactly one gets false, or none if the key is a false
// positive.
//
// By default a key expires at a time after it was first seen: after TestAndAdd returns false, the key is present for at
// least TTL and at most 8/7·TTL, whatever calls follow. If it returns true, the key is not added. With Config.Refresh a
// key expires at a time after it was last seen: it is present for at least TTL after each TestAndAdd.
//
// TestAndAdd returns the errors of Add; present is then false.
func (f *Filter[K]) TestAndAdd(key K) (present bool, err error) {
	f.ring.readClock()
	return f.ring.addHash(f.hashKey(key), f.ring.refresh)
}

// AddMany calls Add for each key until one is refused, and returns how many it added. If the filter is larger than the
// caches of the processor, a batch takes two thirds to four fifths of the time of single calls.
func (f *Filter[K]) AddMany(keys []K) (n int, err error) {
	var hs [probe.BatchSize]filter.Hash
	for ; n < len(keys); n += probe.BatchSize {
		for i, h := range f.hashes(&hs, keys[n:]) {
			if _, err := f.ring.addHash(h, true); err != nil {
				return n + i, err
			}
		}
	}
	return len(keys), nil
}

// ContainsMany sets dst[i] to Contains(keys[i]) for every i. See AddMany for its speed. It panics if dst and keys
// differ in length.
func (f *Filter[K]) ContainsMany(dst []bool, keys []K) {
	sameLength("ContainsMany", len(dst), len(keys))
	var hs [probe.BatchSize]filter.Hash
	for n := 0; n < len(keys); n += probe.BatchSize {
		for i, h := range f.hashes(&hs, keys[n:]) {
			dst[n+i] = f.ring.containsHash(h)
		}
	}
}

// TestAndAddMany sets dst[i] to the result of TestAndAdd(keys[i]), in order, until a key is refused, and returns how
// many it set. A key that is in keys twice is new at most once. See AddMany for its speed. It panics if dst and keys
// differ in length.
func (f *Filter[K]) TestAndAddMany(dst []bool, keys []K) (n int, err error) {
	sameLength("TestAndAddMany", len(dst), len(keys))
	var hs [probe.BatchSize]filter.Hash
	for ; n < len(keys); n += probe.BatchSize {
		for i, h := range f.hashes(&hs, keys[n:]) {
			if dst[n+i], err = f.ring.addHash(h, f.ring.refresh); err != nil {
				return n + i, err
			}
		}
	}
	return len(keys), nil
}

// Advance moves the time to now unless it is already later, and moves the hand over at most eight buckets. With
// Config.EventTime, only Advance moves the time: call it with the time of an event before the operations for the event.
// A late event counts as seen at the latest time so far, so its key lives longer by its delay. Operations before the
// first call count as made at the time of the first call.
//
// Otherwise Advance is not needed. It never blocks for longer than the sweep of eight buckets, about 20 µs.
//
// Times before 1678 and after 2262 are clamped to this range.
func (f *Filter[K]) Advance(now time.Time) { f.ring.advance(nanoseconds(now)) }

// Len returns the number of keys in the filter. Keys with the same fingerprint count once. Len first removes expired
// keys from all buckets, in about 50 µs for a million keys.
func (f *Filter[K]) Len() uint64 { return f.ring.countKeys() }

// hashes writes the hashes of the first keys to hs, as many as fit, and returns them. It prefetches their buckets, and
// reads the clock once for all of them.
func (f *Filter[K]) hashes(hs *[probe.BatchSize]filter.Hash, keys []K) []filter.Hash {
	keys = keys[:min(len(keys), probe.BatchSize)]
	for i, key := range keys {
		hs[i] = f.hashKey(key)
	}
	f.ring.table.Prefetch(hs[:len(keys)])
	f.ring.readClock()
	return hs[:len(keys)]
}

func (f *Filter[K]) hashKey(key K) filter.Hash { return filter.SumOf(f.ring.hasher, key) }

func sameLength(name string, dst, keys int) {
	if dst != keys {
		panic(fmt.Sprintf("window: %s: %d answers for %d keys", name, dst, keys))
	}
}
