package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/shardset"
	"github.com/bloomery/bloomery/internal/steps"
)

// errCancelled means that the attempt to which a step belongs was cancelled. Repeating the step in the same attempt
// would fail again.
var errCancelled = errors.New("the build was cancelled; start it again to go on with what is finished")

const (
	markInterval = time.Second      // between two looks for a mark
	markLook     = 10 * time.Second // limit of one look
	planLooks    = 5                // every fifth look also looks for the plan
)

// markName returns the name of the file that marks an attempt as cancelled. Finish removes it.
func markName(p *steps.Plan, attempt string) string {
	return shardset.WorkName(p.ID(), "cancelled-"+attempt)
}

// hasPlan reports whether the plan is in the output. Finish removes the plan.
func hasPlan(ctx context.Context, p *steps.Plan, out steps.Source) (bool, error) {
	_, err := out.Stat(ctx, shardset.WorkName(p.ID(), steps.PlanName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// writeMark writes the mark of an attempt, for which watchMark looks on all machines. It writes no mark if the plan is
// not in the output, because then no step of the plan can do harm.
func writeMark(ctx context.Context, p *steps.Plan, out steps.Store, attempt string) error {
	if there, err := hasPlan(ctx, p, out); !there || err != nil {
		return err
	}

	name := markName(p, attempt)
	err := out.Write(ctx, name, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, errCancelled)
		return err
	})
	if err != nil {
		return err
	}
	if there, err := hasPlan(ctx, p, out); there || err != nil {
		return err
	}
	return out.Remove(ctx, name) // a Finish that ran meanwhile may have listed the files before the mark was there
}

// watchMark returns a context for the steps of an attempt, and a function that ends the watch. The context ends with a
// cause that wraps errCancelled at most a second after mark, and with one that wraps steps.ErrNoPlan soon after the
// plan was removed from the output, by the Finish of another attempt. watchMark looks once before it returns. If the
// output cannot be read, the context does not end.
func watchMark(ctx context.Context, p *steps.Plan, out steps.Source, attempt string) (context.Context, func()) {
	watched, cancel := context.WithCancelCause(ctx)
	looks := 0
	look := func() {
		short, end := context.WithTimeout(watched, markLook)
		defer end()
		if err := cancelled(short, p, out, attempt, looks%planLooks == 0); err != nil {
			cancel(err)
		}
		looks++
	}

	look()
	go func() {
		tick := time.NewTicker(markInterval)
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

// cancelled returns the reason why the steps of an attempt must end, or nil. If plan is true, it also looks for the
// plan.
func cancelled(ctx context.Context, p *steps.Plan, out steps.Source, attempt string, plan bool) error {
	if _, err := out.Stat(ctx, markName(p, attempt)); err == nil {
		return errCancelled
	} else if !errors.Is(err, fs.ErrNotExist) || !plan {
		return nil
	}
	if there, err := hasPlan(ctx, p, out); there || err != nil {
		return nil
	}
	return fmt.Errorf("%w: plan %s was removed from the output, by a Finish", steps.ErrNoPlan, p.ID())
}

// tally counts the finished steps of a plan by the names and sizes of its working files, for a progress line.
type tally struct {
	ranges, shards int
	keys           uint64 // keys in the ranges
}

// newTally lists the working files and reads none: in a bucket, this takes one request per 1,000 run files, and after
// all ranges are done, one per 1,000 shards. before is the previous tally, or zero.
func newTally(ctx context.Context, p *steps.Plan, out steps.Source, before tally) (tally, error) {
	t := before
	if t.ranges < len(p.Ranges) {
		t.ranges, t.keys = 0, 0
		for o, err := range out.List(ctx, shardset.WorkName(p.ID(), steps.RangePrefix)) {
			if err != nil {
				return before, err
			}
			t.ranges++
			t.keys += hashes.KeysOf(o.Size, p.Shards)
		}
		if t.ranges < len(p.Ranges) {
			return t, nil
		}
	}

	t.shards = 0
	for _, err := range out.List(ctx, shardset.WorkName(p.ID(), steps.ShardPrefix)) {
		if err != nil {
			return before, err
		}
		t.shards++
	}
	return t, nil
}
