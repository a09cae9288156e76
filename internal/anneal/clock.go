package anneal

import (
	"sync/atomic"
	"time"
)

// Clock is the clock of a search with a time limit (filter.Effort.Budget). A nil *Clock is the clock of the
// machine.
//
// A Clock from NewClock counts work instead: it stands still except for passes, each of which takes a fixed time for
// each key. With one worker, a search by time then gives the same result on every machine, which tests need.
type Clock struct {
	perKey time.Duration
	passed atomic.Int64 // nanoseconds
}

// NewClock returns a Clock on which one pass over one key takes perKey.
func NewClock(perKey time.Duration) *Clock { return &Clock{perKey: perKey} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	return time.Unix(0, c.passed.Load())
}

// since returns the time since start.
func (c *Clock) since(start time.Time) time.Duration {
	if c == nil {
		return time.Since(start)
	}
	return c.Now().Sub(start)
}

// work notes that passes over keys were made.
func (c *Clock) work(keys uint64, passes int) {
	if c != nil {
		c.passed.Add(int64(c.perKey) * int64(keys) * int64(passes))
	}
}
