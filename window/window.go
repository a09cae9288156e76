// Package window provides a filter that forgets: a set of keys in fixed memory that answers "was this key seen within
// the last 24 hours?" for an unlimited stream of keys. Use it for messages that arrive twice, idempotency keys, rate
// limits and crawlers.
//
//	seen, err := window.New[string](window.Config{Keys: 1_000_000, TTL: 24 * time.Hour, FPR: 0.001})
//	again, err := seen.TestAndAdd(id) // of many goroutines with the same new id, exactly one gets false
//
// What to know:
//
//   - A key is present for at least TTL and at most 8/7·TTL. No key is forgotten early: this is certain.
//   - An absent key is reported as present with a small probability, the false-positive rate.
//   - A million keys within TTL take 2.2 MB at a rate of 0.1%. If more arrive, see Config.Overflow.
//   - [Filter.Save] writes a filter and its time to a file, and [Open] reads them: after a restart no key expires
//     early, and no expired key comes back.
//   - Single keys cannot be removed: two keys may share a cell.
//
// The [guide] lists sizes and speeds.
//
// # Time
//
// Time never goes back. If the clock jumps:
//
//   - Back: time stands still until the clock reaches its former time. Keys live longer by the size of the jump.
//   - Ahead: keys age by the size of the jump.
//
// By default time starts at the machine's time when [New] is called, and then goes on with the monotonic clock, which
// no adjustment of the clock changes. On Linux the monotonic clock stands still while the machine is suspended, so that
// keys live longer by that time. See [Config] for other clocks and for the time of events.
//
// # How it works
//
// The keys are in a [rank-indexed table] of buckets with about 200 cells each. A cell stores a few bits of the hash of
// a key and a stamp of 3 bits, the epoch in which the cell was written; an epoch is a seventh of TTL. A hand goes
// around all buckets once per epoch, begins the next epoch of each, and removes the cells whose stamp comes into use
// again: they are older than TTL and not older than 8/7·TTL.
//
// Nothing runs in the background. An operation moves a late hand over at most eight buckets, and brings the buckets of
// its key up to date. So the answers are right for the current time even if the filter was idle for a year. The page on
// the [format] has the details.
//
// [guide]: https://github.com/bloomery/bloomery/blob/main/docs/guides/dedup.md
// [rank-indexed table]: https://github.com/bloomery/bloomery/blob/main/docs/families/rankindexed.md
// [format]: https://github.com/bloomery/bloomery/blob/main/docs/format/window.md
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
// least TTL and at most 8/7·TTL. Later calls do not change this. If it returns true, the key is not added. With
// Config.Refresh a key expires at a time after it was last seen: it is present for at least TTL after each TestAndAdd.
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
