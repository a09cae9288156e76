package parallel

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
)

// StripeCount is the number of stripes.
const StripeCount = 256

// Stripe is a lock and a part of the count of keys. It fills a cache line, so that goroutines that use different
// stripes do not slow each other down.
type Stripe struct {
	sync.Mutex
	added, removed atomic.Uint64
	_              [40]byte
}

// Added increments the count of keys. It does not need the lock.
func (s *Stripe) Added() { s.added.Add(1) }

// Removed decrements the count of keys. It does not need the lock.
func (s *Stripe) Removed() { s.removed.Add(1) }

// Stripes is the common part of the concurrent forms of the families: 256 locks, each for some of the keys and some of
// the positions of a filter, and a count of keys that is divided among them. The zero Stripes is ready.
//
// A goroutine that needs several locks collects them in a StripeSet and takes all of them with one call of Lock, in
// ascending order. No goroutine takes a lock while it holds a lock with a higher or equal number, so goroutines cannot
// wait for each other in a circle.
type Stripes [StripeCount]Stripe

// StripeOf returns the number of the stripe of a key: the lowest byte of Lo^Hi. Any function of the Hash would do: the
// choice is never stored and changes no answer, so it may use bits that also choose positions without any effect on the
// false-positive rate. It only affects how often two goroutines meet at a lock: for well-mixed hashes, one time in 256.
func StripeOf(h filter.Hash) uint8 { return uint8(h.Lo ^ h.Hi) }

// Of returns the stripe of a key.
func (s *Stripes) Of(h filter.Hash) *Stripe { return &s[StripeOf(h)] }

// Once calls set for a key while it holds the lock of the key's stripe, and counts the key if set returns true.
func (s *Stripes) Once(h filter.Hash, set func(filter.Hash) bool) (added bool) {
	of := s.Of(h)
	of.Lock()
	defer of.Unlock()
	if added = set(h); added {
		of.Added()
	}
	return added
}

// Start sets the number of keys. Call it before any other goroutine uses the stripes.
func (s *Stripes) Start(keys uint64) { s[0].added.Store(keys) }

// Keys returns the number of added keys minus the number of removed keys, never below 0. It reads the removals first:
// while others count, the result is at least the true number at some moment during the call, provided that each key is
// counted as added before it is counted as removed.
func (s *Stripes) Keys() uint64 {
	var added, removed uint64
	for i := range s { // first, see above
		removed += s[i].removed.Load()
	}
	for i := range s {
		added += s[i].added.Load()
	}
	return max(added, removed) - removed
}

// LockAll takes all locks.
func (s *Stripes) LockAll() {
	for i := range s {
		s[i].Lock()
	}
}

// UnlockAll releases all locks.
func (s *Stripes) UnlockAll() {
	for i := range s {
		s[i].Unlock()
	}
}

// StripeSet is a set of stripes. The zero StripeSet is empty.
type StripeSet [StripeCount / 64]uint64

// Add adds a stripe to the set.
func (t *StripeSet) Add(i uint8) { t[i/64] |= 1 << (i % 64) }

// Lock takes the locks of a set in ascending order. The caller must hold none.
func (s *Stripes) Lock(t *StripeSet) {
	for i, w := range t {
		for ; w != 0; w &= w - 1 {
			s[i*64+bits.TrailingZeros64(w)].Lock()
		}
	}
}

// Unlock releases the locks of a set.
func (s *Stripes) Unlock(t *StripeSet) {
	for i, w := range t {
		for ; w != 0; w &= w - 1 {
			s[i*64+bits.TrailingZeros64(w)].Unlock()
		}
	}
}
