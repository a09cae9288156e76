package steps

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrCancelled means that the attempt to which a step belongs was cancelled; see Plan.Cancel. It is no use to repeat
// the step in the same attempt.
var ErrCancelled = errors.New("the build was cancelled; start it again to go on with what is finished")

const (
	lookInterval = time.Second      // between two looks for a mark
	lookTimeout  = 10 * time.Second // of one look
	planLooks    = 5                // every so many looks, one for the plan, too
)

// markName is the file that says that an attempt is cancelled.
func (p *Plan) markName(attempt string) string { return p.work("cancelled-%s", attempt) }

// Cancel ends the steps of an attempt, on all machines: it writes a mark into the output, which those who called Watch
// look for. An attempt is one start of all steps of the plan, with a name that no other start has, of letters and
// digits. The next attempt needs no mark to be removed; Finish removes them. Cancel does nothing if the plan is not in
// the output, or not any more: then no step of it can do harm.
func (p *Plan) Cancel(ctx context.Context, out Store, attempt string) error {
	if there, err := p.has(ctx, out); !there || err != nil {
		return err
	}
	return p.attempt(ctx, out, func() error {
		return put(ctx, out, p.markName(attempt), []byte(ErrCancelled.Error()+"\n"))
	}, func() []string { return []string{p.markName(attempt)} }, func() bool { return true })
}

// Watch returns a context for the steps of an attempt, and a function that ends the watch. The context ends with a
// cause that wraps ErrCancelled at most a second after Cancel, and with one that wraps ErrNoPlan soon after the plan
// was removed from the output, by the Finish of another attempt. Watch looks once before it returns. If the output
// cannot be read, the context does not end. The error of a step may be context.Canceled only: context.Cause has the
// cause.
func (p *Plan) Watch(ctx context.Context, out Source, attempt string) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	looks := 0
	look := func() {
		short, end := context.WithTimeout(watched, lookTimeout)
		defer end()
		if err := p.cancelled(short, out, attempt, looks%planLooks == 0); err != nil {
			cancel(err)
		}
		looks++
	}
	look()
	go func() {
		tick := time.NewTicker(lookInterval)
		defer tick.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
				look()
			}
		}
	}()
	return watched, func() { cancel(nil) }
}

// cancelled returns the cause for which the steps of an attempt must end.
func (p *Plan) cancelled(ctx context.Context, out Source, attempt string, plan bool) error {
	if _, err := out.Stat(ctx, p.markName(attempt)); err == nil {
		return ErrCancelled
	} else if !missing(err) || !plan {
		return nil
	}
	if there, err := p.has(ctx, out); there || err != nil {
		return nil
	}
	return fmt.Errorf("%w: plan %s was removed from the output, by a Finish", ErrNoPlan, p.ID())
}
