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

// A point is the position of a hand since the origin: the number of laps in the upper half, modulo 2^32, and the number
// of buckets that it has passed in the running lap in the lower half. Later points are greater in modular arithmetic.
type point uint64

const lap point = 1 << 32

// after reports whether p is later than q. They are less than 2^31 laps apart.
func (p point) after(q point) bool { return int64(p-q) > 0 }

// bucket returns the number of buckets passed in the running lap.
func (p point) bucket() uint64 { return uint64(p % lap) }

// dial turns time into the point at which the hand should be. One goroutine at a time moves it. The fields that change
// with time have their own cache line, apart from the fields that operations only read.
type dial struct {
	ttl, buckets uint64 // ttl in nanoseconds
	// read returns the time in nanoseconds since 1970, or is nil if time moves only with Advance.
	read    func() int64
	started bool // guarded by mu
	_       [cacheLine - 4*8]byte

	due    atomic.Int64  // the first time at which target is later than now
	target atomic.Uint64 // point
	hand   atomic.Uint64 // a point: the groups before it were brought up to date after the target had passed it

	mu      sync.Mutex // guards the rest, and writes of due and target
	origin  int64      // time of point 0
	now     int64      // latest time
	laps    uint64     // laps of target, not modulo 2^32
	skipped uint64     // laps since the origin that are not counted in laps, because no key was left
}

// cacheLine is the size of a cache line in bytes.
const cacheLine = 64

// longest is the largest number of laps by which target moves at once. After eight laps no key is left, and an
// incomplete ninth brings the hand to its position.
const longest = stamps + 1

func (d *dial) start(read func() time.Time, event bool) {
	switch {
	case read != nil:
		d.read = func() int64 { return nanoseconds(read()) }
	case !event:
		began := time.Now()
		from := nanoseconds(began)
		d.read = func() int64 { return from + int64(time.Since(began)) }
	}
	if d.read != nil {
		d.advance(d.read())
	}
}

// ErrAhead is the error of Open and Read for a file that is too far ahead of the clock: by more than TTL, and by more
// than a minute. Otherwise time would stand still until the clock reaches it, and no key would be forgotten meanwhile.
var ErrAhead = errors.New("saved ahead of the clock")

// leastAhead is how far a file may be ahead of the clock even if TTL is shorter: clocks are adjusted by seconds now and
// then.
const leastAhead = time.Minute

// checkAhead returns an error if the latest time is too far ahead of the clock. It accepts any time if the clock
// returns the zero Time.
func (d *dial) checkAhead() error {
	if d.read == nil {
		return nil
	}
	clock, most := d.read(), max(time.Duration(d.ttl), leastAhead)
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
	const most = math.MaxInt64/int64(time.Second) - 1
	if s := t.Unix(); s > most {
		return math.MaxInt64
	} else if s < -most {
		return math.MinInt64
	}
	return t.UnixNano()
}

// advance moves the time to now, unless it is later, and reports whether the target has moved.
//
// With t nanoseconds since the origin, the target is 7·t/ttl laps. It is computed exactly, so that each bucket is
// passed at intervals of exactly ttl/7: at (lap + (bucket+1)/buckets)·ttl/7.
func (d *dial) advance(now int64) (moved bool) {
	if now < d.due.Load() {
		return false
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.started {
		d.started, d.origin, d.now = true, now, now
	}
	if now < d.due.Load() || now < d.now {
		return false
	}

	d.now = now
	before := d.target.Load()
	laps, rest := d.passed()
	if since := laps - d.skipped - d.laps; since > longest {
		d.skipped += since - longest
	}
	d.turn(laps, rest)
	return d.target.Load() != before
}

// passed returns 7·t/ttl as laps and a remainder in sevenths of a nanosecond.
func (d *dial) passed() (laps, rest uint64) {
	hi, lo := bits.Mul64(uint64(d.now)-uint64(d.origin), epochs) // the difference is correct as a uint64
	return bits.Div64(hi, lo, d.ttl)
}

// turn sets laps, target and due for the latest time, for which passed returned laps and rest.
func (d *dial) turn(laps, rest uint64) {
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

	wait := (next - rest + epochs - 1) / epochs
	if wait > uint64(math.MaxInt64-max(d.now, 0)) {
		d.due.Store(math.MaxInt64)
	} else {
		d.due.Store(d.now + int64(wait))
	}
}
