package job

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/bloomery/bloomery/internal/steps"
)

// A runner, such as the job server of Flink, may report a job as cancelled while the steps of the job still run. So the
// submitter also writes a mark into the output that names its attempt, and the steps of the attempt look for the mark
// every second: see writeMark and watchMark.
//
// A running step then ends with an error. A step that starts later ends at once, without an error and without a result,
// because a runner that retries failed steps would retry it endlessly.

// newAttempt returns a unique name for an attempt.
func newAttempt() string { return rand.Text() }

const (
	markTimeout = 10 * time.Second // timeout for writing the mark
	restTimeout = 5 * time.Second  // longest wait for the end of the steps of this process, after a cancel
)

// markWhenDone writes the mark of an attempt as soon as ctx ends. written waits until the mark is written. If ctx has
// not ended, written returns nil, and no mark is written later.
func markWhenDone(ctx context.Context, p *steps.Plan, out steps.Store, attempt string) (written func() error) {
	result := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTimeout)
		defer cancel()
		err := writeMark(short, p, out, attempt)
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

// watched is an attempt with running steps.
type watched struct {
	ctx   context.Context
	stop  func()
	steps int
}

// enterAttempt returns the context that ends when the attempt is cancelled. Call leave when the step has ended.
func (w *worker) enterAttempt(attempt string) (ctx context.Context, leave func()) {
	w.attempts.mu.Lock()
	defer w.attempts.mu.Unlock()
	a := w.attempts.m[attempt]
	if a == nil {
		if len(w.attempts.m) == 0 {
			useMemory(w.task.Memory)
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
				useMemory(-w.task.Memory)
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

// during calls step unless the attempt is cancelled; in that case the result is void. If the attempt is cancelled
// meanwhile, the context of step ends, and the error is the reason.
func (w *worker) during(
	ctx context.Context, attempt string, step func(context.Context) (result, error),
) (result, error) {
	a, leave := w.enterAttempt(attempt)
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

// waitForSteps waits until no step of a task runs in this process, for at most restTimeout. It returns false if a step
// still runs.
func waitForSteps(t Task) bool {
	for end := time.Now().Add(restTimeout); ; time.Sleep(10 * time.Millisecond) {
		if !hasRunningSteps(t) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// hasRunningSteps reports whether a step of a task runs in this process.
func hasRunningSteps(t Task) bool {
	workers.Lock()
	w := workers.m[t.shared()]
	workers.Unlock()
	if w == nil {
		return false
	}
	return !w.idle(time.Now().Add(time.Hour))
}
