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

// Pace divides a search among its parts, which workers search one after the other, and records the progress of all.
type Pace struct {
	ctx      context.Context
	clock    *Clock
	passes   int       // passes of a search by passes, else 0
	deadline time.Time // deadline of a search by time
	keep     bool      // whether the shifts of an earlier search stay, without a new search
	workers  int
	keys     uint64
	begun    atomic.Uint64 // keys of the parts that were taken
	done     atomic.Uint64 // the sum over all parts of keys times millionths done
	reports  atomic.Bool   // progress is reported
	ask      atomic.Bool   // the report needs the rate of a part that is being searched
	rate     atomic.Uint64 // the bits of this rate, a float64

	mu       sync.Mutex
	finished float64 // keys of the parts that are finished; only if progress is reported
	rates    float64 // the sum of keys times rate over these parts
}

// newPace returns the pace of a search. A search by time ends effort.Budget after start, the time at which the build
// began, but takes at least half of the budget.
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

// Stopped reports whether the search has to end because its context ended. keep tells whether its result is kept: true
// if the context has not ended, or has ended with the cause filter.ErrEnough.
func (p *Pace) Stopped() (stopped, keep bool) {
	if runtime.GOARCH == "wasm" {
		runtime.Gosched() // the one thread of js would not run the goroutine that cancels
	}
	if p.ctx.Err() == nil {
		return false, true
	}
	return true, errors.Is(context.Cause(p.ctx), filter.ErrEnough)
}

// Take returns the next part, which consists of keys keys. In a search by time, the part may use a share of the time
// that is left: its keys over the keys that are left, times the number of workers.
func (p *Pace) Take(keys uint64) *Part {
	part := &Part{Each: watcher(p.ctx), pace: p, keys: keys, start: p.clock.Now()}
	left := max(1, p.keys-(p.begun.Add(keys)-keys)) // including the keys of this part
	if p.passes == 0 {
		remains := float64(max(0, p.deadline.Sub(part.start)))
		part.time = time.Duration(min(1, float64(p.workers)*float64(keys)/float64(left)) * remains)
	}
	return part
}

// eachPart sends the parts of the keys to the workers, in any order. It calls worker once per worker, to get the
// function that the worker runs for each part. If the search is stopped and its result is not kept, eachPart sends no
// more parts and returns the error of the context; if the result is kept, it sends all parts, so that the filter
// contains all keys. After an error of a worker it sends no more parts and returns the first such error.
func (p *Pace) eachPart(
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
		// Without the cancellation, because a search that ends with filter.ErrEnough still needs all keys.
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

// finishPart adds the rate of a finished part to the progress report.
func (p *Pace) finishPart(keys uint64, rate func() float64) {
	if !p.reports.Load() {
		return
	}

	r := rate() // outside of the lock, because it reads the whole part
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished += float64(keys)
	p.rates += float64(float64(keys) * r)
}

// meanRate returns the mean rate of the finished parts. Before the first part is finished, it returns the rate of a
// part that is being searched, or 0 if no rate is known. Parts that are being searched do not count later, so the mean
// does not jump up when the search of the next part begins.
func (p *Pace) meanRate() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished > 0 {
		return p.rates / p.finished
	}
	return math.Float64frombits(p.rate.Load())
}

// startReports calls give from one goroutine, ten times per second, until stop is called. With give nil it does
// nothing.
func (p *Pace) startReports(give func(filter.Progress)) (stop func()) {
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

			now := filter.Progress{Done: p.Done(), Rate: p.meanRate()}
			if now.Done > 0 {
				now.Left = time.Duration(float64(time.Since(start)) * (1 - now.Done) / now.Done)
			}
			p.ask.Store(true) // a search computes a rate only for the next report: it reads the whole part
			give(now)
		}
	}()
	return func() { close(quit); <-gone }
}

// watchKey is the key of the context value of Watch.
type watchKey struct{}

// Watch returns a context for a build. The searches of the build call each with their state after every pass; searches
// of several shards call it concurrently. The lab uses Watch to plot rates by pass.
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

// timeSince returns the time since start.
func (c *Clock) timeSince(start time.Time) time.Duration {
	if c == nil {
		return time.Since(start)
	}
	return c.Now().Sub(start)
}

// advance moves the clock by the time of passes over keys, unless it is the clock of the machine.
func (c *Clock) advance(keys uint64, passes int) {
	if c != nil {
		c.passed.Add(int64(c.perKey) * int64(keys) * int64(passes))
	}
}
