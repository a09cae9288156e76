package window

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// A point is a position of the hand since the origin. The upper half is the number of laps, modulo 2^32; the lower half
// is the number of buckets that the hand has passed in the running lap. Later points are greater in modular arithmetic.
type point uint64

const lap point = 1 << 32

// isAfter reports whether p is later than q. They are less than 2^31 laps apart.
func (p point) isAfter(q point) bool { return int64(p-q) > 0 } // the signed difference is right past a wrap of laps

// bucket returns the number of buckets passed in the running lap.
func (p point) bucket() uint64 { return uint64(p % lap) }

// dial computes, from the time, the point at which the hand should be. One goroutine at a time moves it. The fields
// that change with time are in a cache line of their own, so that a change does not slow down reads of the other
// fields.
type dial struct {
	ttl, buckets uint64 // ttl in nanoseconds
	// read returns the time in nanoseconds since 1970, or is nil if time moves only with Advance.
	read    func() int64
	started bool // guarded by mu
	_       [cacheLine - 4*8]byte

	due    atomic.Int64  // the first time at which target is later than now
	target atomic.Uint64 // point
	hand   atomic.Uint64 // a point: the groups before it were brought up to date after the target had passed them

	mu      sync.Mutex // guards the rest, and writes of due and target
	origin  int64      // time of point 0
	now     int64      // latest time
	laps    uint64     // laps of target, not modulo 2^32
	skipped uint64     // laps since the origin that laps does not count, because no key was left
}

// cacheLine is the size of a cache line in bytes.
const cacheLine = 64

// longest is the largest number of laps by which target moves at once. After eight laps no key is left, and an
// incomplete ninth brings the hand to its position.
const longest = stamps + 1

func (d *dial) startClock(read func() time.Time, event bool) {
	switch {
	case read != nil:
		d.read = func() int64 { return nanoseconds(read()) }
	case !event:
		// time.Since uses the monotonic clock, so an adjustment of the machine's clock does not move the time.
		began := time.Now()
		from := nanoseconds(began)
		d.read = func() int64 { return from + int64(time.Since(began)) }
	}
	if d.read != nil {
		d.advance(d.read())
	}
}

// ErrAhead is the error of Open and Read for a file that is more than TTL, and more than a minute, ahead of the clock.
// With such a file the time would stand still until the clock reaches the time of the file, and no key would expire
// meanwhile.
var ErrAhead = errors.New("saved ahead of the clock")

// leastAhead is the time that a file may be ahead of the clock even if TTL is shorter, because clocks are adjusted by
// seconds now and then.
const leastAhead = time.Minute

// checkAhead returns an error if the latest time is too far ahead of the clock. It accepts any time if the clock
// returns the zero Time.
func (d *dial) checkAhead() error {
	if d.read == nil {
		return nil
	}

	clock, most := d.read(), max(time.Duration(d.ttl), leastAhead)
	// MinInt64 is the zero Time after clamping. The unsigned difference is right even if the signed one overflows.
	if clock == math.MinInt64 || clock >= d.now || uint64(d.now)-uint64(clock) <= uint64(most) {
		return nil
	}

	now := time.Unix(0, d.now).UTC()
	return fmt.Errorf("%w: at %s, %v later than the clock says, want at most %v; correct the clock, or remove the file "+
		"if the clock was wrong when it was saved", ErrAhead, now.Format(time.RFC3339),
		now.Sub(time.Unix(0, clock)).Round(time.Second), most)
}

// nanoseconds returns a time in nanoseconds since 1970, clamped to the range of an int64.
func nanoseconds(t time.Time) int64 {
	const most = math.MaxInt64/int64(time.Second) - 1 // a second less, because UnixNano adds up to a second
	if s := t.Unix(); s > most {
		return math.MaxInt64
	} else if s < -most {
		return math.MinInt64
	}
	return t.UnixNano()
}

// advance moves the time to now, unless the time is already later, and reports whether the target has moved.
//
// With t nanoseconds since the origin, the target is 7·t/ttl laps. This is computed without rounding, so that the hand
// passes each bucket at intervals of exactly ttl/7: at (lap + (bucket+1)/buckets)·ttl/7.
func (d *dial) advance(now int64) (moved bool) {
	if now < d.due.Load() {
		return false
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.started {
		d.started, d.origin, d.now = true, now, now
	}
	if now < d.due.Load() || now < d.now { // another goroutine may have advanced it before this one had the lock
		return false
	}

	d.now = now
	before := d.target.Load()
	laps, rest := d.lapsPassed()
	// A longer move of the target would make the entries of groups ambiguous; see ring.groups. The skipped laps do not
	// matter, because no key is left after them; see longest.
	if since := laps - d.skipped - d.laps; since > longest {
		d.skipped += since - longest
	}
	d.setTarget(laps, rest)
	return d.target.Load() != before
}

// lapsPassed returns 7·t/ttl as laps and a remainder in sevenths of a nanosecond.
func (d *dial) lapsPassed() (laps, rest uint64) {
	// now is not before origin, so the unsigned difference is right even if it exceeds the range of an int64.
	hi, lo := bits.Mul64(uint64(d.now)-uint64(d.origin), epochs)
	return bits.Div64(hi, lo, d.ttl)
}

// setTarget sets laps, target and due for the latest time, for which lapsPassed returned laps and rest.
func (d *dial) setTarget(laps, rest uint64) {
	hi, lo := bits.Mul64(rest, d.buckets)
	bucket, _ := bits.Div64(hi, lo, d.ttl)
	d.laps = laps - d.skipped
	d.target.Store(uint64(point(d.laps)*lap + point(bucket)))

	// The next bucket is passed at rest' = ceil((bucket+1)·ttl/buckets) of the lap, in sevenths of a nanosecond.
	hi, lo = bits.Mul64(bucket+1, d.ttl)
	next, odd := bits.Div64(hi, lo, d.buckets)
	if odd != 0 {
		next++
	}

	wait := (next - rest + epochs - 1) / epochs // rounded up: earlier, advance would find the same target
	if wait > uint64(math.MaxInt64-max(d.now, 0)) {
		d.due.Store(math.MaxInt64) // the sum would overflow
	} else {
		d.due.Store(d.now + int64(wait))
	}
}
