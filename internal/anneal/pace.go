package anneal

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/parallel"
)

// Pace divides a search among its parts, which workers search one after the other, and keeps the progress of all.
type Pace struct {
	ctx      context.Context
	clock    *Clock
	passes   int       // or 0, and
	deadline time.Time // when to end
	keep     bool      // no search: the shifts of an earlier one stay
	workers  int
	keys     uint64
	begun    atomic.Uint64 // keys of the parts that were taken
	done     atomic.Uint64 // the sum over all parts of keys times millionths done
	reports  atomic.Bool   // progress is reported
	ask      atomic.Bool   // the report needs the rate of a part that is being searched
	rate     atomic.Uint64 // its bits

	mu       sync.Mutex
	finished float64 // keys of the parts that are finished, and
	rates    float64 // the sum of keys times rate over them; only if progress is reported
}

// newPace returns the pace of a search over that many keys by that many workers. A search by time ends effort.Budget
// after start, which is when the build began, but takes at least half of the budget.
func newPace(ctx context.Context, clock *Clock, effort filter.Effort, start time.Time, keys uint64, workers int) *Pace {
	deadline := start.Add(effort.Budget)
	if least := clock.Now().Add(effort.Budget / 2); deadline.Before(least) {
		deadline = least
	}
	return &Pace{
		ctx: ctx, clock: clock, passes: Passes(effort), deadline: deadline, keep: effort.Level == filter.Keep,
		workers: workers, keys: keys,
	}
}

// Keeps reports whether the Effort is filter.Keep: Run and RunSmall then only set the bits of all keys with the shifts
// in the State.
func (p *Pace) Keeps() bool { return p.keep }

const millionths = 1_000_000

// Done returns the share of the search that is done, in [0, 1].
func (p *Pace) Done() float64 {
	return min(1, float64(p.done.Load())/millionths/float64(max(p.keys, 1)))
}

// Stopped reports whether the search has to end because its context ended, and whether its result is kept: always if it
// has not ended, else if the cause is filter.ErrEnough.
func (p *Pace) Stopped() (stopped, keep bool) {
	if runtime.GOARCH == "wasm" {
		runtime.Gosched() // the one thread of js would not run the goroutine that cancels
	}
	if p.ctx.Err() == nil {
		return false, true
	}
	return true, errors.Is(context.Cause(p.ctx), filter.ErrEnough)
}

// Take returns the next part, which has that many keys. In a search by time the part gets a share of the time that is
// left: its keys over the keys that are left.
func (p *Pace) Take(keys uint64) *Part {
	part := &Part{Each: watcher(p.ctx), pace: p, keys: keys, start: p.clock.Now()}
	left := max(1, p.keys-(p.begun.Add(keys)-keys))
	if p.passes == 0 {
		remains := float64(max(0, p.deadline.Sub(part.start)))
		part.time = time.Duration(min(1, float64(p.workers)*float64(keys)/float64(left)) * remains)
	}
	return part
}

// each gives the parts of the keys, in any order, to the workers. It calls worker once for each of them, to get the
// function that the worker runs for each part. If the search is stopped and not kept, each gives no more parts and
// returns the error of the context; if it is kept, all parts are given, so that the filter has all keys. After an error
// of a worker it gives no more parts and returns the first such error.
func (p *Pace) each(
	keys *hashes.Sorted, part func(filter.Hash) uint64, worker func() func(part uint64, keys []filter.Hash) error,
) error {
	type job struct {
		part uint64
		keys []filter.Hash
	}

	err := parallel.Feed(p.workers, p.workers, func(int) func(job) error {
		work := worker()
		return func(j job) error { return work(j.part, j.keys) }
	}, func(send func(job) error) error {
		return keys.Each(context.WithoutCancel(p.ctx), part, func(part uint64, keys []filter.Hash) error {
			if stopped, keep := p.Stopped(); stopped && !keep {
				return p.ctx.Err()
			}
			return send(job{part, keys})
		})
	})
	if stopped, keep := p.Stopped(); stopped && !keep {
		return p.ctx.Err()
	}
	return err
}

// finish notes the rate of a part that is finished.
func (p *Pace) finish(keys uint64, rate func() float64) {
	if !p.reports.Load() {
		return
	}
	r := rate()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished += float64(keys)
	p.rates += float64(float64(keys) * r)
}

// soFar returns the mean rate of the finished parts. Before the first of them is finished, it returns the rate of a
// part that is being searched, or 0 if that is unknown. So it does not jump up when the search of the next part begins.
func (p *Pace) soFar() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished > 0 {
		return p.rates / p.finished
	}
	return math.Float64frombits(p.rate.Load())
}

// report calls give from one goroutine, ten times per second, until stop is called. give may be nil.
func (p *Pace) report(give func(filter.Progress)) (stop func()) {
	if give == nil {
		return func() {}
	}

	p.reports.Store(true)
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		start := time.Now()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			now := filter.Progress{Done: p.Done(), Rate: p.soFar()}
			if now.Done > 0 {
				now.Left = time.Duration(float64(time.Since(start)) * (1 - now.Done) / now.Done)
			}
			p.ask.Store(true)
			give(now)
		}
	}()
	return func() { close(quit); <-gone }
}

// watchKey is the key of the context value of Watch.
type watchKey struct{}

// Watch returns a context for a build whose searches call each with their state after every pass. Searches of several
// shards call it concurrently. The lab plots rates by pass with it.
func Watch(ctx context.Context, each func(*State)) context.Context {
	return context.WithValue(ctx, watchKey{}, each)
}

// watcher returns the function of Watch, or nil.
func watcher(ctx context.Context) func(*State) {
	each, _ := ctx.Value(watchKey{}).(func(*State))
	return each
}

// Clock is the clock of a search with a time limit (filter.Effort.Budget). A nil *Clock is the clock of the
// machine.
//
// A Clock from NewClock counts work instead: only passes advance it, by a fixed time per key. With one worker, a search
// by time then gives the same result on every machine, which tests need.
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
