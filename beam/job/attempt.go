package job

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/bloomery/bloomery/internal/steps"
)

// A runner may report a job as cancelled while its steps still run, like the job server of Flink. So the submitter also
// writes a mark into the output that names its attempt, and the steps of the attempt look for it every second: see mark
// and watchMark.
//
// A running step then ends with an error. A step that starts later ends at once, without an error and without a result,
// so that a runner that retries failed steps does not retry it without end.

// newAttempt returns a unique name for an attempt.
func newAttempt() string { return rand.Text() }

const (
	markTimeout = 10 * time.Second // for writing the mark
	restTimeout = 5 * time.Second  // until the steps of this process have ended, after a cancel
)

// markWhenDone writes the mark of an attempt as soon as ctx ends. written waits until that is done. It returns nil if
// ctx has not ended, and no mark is written any more.
func markWhenDone(ctx context.Context, p *steps.Plan, out steps.Store, attempt string) (written func() error) {
	result := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTimeout)
		defer cancel()
		err := mark(short, p, out, attempt)
		if err != nil {
			err = fmt.Errorf("cannot write the mark that ends the steps on all workers: %w", err)
		}
		result <- err
	})
	return func() error {
		if stop() {
			return nil
		}
		return <-result
	}
}

// attempts are the attempts whose steps run in a worker.
type attempts struct {
	mu   sync.Mutex
	m    map[string]*watched
	last time.Time // end of the last step
}

// watched is an attempt that is watched while steps of it run.
type watched struct {
	ctx   context.Context
	stop  func()
	steps int
}

// enter returns the watch of an attempt, until leave.
func (w *worker) enter(attempt string) (ctx context.Context, leave func()) {
	w.attempts.mu.Lock()
	defer w.attempts.mu.Unlock()
	a := w.attempts.m[attempt]
	if a == nil {
		if len(w.attempts.m) == 0 {
			use(w.task.Memory)
		}
		a = new(watched)
		a.ctx, a.stop = watchMark(context.Background(), w.plan, w.out, attempt)
		if w.attempts.m == nil {
			w.attempts.m = map[string]*watched{}
		}
		w.attempts.m[attempt] = a
	}

	a.steps++
	return a.ctx, func() {
		w.attempts.mu.Lock()
		defer w.attempts.mu.Unlock()
		if a.steps--; a.steps == 0 {
			a.stop()
			delete(w.attempts.m, attempt)
			if len(w.attempts.m) == 0 {
				use(-w.task.Memory)
				w.attempts.last = time.Now()
			}
		}
	}
}

// idle reports whether no step has run since the given time.
func (w *worker) idle(since time.Time) bool {
	w.attempts.mu.Lock()
	defer w.attempts.mu.Unlock()
	return len(w.attempts.m) == 0 && w.attempts.last.Before(since)
}

// during calls step unless the attempt is cancelled; in that case the result is void. The context of step ends if the
// attempt is cancelled meanwhile, and the error then says so.
func (w *worker) during(
	ctx context.Context, attempt string, step func(context.Context) (result, error),
) (result, error) {
	a, leave := w.enter(attempt)
	defer leave()
	if a.Err() != nil {
		return result{void: true}, nil
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(a, func() { cancel(context.Cause(a)) })()
	r, err := step(ctx)
	if err != nil && a.Err() != nil {
		err = context.Cause(a)
	}
	return r, err
}

// rest waits until no step of a task runs in this process, for at most restTimeout. It returns false if one still runs.
func rest(t Task) bool {
	for end := time.Now().Add(restTimeout); ; time.Sleep(10 * time.Millisecond) {
		if !busy(t) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func busy(t Task) bool {
	workers.Lock()
	w := workers.m[t.shared()]
	workers.Unlock()
	if w == nil {
		return false
	}
	return !w.idle(time.Now().Add(time.Hour))
}
