package window

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
)

// group is the number of buckets that are brought up to date together.
const group = 8

// ring is a table of stamped cells and the hand that goes around it. It has no type parameter.
//
// An epoch is a seventh of TTL. A new epoch of a bucket begins when the hand passes the bucket:
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
// If the hand is late, an operation moves it over at most eight buckets (sixteen after a jump of the clock), and first
// brings the group of its key up to date, so that its answer does not depend on the position of the hand. A bucket that
// the hand should have passed eight times since the last operation is cleared.
//
// Nothing removes a single key, because two keys may share a cell, which does not count its keys: removing a tenth of
// the keys would remove 0.03% of the others.
//
// Its whole state is: sizes and hasher, the words of the table, groups, hand, and the fields of dial that mu guards. In
// a file all groups and the hand are at target; see ring.file.
type ring struct {
	dial
	table            *rankindexed.Cells
	hasher           filter.Hasher
	hash             hashing // describes hasher, or the hash function of the file if the keys are hashes
	refresh, shorten bool
	event            bool // Config.EventTime
	tears            bool // table.Tears()
	fpr, burst       float64
	asked            uint64  // Config.Keys
	keys             float64 // mean number of keys in memory if the filter is as full as planned

	// groups counts, for each group, how often the hand passed one of its buckets, modulo 2^32. If the count is
	// laps·8+n, n < 8, the hand has passed the first n buckets once more than the others. The modulus causes no
	// ambiguity: the target moves by at most nine laps at a time, and each move is followed by a move of the hand,
	// which brings one group up to date. So no group is behind by more than 72 passes times the number of groups, which
	// is less than 2^32 for mostBuckets.
	groups []atomic.Uint32
	locks  []lock // lock i is for the groups g with g mod len(locks) = i; their number is a power of two

	refused, shortened atomic.Uint64

	saving sync.Mutex            // held while a copy is made
	spare  atomic.Pointer[saved] // the memory of the last copy; freed and allocated anew, garbage would be a third copy
}

// The number of locks is at most mostLocks. Smaller filters have one lock per lockGroups groups, or a few more.
const (
	mostLocks  = 1024
	lockGroups = 4
)

func newRing(c Config) (*ring, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}

	g, err := c.planTable()
	if err != nil {
		return nil, err
	}

	table, err := rankindexed.NewCells(g)
	if err != nil {
		return nil, err
	}

	r := c.ringOver(table, c.hasher())
	r.dial.startClock(c.Clock, c.EventTime)
	return r, nil
}

// ringOver returns a ring over a table. Its time is not set yet.
func (c Config) ringOver(table *rankindexed.Cells, h filter.Hasher) *ring {
	buckets := table.Geometry().Buckets
	groups := (buckets + group - 1) / group
	r := &ring{
		table: table, hasher: h, hash: hashOf(h), refresh: c.Refresh, shorten: c.Overflow == Shorten, event: c.EventTime,
		fpr: c.chosenFPR(), asked: c.Keys, burst: c.burstShare(), keys: c.meanKeys(),
		tears:  table.Tears(),
		groups: make([]atomic.Uint32, groups),
		locks:  make([]lock, 1<<(bits.Len64(min(groups/lockGroups, mostLocks)|1)-1)), // a power of two: see lockBucket
	}

	r.ttl, r.dial.buckets = uint64(c.TTL), buckets
	r.due.Store(math.MinInt64) // so that the first time, even 0, sets the origin
	return r
}

// A lock is a spin lock that counts how often it was taken or released. The count is odd while the lock is held. If a
// reader finds the same even count before and after its reads, no goroutine has changed anything in between.
type lock struct{ v atomic.Uint64 }

func (l *lock) lock() {
	if v := l.v.Load(); v&1 == 0 && l.v.CompareAndSwap(v, v+1) {
		return
	}
	l.waitUntilFree()
}

// waitUntilFree takes a lock that another goroutine holds. The holder works for a few microseconds, unless the
// scheduler has suspended it: so spin at first, then let other goroutines run, then sleep.
func (l *lock) waitUntilFree() {
	for tries := 1; ; tries++ {
		switch {
		case tries%64 != 0:
		case tries < 64*256:
			runtime.Gosched()
		default:
			time.Sleep(20 * time.Microsecond)
		}
		// The load alone keeps the cache line shared; CompareAndSwap takes the line away from the holder.
		if v := l.v.Load(); v&1 == 0 && l.v.CompareAndSwap(v, v+1) {
			return
		}
	}
}

func (l *lock) unlock() { l.v.Add(1) }

// groupEntry returns the entry of groups for a group that is up to date with p.
func (p point) groupEntry(g uint64) uint32 {
	n := uint32(p/lap) * group
	if at, first := p.bucket(), g*group; at > first {
		n += uint32(min(at-first, group))
	}
	return n
}

// epochCount is the number of epochs that the entry of a group can distinguish. It is a multiple of stamps.
const epochCount = 1 << 32 / group

// epochOf returns the epoch of a bucket, modulo epochCount, from the entry of its group.
func epochOf(passed uint32, bucket uint64) uint32 {
	e := passed / group
	if uint32(bucket%group) < passed%group {
		e++
	}
	return e % epochCount
}

// stampOf returns the stamp of an epoch.
func stampOf(e uint32) uint64 { return uint64(e % stamps) }

// lockBucket locks the group of a bucket, brings it up to date, and returns the epoch of the bucket.
func (r *ring) lockBucket(b uint64) (*lock, uint32) {
	g := b / group
	l := &r.locks[g&uint64(len(r.locks)-1)]
	l.lock()
	// The target is read under the lock, so it is not earlier than the target of the previous holder. With an earlier
	// target the difference of the epochs would wrap around, and sweepBucket would clear the bucket.
	passed := point(r.target.Load()).groupEntry(g)
	if r.groups[g].Load() != passed {
		r.sweepGroup(g, passed)
	}
	return l, epochOf(passed, b)
}

// sweepGroup brings a group up to date; its lock must be held. It removes the cells of each bucket whose stamps are
// about to be reused.
func (r *ring) sweepGroup(g uint64, passed uint32) {
	was := r.groups[g].Load()
	for b := g * group; b < min(g*group+group, r.buckets); b++ {
		sweepBucket(r.table, b, epochOf(was, b), epochOf(passed, b))
	}
	r.groups[g].Store(passed)
}

// sweepBucket removes the cells of a bucket whose stamps were reused between two epochs.
func sweepBucket(table *rankindexed.Cells, b uint64, from, to uint32) {
	switch laps := (to - from) % epochCount; { // epochs are numbers modulo epochCount, and so is their difference
	case laps >= stamps:
		table.Clear(b)
	case laps > 0:
		dead := uint64(0)
		for i := range laps { // a counted loop: epochs wrap, so a loop that compares them might never end
			dead |= 1 << stampOf(from+1+i)
		}
		table.Sweep(b, dead)
	}
}

// containsHash reports whether a cell matches the key with hash h. It needs the lock only if the group is not up to
// date, if another goroutine changes it, or if the chain of the key continues in an extension.
func (r *ring) containsHash(h filter.Hash) bool {
	b := r.table.Bucket(h)
	r.table.PrefetchAll(b)
	if r.tears {
		g := b / group
		l := &r.locks[g&uint64(len(r.locks)-1)]
		// Read without the lock. The answer counts only if nobody took the lock meanwhile.
		if v := l.v.Load(); v&1 == 0 && r.groups[g].Load() == point(r.target.Load()).groupEntry(g) {
			if has, sure := r.table.HasTorn(h); sure && l.v.Load() == v {
				return has
			}
		}
	}

	l, _ := r.lockBucket(b)
	ok := r.table.Has(h)
	l.unlock()
	return ok
}

// addHash adds the key with hash h unless it is present. If it is, addHash renews its stamp with refresh.
func (r *ring) addHash(h filter.Hash, refresh bool) (present bool, err error) {
	b := r.table.Bucket(h)
	r.table.PrefetchAll(b) // before the lock: the processor begins no later load until it has taken the lock
	l, e := r.lockBucket(b)
	present, err = r.table.Put(h, stampOf(e), refresh)
	if err != nil && r.shorten {
		err = r.makeRoom(h, b, e)
	}

	l.unlock()
	if err != nil {
		present, err = r.addHashLate(h, refresh)
	}
	if r.hand.Load() != r.target.Load() { // an idle filter catches up with its next operations; see "Late hands"
		r.moveHand()
	}
	return present, err
}

// makeRoom removes the oldest cells of bucket b, whose epoch is e, until the key with hash h fits, and adds this key.
func (r *ring) makeRoom(h filter.Hash, b uint64, e uint32) error {
	for age := range uint32(stamps) { // e+1 has the stamp of e-7, the oldest epoch
		gone := r.table.Sweep(b, 1<<stampOf(e+1+age))
		if gone == 0 {
			continue
		}
		r.shortened.Add(gone)
		if _, err := r.table.Put(h, stampOf(e), false); err == nil {
			return nil
		}
	}
	return filter.ErrFull // an empty bucket without room: impossible, since every bucket has cells
}

// addHashLate tries again to add a key that found no room. The buckets that the hand has not reached yet may occupy
// extensions with expired cells, so it first brings all groups up to date.
func (r *ring) addHashLate(h filter.Hash, refresh bool) (present bool, err error) {
	if r.hand.Load() != r.target.Load() {
		r.catchUp()
		b := r.table.Bucket(h)
		l, e := r.lockBucket(b)
		present, err = r.table.Put(h, stampOf(e), refresh)
		l.unlock()
		if err == nil {
			return present, nil
		}
	}
	r.refused.Add(1)
	return false, errFull
}

var errFull = fmt.Errorf("no room for the key: more keys arrived within TTL than Config.Keys and Burst say; make a "+
	"larger filter, or one with Overflow: Shorten: %w", filter.ErrFull)

// readClock moves the time to the time of the clock, if the filter has one. Call it before addHash and containsHash.
func (r *ring) readClock() {
	if r.read != nil {
		if now := r.read(); now >= r.due.Load() {
			r.advance(now)
		}
	}
}

// advance sets the time to now. If this moves the target, advance calls moveHand, which moves the hand over at most one
// group.
func (r *ring) advance(now int64) {
	if r.dial.advance(now) {
		r.moveHand()
	}
}

// moveHand moves the hand to the end of its group or to the target, whichever is nearer, and brings the group up to
// date. If the hand is late by more than two laps, it skips laps, since each group is brought up to the current target
// anyway. The hand keeps its bucket, so that no group waits for more than two laps.
func (r *ring) moveHand() {
	for {
		was := r.hand.Load()
		hand, target := point(was), point(r.target.Load())
		if !target.isAfter(hand) {
			return
		}
		if laps := (target - hand) / lap; laps > 1 {
			hand += (laps - 1) * lap
		}

		g := hand.bucket() / group
		to := hand - hand%lap + point(g+1)*group
		if (g+1)*group >= r.buckets { // the last group may be shorter: the next lap begins after it
			to = hand - hand%lap + lap
		}
		if to.isAfter(target) {
			to = target
		}

		// If several goroutines move the hand at once, one does the work, and the others read the new hand.
		if r.hand.CompareAndSwap(was, uint64(to)) {
			l, _ := r.lockBucket(g * group)
			l.unlock()
			return
		}
	}
}

// catchUp brings all groups up to date.
func (r *ring) catchUp() {
	target := r.target.Load()
	for g := range uint64(len(r.groups)) {
		l, _ := r.lockBucket(g * group)
		l.unlock()
	}
	// If another goroutine has moved the hand in the meantime, the swap fails, and the hand is only further behind.
	if was := r.hand.Load(); point(target).isAfter(point(was)) {
		r.hand.CompareAndSwap(was, target)
	}
}

// countKeys returns the number of cells in use.
func (r *ring) countKeys() (n uint64) {
	r.readClock()
	r.catchUp()
	r.eachBucket(func(b uint64, _ uint32) { n += r.table.Used(b) })
	return n
}

// eachBucket calls do for each bucket, with the bucket's epoch, while it holds the lock of the bucket's group.
func (r *ring) eachBucket(do func(b uint64, e uint32)) {
	for first := uint64(0); first < r.buckets; first += group {
		l, _ := r.lockBucket(first)
		passed := r.groups[first/group].Load()
		for b := first; b < min(first+group, r.buckets); b++ {
			do(b, epochOf(passed, b))
		}
		l.unlock()
	}
}

// memoryBytes returns the memory of the filter.
func (r *ring) memoryBytes() uint64 {
	return r.table.Bytes() + uint64(unsafe.Sizeof(*r)+unsafe.Sizeof(*r.table)) + 4*uint64(len(r.groups)) +
		uint64(unsafe.Sizeof(lock{}))*uint64(len(r.locks))
}
