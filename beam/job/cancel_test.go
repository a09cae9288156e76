package job

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"

	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

// deaf is a job server that reports that it has cancelled a job but does not cancel it.
type deaf struct{ jobpb.JobServiceClient }

func (deaf) Cancel(context.Context, *jobpb.CancelJobRequest, ...grpc.CallOption) (*jobpb.CancelJobResponse, error) {
	return &jobpb.CancelJobResponse{State: jobpb.JobState_CANCELLING}, nil
}

// withPool makes c run on a worker pool that shares no state with the submitter.
func withPool(t *testing.T, c *Config) {
	p, err := startPool(context.WithoutCancel(t.Context()), "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	c.Environment, c.EnvironmentConfig = External, p.at
}

// withDeafServer makes jobs of the test run on a Prism that does not cancel.
func withDeafServer(t *testing.T) {
	was := startPrism
	startPrism = func() (*prismServer, error) {
		s, err := was()
		if err != nil {
			return nil, err
		}
		return &prismServer{deaf{s.client}, s.endpoint, s.open}, nil
	}
	t.Cleanup(func() { startPrism = was })
}

// markFiles returns the cancellation marks in the output of a job.
func markFiles(t *testing.T, c Config) []string {
	files, err := filepath.Glob(filepath.Join(c.Output, "work-*", "cancelled-*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// restLimit is the time from a cancel until the last step must have ended.
const restLimit = 5 * time.Second

// TestCancelByMark cancels a job whose server continues to run it. The steps of the job must find the mark, and Run
// must return the cause after the last step has ended. The next start is another attempt, which must ignore the mark
// and write the same bytes.
func TestCancelByMark(t *testing.T) {
	pattern, keys := plain(t, 30_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	withDeafServer(t)
	cause := errors.New("enough")
	for try := range 2 { // the second one is another attempt, which ignores the mark of the first
		if try == 1 {
			withPool(t, &c)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var start time.Time
		var once sync.Once
		var running, last atomic.Int64 // the number of running steps, and the time when the last one ended
		withProbe(t, &c, func(step context.Context, _ steps.Span) error {
			running.Add(1)
			once.Do(func() { time.AfterFunc(200*time.Millisecond, func() { start = time.Now(); cancel(cause) }) })
			<-step.Done()
			last.Store(time.Now().UnixNano())
			running.Add(-1)
			return context.Cause(step)
		})
		if _, err := Run(ctx, c); !errors.Is(err, cause) {
			t.Errorf("error %v; want %v", err, cause)
		}
		took, rested := time.Since(start), time.Unix(0, last.Load()).Sub(start)
		t.Logf("the last step ended after %v, Run after %v", rested, took)
		if n := running.Load(); n != 0 || took > restLimit || rested > took {
			t.Errorf("%d steps run; the last one ended after %v, Run after %v", n, rested, took)
		}
		if n := len(markFiles(t, c)); n != try+1 {
			t.Errorf("%d marks", n)
		}
		if _, err := os.Stat(filepath.Join(c.Output, shard.ManifestName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a manifest after the cancel: %v", err)
		}
	}
	withProbe(t, &c, func(context.Context, steps.Span) error { return nil })
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if m := markFiles(t, c); len(m) != 0 {
		t.Errorf("marks after Finish: %q", m)
	}
	c.Set.Keys.Name = ""
	sameFolders(t, c.Output, single(t, c, keys))
}

// TestCancelSearch cancels a job by its mark during a search that would take about 20 s.
func TestCancelSearch(t *testing.T) {
	pattern, _ := plain(t, 120_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "partitioned(bits_per_key=16,effort=max)")
	c.Set.Build.Sharding.Shards = 2
	withDeafServer(t)
	withPool(t, &c)
	ctx, cancel := context.WithCancelCause(t.Context())
	start := make(chan time.Time, 1)
	go func() {
		for {
			index, _ := filepath.Glob(filepath.Join(c.Output, "work-*", "index"))
			if len(index) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
		start <- time.Now()
		cancel(signal{})
	}()
	_, err := Run(ctx, c)
	if !errors.Is(err, signal{}) {
		t.Fatal(err)
	}
	took := time.Since(<-start)
	t.Logf("after %v", took)
	if took > restLimit {
		t.Errorf("Run returned after %v", took)
	}
	if files, _ := filepath.Glob(filepath.Join(c.Output, "work-*", "*.bloom")); len(files) > 0 {
		t.Errorf("the search was not cancelled: %q", files)
	}
}

type signal struct{}

func (signal) Error() string { return "a signal" }

// TestLateSteps checks that in a cancelled attempt, a running step ends with the error and a starting step does
// nothing. If the runner restarts the job, the job must end as done without writing a set. Steps of another attempt
// must continue in the same worker.
func TestLateSteps(t *testing.T) {
	pattern, _ := plain(t, 30_000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	c.Environment = Loopback
	began := make(chan struct{}, 10)
	withProbe(t, &c, func(ctx context.Context, s steps.Span) error {
		if s.Offset > 0 {
			return nil
		}
		began <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	s, hangUp, err := c.server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp()
	task, p, out, err := c.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer forget(task)
	w, err := open(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	other := task
	other.Attempt = newAttempt()
	if w2, err := open(t.Context(), other); w2 != w || err != nil || other.Attempt == task.Attempt {
		t.Fatalf("attempts %q and %q: workers %p and %p, %v", task.Attempt, other.Attempt, w, w2, err)
	}
	hash := func(task Task, i int) (result, error) {
		return w.during(t.Context(), task.Attempt, func(ctx context.Context) (result, error) {
			return w.hashRange(ctx, i, 64<<20)
		})
	}
	ended := make(chan error, 1)
	go func() { _, err := hash(task, 0); ended <- err }()
	<-began
	if err := writeMark(t.Context(), p, out, task.Attempt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, errCancelled) {
		t.Errorf("a step that ran: %v", err)
	}
	if r, err := hash(task, 1); err != nil || !r.void || len(runFiles(t, c)) != 0 {
		t.Errorf("a step that started late: %+v, %v, %q", r, err, runFiles(t, c))
	}
	if err := c.run(t.Context(), s, task); err != nil {
		t.Errorf("a job that was started again: %v", err)
	}
	if r, err := hash(other, 1); err != nil || r.void || len(runFiles(t, c)) != 1 {
		t.Errorf("a step of another attempt: %+v, %v", r, err)
	}
	if err := c.run(t.Context(), s, task); err != nil { // some ranges have results
		t.Errorf("a job that was started again: %v", err)
	}
	if _, err := p.Finish(t.Context(), out, steps.Options{}); !errors.Is(err, steps.ErrMissing) {
		t.Errorf("finish: %v", err)
	}
	if !waitForSteps(task) || len(w.attempts.m) != 0 {
		t.Errorf("watches of %d attempts", len(w.attempts.m))
	}
}

// TestNoMark checks that a finished job leaves no mark, and that the error names the mark if the output rejects it.
func TestNoMark(t *testing.T) {
	pattern, _ := plain(t, 3000)
	c := config(pattern, filepath.Join(t.TempDir(), "set"), "blocked(fpr=0.01)")
	_, p, out, err := c.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	written := markWhenDone(ctx, p, out, "one")
	if err := written(); err != nil {
		t.Error(err)
	}
	cancel()
	time.Sleep(20 * time.Millisecond)
	if m := markFiles(t, c); len(m) != 0 {
		t.Errorf("marks %q", m)
	}
	err = markWhenDone(ctx, p, full{out}, "two")()
	if err == nil || !strings.Contains(err.Error(), "cannot write the mark") {
		t.Errorf("error %v", err)
	}
}

// full is a Store whose writes fail.
type full struct{ steps.Store }

func (full) Write(context.Context, string, func(io.Writer) error) error {
	return errors.New("no space")
}
