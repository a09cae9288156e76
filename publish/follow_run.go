package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/internal/untrusted"
	"github.com/bloomery/bloomery/publish/transport"
)

// EventKind is the kind of an Event.
type EventKind string

// The kinds of events.
const (
	Updated   EventKind = "updated"   // the file has been replaced by a new release
	Unchanged EventKind = "unchanged" // the file is the newest release of the server
	// Expired: the newest release of the server has expired. This event follows Updated or Unchanged, and comes within
	// seconds after the release expires, even while a poll waits for a server.
	Expired EventKind = "expired"
	Failed  EventKind = "failed" // a poll has failed; the file is unchanged
)

// Event is a result of a poll.
type Event struct {
	Kind    EventKind
	Release Release       // Updated: the release that the file now has. Unchanged: only its Number.
	From    uint64        // Updated: the number of the previous release, or 0 if it is not known
	Bytes   int64         // Updated, Unchanged: length of all bodies that were loaded
	Delta   bool          // Updated: the file was made by a delta; otherwise it was loaded whole
	Unused  error         // Updated: why an existing delta was not used, or nil
	Err     error         // Expired: wraps ErrExpired. Failed: why.
	Retry   time.Duration // Failed: until the next poll, or 0 if there is none
}

// String describes the event in a line.
func (e Event) String() string {
	switch e.Kind {
	case Updated:
		return e.updated()
	case Unchanged:
		return fmt.Sprintf("release %d: current", e.Release.Number)
	case Failed:
		if e.Retry != 0 {
			return fmt.Sprintf("%v; next attempt in %s", e.Err, e.Retry.Round(time.Millisecond))
		}
	}
	return fmt.Sprint(e.Err)
}

func (e Event) updated() string {
	way := "whole"
	if e.Delta {
		way = "delta"
	}

	r := e.Release
	s := fmt.Sprintf("release %d: %d bytes loaded (%s), %d keys", r.Number, e.Bytes, way, r.Keys)
	if kinds[r.Kind].rated {
		s += ", false-positive rate " + stat.Percent(r.FPRPosterior)
	}
	if e.Unused != nil {
		s += fmt.Sprintf("; the delta was not used: %v", e.Unused)
	}
	return s
}

// Run polls until ctx ends, and returns the cause. The first poll is immediate, the second after a random part of the
// interval, and later ones after 90% to 100% of it, so that followers that start together do not poll together. After
// errors the time doubles, up to 10 times the interval, and is then reduced by a random share of up to half. See
// OnEvent.
func (f *Follower) Run(ctx context.Context) error { return f.run(ctx, false, func(Event, error) {}) }

// lookEvery is the interval at which the clock is checked. If the computer sleeps or its clock is set, the expiry may
// come before a timer fires. The first check is late enough for a poll that is replacing an expired release.
const lookEvery = time.Second

// run is Run with a function after, which gets the result of each poll before OnEvent does, and Expired events. If
// polled is true, it skips the first poll.
func (f *Follower) run(ctx context.Context, polled bool, after func(Event, error)) error {
	r := runner{Follower: f, after: after, first: !polled}
	if r.newest.Load() == nil {
		if target, err := f.options.guard.follows(f.file); err == nil {
			if s, err := f.readState(ctx, target); err == nil && s.Release != 0 {
				r.newest.CompareAndSwap(nil, s)
			}
		}
	}

	next := time.NewTimer(0)
	if polled {
		next.Reset(f.firstDelay())
		if s := r.newest.Load(); s != nil && r.expired(s) != nil {
			r.told = s
		}
	}

	watch := time.NewTicker(lookEvery)
	defer watch.Stop()

	// The buffer lets the goroutine of a poll end after the loop has returned.
	done := make(chan func() time.Duration, 1)
	var polls sync.WaitGroup
	defer polls.Wait()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-watch.C:
			r.reportExpiry()
		case <-next.C:
			polls.Go(func() {
				event, err := f.Poll(ctx)
				// The result is handled in the loop, so that polls and expiry checks never report at the same time.
				done <- func() time.Duration { return r.pollEnded(event, err) }
			})
		case ended := <-done:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			next.Reset(ended())
		}
	}
}

type runner struct {
	*Follower
	after    func(Event, error)
	first    bool // no poll has ended
	failures int
	failed   error  // the error of the last poll, or nil
	told     *state // the state whose expiry was reported
}

// pollEnded reports the result of a poll, and returns the time until the next one.
func (r *runner) pollEnded(event Event, err error) time.Duration {
	if event.Kind == "" {
		r.failed = err
		r.failures++
		r.after(Event{}, r.failing())
	} else {
		r.failed, r.failures = nil, 0
		if r.after(event, err); err != nil {
			r.told = r.newest.Load()
		}
	}

	wait := r.nextDelay(r.failures, err)
	if r.first && r.failures == 0 {
		wait = r.firstDelay()
	}

	r.first = false
	r.tellEvents(event, err, wait)
	return wait
}

// failing returns the error of the last poll, joined with the error of an expired release.
func (r *runner) failing() error {
	if s := r.newest.Load(); s != nil {
		return errors.Join(r.failed, r.expired(s))
	}
	return r.failed
}

// reportExpiry reports, once per release, that the newest release has expired.
func (r *runner) reportExpiry() {
	s := r.newest.Load()
	if s == nil || s == r.told {
		return
	}
	if err := r.expired(s); err != nil {
		r.told = s
		e := Event{Kind: Expired, Err: err}
		r.after(e, r.failing())
		r.tellEvents(e, nil, 0)
	}
}

// firstDelay returns the time between the first and the second poll.
func (f *Follower) firstDelay() time.Duration {
	return time.Duration(rand.Float64() * float64(f.options.interval))
}

// maxBackoff is the largest time between two polls in intervals.
const maxBackoff = 10

// nextDelay returns the time until the next poll after a number of failed polls in a row.
func (f *Follower) nextDelay(failures int, err error) time.Duration {
	interval := float64(f.options.interval)
	if failures == 0 {
		return time.Duration(interval * (0.9 + 0.1*rand.Float64()))
	}
	// The inner min bounds the shift. The random factor keeps followers apart that failed together.
	wait := interval * float64(min(1<<min(failures-1, 10), maxBackoff)) * (0.5 + 0.5*rand.Float64())
	if status := (*transport.StatusError)(nil); errors.As(err, &status) {
		// A hostile Retry-After must not stop the updates for years.
		wait = max(wait, min(float64(status.RetryAfter), interval*maxBackoff))
	}
	return time.Duration(wait)
}

// tellEvents calls OnEvent with the events of a poll.
func (f *Follower) tellEvents(e Event, err error, wait time.Duration) {
	notify := f.options.notify
	f.calls.Lock()
	defer f.calls.Unlock()
	switch {
	case notify == nil:
	case e.Kind == "":
		notify(Event{Kind: Failed, Err: err, Retry: wait})
	default:
		notify(e)
		if err != nil {
			notify(Event{Kind: Expired, Err: err})
		}
	}
}

// permanent are the errors that another poll will hardly fix.
var permanent = []error{ErrUnsigned, ErrOtherKey, ErrSignature, ErrRelease, ErrVersion, ErrOlder, ErrConflict,
	ErrOtherName, ErrKind, ErrState, ErrForeign, filter.ErrTooLarge, untrusted.ErrNotRegular, fs.ErrPermission}

// lasting marks other errors that only another release or other options can fix.
type lasting struct{ error }

func (l lasting) Unwrap() error { return l.error }

// absent marks the error that the folder of the file, or the release.json of an address, does not exist: a user must
// create it. A missing object is not marked: it may appear later, since mirrors copy in any order.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return lasting{err}
	}
	return err
}

// cannotOpen returns the error of a release that this program cannot open, or nil. It is lasting unless the system has
// failed, for example by running out of memory.
func cannotOpen(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("this program cannot open it: %w", err)
	if errors.As(err, new(syscall.Errno)) {
		return err
	}
	return lasting{err}
}

// passes reports whether an error is transient, so that another poll may succeed.
func passes(err error) bool {
	is := func(p error) bool { return errors.Is(err, p) }
	return !slices.ContainsFunc(permanent, is) && !errors.As(err, new(lasting))
}
