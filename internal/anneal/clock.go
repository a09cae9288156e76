package anneal

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is what a search by time reads.
type clock interface {
	now() time.Time
	// worked says that a search has made so many passes over a key, counted together for all keys.
	worked(keyPasses float64)
}

// wallClock is the clock of the machine.
type wallClock struct{}

func (wallClock) now() time.Time { return time.Now() }
func (wallClock) worked(float64) {}

// workClock advances by the work of the search only.
type workClock struct {
	start time.Time
	cost  float64      // nanoseconds a key and pass
	spent atomic.Int64 // nanoseconds
}

func (c *workClock) now() time.Time           { return c.start.Add(time.Duration(c.spent.Load())) }
func (c *workClock) worked(keyPasses float64) { c.spent.Add(int64(keyPasses * c.cost)) }

// clockKey is the key of the context value of WithClock.
type clockKey struct{}

// WithClock returns a context for builds whose searches by time read another clock than the machine's: it advances by
// cost for every pass over a key and by nothing else. So a search by time with one worker has the same result on
// every machine. elapsed returns how far the clock is. Tests use it.
func WithClock(ctx context.Context, cost time.Duration) (_ context.Context, elapsed func() time.Duration) {
	c := &workClock{start: time.Unix(0, 0), cost: float64(cost)}
	return context.WithValue(ctx, clockKey{}, c), func() time.Duration { return time.Duration(c.spent.Load()) }
}

func clockOf(ctx context.Context) clock {
	if c, ok := ctx.Value(clockKey{}).(*workClock); ok {
		return c
	}
	return wallClock{}
}

// Now returns the time by the clock of WithClock, or of the machine. A build by time starts with it.
func Now(ctx context.Context) time.Time { return clockOf(ctx).now() }
