package job

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/steps"
)

// Task is what the graph says about a job: names and numbers, nothing secret.
type Task struct {
	Input, Output  string // of openSource and openStore
	Plan           string // id
	Ranges, Shards int
	Memory         int64  // bytes a worker
	Attempt        string // name of this start of the job
	Program        string // Version of the submitter
}

// shared returns the task without its attempt: steps of several attempts share a worker and its memory.
func (t Task) shared() Task {
	t.Attempt = ""
	return t
}

// worker runs the steps of a task in this process.
type worker struct {
	task     Task
	plan     *steps.Plan
	in       steps.Source
	out      steps.Store
	secret   *filter.Secret
	limit    *limit
	attempts attempts
}

// workers are the workers of this process.
var workers = struct {
	sync.Mutex
	m map[Task]*worker
}{m: map[Task]*worker{}}

// idleTime is how long a task keeps its worker after its last step. The next task to start then drops it. A pool has no
// end, and a plan may take megabytes.
const idleTime = time.Minute

// open returns the worker of a task. All steps of a task in a process share it, and its memory.
func open(ctx context.Context, t Task) (*worker, error) {
	workers.Lock()
	defer workers.Unlock()
	t = t.shared()
	if w := workers.m[t]; w != nil {
		return w, nil
	}
	w, err := newWorker(ctx, t)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(workers.m, func(_ Task, other *worker) bool { return other.idle(time.Now().Add(-idleTime)) })
	workers.m[t] = w
	return w, nil
}

// forget lets go of the worker of a task.
func forget(t Task) {
	workers.Lock()
	defer workers.Unlock()
	delete(workers.m, t.shared())
}

func newWorker(ctx context.Context, t Task) (*worker, error) {
	if err := sameProgram(t.Program, Version()); err != nil {
		return nil, err
	}
	in, err := openSource(ctx, t.Input)
	if err != nil {
		return nil, err
	}
	out, err := openStore(ctx, t.Output)
	if err != nil {
		return nil, err
	}
	p, err := steps.ReadPlan(ctx, out, t.Plan, Formats)
	if err != nil {
		return nil, fmt.Errorf("reading the plan in %s: %w; every worker must be able to read the output", t.Output, err)
	}
	w := &worker{task: t, plan: p, in: in, out: out, limit: newLimit(t.Memory)}
	w.attempts.last = time.Now()
	if p.Hash == filter.SipHash {
		w.secret, err = secretOf(ctx, t.Plan)
	}
	return w, err
}

// options returns the options of a step that may take a number of bytes.
func (w *worker) options(bytes int64) steps.Options {
	share := float64(bytes) / float64(w.task.Memory)
	return steps.Options{
		Secret: w.secret, Workers: max(1, int(share*float64(runtime.GOMAXPROCS(0))+0.5)),
		Memory: bytes - bytes/4, // the rest is for the buffers of the input and the filter
	}
}

// hash is the step of range i.
func (w *worker) hash(ctx context.Context, i int, bytes int64) (result, error) {
	d, err := w.plan.Range(ctx, w.in, w.out, i, w.options(bytes))
	if err != nil {
		return result{}, err
	}
	b, err := d.MarshalBinary()
	return result{element: b, ranges: 1, keys: int64(d.Keys)}, err
}

// gather is the step between ranges and shards: it requires all ranges. It returns the number of keys.
func (w *worker) gather(ctx context.Context, next func(*[]byte) bool) (keys uint64, err error) {
	done := []steps.Done{} // not nil, with which Gather would read the run files
	var b []byte
	for next(&b) {
		var d steps.Done
		if err := d.UnmarshalBinary(b); err != nil {
			return 0, err
		}
		done, b = append(done, d), nil
	}
	return w.plan.Gather(ctx, w.out, done, w.options(w.task.Memory))
}

// build is the step of shard s.
func (w *worker) build(ctx context.Context, s int, bytes int64) (result, error) {
	o := w.options(bytes)
	if _, err := w.plan.Build(ctx, w.out, s, o); err != nil {
		return result{}, w.plan.NameConflict(ctx, w.in, err, o)
	}
	return result{element: binary.AppendUvarint(nil, uint64(s)), shards: 1}, nil
}

// complete requires all shards.
func complete(shards int, next func(*[]byte) bool) error {
	built := make([]bool, shards)
	n := 0
	var b []byte
	for ; next(&b); b = nil {
		s, size := binary.Uvarint(b)
		if size != len(b) || s >= uint64(shards) {
			return fmt.Errorf("result %x of a build", b)
		}
		if !built[s] {
			built[s] = true
			n++
		}
	}
	if n < shards {
		return fmt.Errorf("%d of %d shards are built", n, shards)
	}
	return nil
}
