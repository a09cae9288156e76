package job

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bloomery/bloomery/beam/parquet"
	"github.com/bloomery/bloomery/buckets"
	_ "github.com/bloomery/bloomery/buckets/all" // s3:// and gs://
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/internal/untrusted"
)

// Task is the description of a job in the graph: names and numbers. It contains no secret.
type Task struct {
	Input, Output  string // arguments of openSource and openStore
	Plan           string // id
	Ranges, Shards int
	Memory         int64  // bytes per worker
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

// idleTime is the time for which a task keeps its worker after its last step. After this time, the next task drops the
// worker, because a pool runs forever, and a plan may take megabytes.
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

// forget drops the worker of a task.
func forget(t Task) {
	workers.Lock()
	defer workers.Unlock()
	delete(workers.m, t.shared())
}

func newWorker(ctx context.Context, t Task) (*worker, error) {
	if err := sameProgram(t.Program, cli.Version()); err != nil {
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

// options returns the options of a step that may use bytes bytes of memory.
func (w *worker) options(bytes int64) steps.Options {
	share := float64(bytes) / float64(w.task.Memory)
	return steps.Options{
		Secret: w.secret, Workers: max(1, int(share*float64(runtime.GOMAXPROCS(0))+0.5)),
		Memory: bytes - bytes/4, // the rest is for the buffers of the input and the filter
	}
}

// hashRange is the step of range i.
func (w *worker) hashRange(ctx context.Context, i int, bytes int64) (result, error) {
	d, err := w.plan.Range(ctx, w.in, w.out, i, w.options(bytes))
	if err != nil {
		return result{}, err
	}
	return result{element: encodeDone(d), ranges: 1, keys: int64(d.Keys)}, nil
}

// encodeDone returns a Done as bytes: the numbers of its range and of the shards, then its counts.
func encodeDone(d steps.Done) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(d.Range))
	b = binary.LittleEndian.AppendUint32(b, uint32(d.Index.Shards))
	b, _ = binary.Append(b, binary.LittleEndian, d.Index.Counts) // never fails: a Count has a fixed size
	return b
}

// decodeDone is the reverse of encodeDone. Gather checks the counts.
func decodeDone(b []byte) (steps.Done, error) {
	count := binary.Size(hashes.Count{})
	if len(b) < 8 || (len(b)-8)%count != 0 {
		return steps.Done{}, fmt.Errorf("%w: the result of a range has %d bytes", hashes.ErrDamaged, len(b))
	}
	x := &hashes.Index{Shards: int(binary.LittleEndian.Uint32(b[4:])), Counts: make([]hashes.Count, (len(b)-8)/count)}
	_, _ = binary.Decode(b[8:], binary.LittleEndian, x.Counts) // the length is right
	return steps.Done{Range: int(binary.LittleEndian.Uint32(b)), Keys: x.Keys(), Index: x}, nil
}

// gatherRanges is the step between ranges and shards. It requires the results of all ranges, and returns the number of
// keys.
func (w *worker) gatherRanges(ctx context.Context, next func(*[]byte) bool) (keys uint64, err error) {
	done := []steps.Done{} // not nil: with nil, Gather would read the run files
	var b []byte
	for next(&b) {
		d, err := decodeDone(b)
		if err != nil {
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

// complete returns an error unless all shards are built.
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

// Formats are the formats of keys in addition to the formats of keyio.
var Formats = steps.Formats{parquet.Name: parquet.Format{}}

// isURL reports whether a name is the URL of a bucket.
func isURL(name string) bool { return strings.Contains(name, "://") }

// openSource opens the bucket of a URL, or the files of this machine if it is empty.
func openSource(ctx context.Context, url string) (steps.Source, error) {
	if url == "" {
		return steps.Files(), nil
	}
	return buckets.OpenStore(ctx, url)
}

// openStore opens a folder, or a prefix of a bucket.
func openStore(ctx context.Context, where string) (steps.Store, error) {
	return buckets.OpenStore(ctx, where)
}

// splitInput divides a name or pattern of inputs into a source for openSource and a pattern in it.
func splitInput(in string) (source, pattern string) {
	if !isURL(in) {
		return "", in
	}
	return buckets.Split(in)
}

// SecretFileVariable is the environment variable of workers that names the file with the secret, 32 hex digits.
const SecretFileVariable = "BLOOMERY_SECRET_FILE"

// secrets are the secrets of the plans that Run builds in this process.
var secrets sync.Map // plan id -> *filter.Secret

// secretOf returns the secret of a plan in a worker.
func secretOf(ctx context.Context, plan string) (*filter.Secret, error) {
	if s, ok := secrets.Load(plan); ok {
		return s.(*filter.Secret), nil
	}
	path := os.Getenv(SecretFileVariable)
	if path == "" {
		return nil, fmt.Errorf("%w: set %s to a file with the secret on every worker", filter.ErrNoSecret,
			SecretFileVariable)
	}
	return ReadSecret(ctx, path)
}

// maxSecret is the largest file with a secret in bytes.
const maxSecret = 4096

// ReadSecret reads a secret from a file or pipe of 32 hex digits. It waits for the writer of a pipe until ctx ends.
func ReadSecret(ctx context.Context, path string) (*filter.Secret, error) {
	text, err := untrusted.ReadFile(ctx, path, untrusted.Limit{MaxBytes: maxSecret, Streams: true})
	if err != nil {
		return nil, fmt.Errorf("reading the secret: %w", err)
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(b) != filter.SecretSize {
		return nil, fmt.Errorf("%s: want a secret of 32 hex digits; make one with: openssl rand -hex %d", path,
			filter.SecretSize)
	}
	return (*filter.Secret)(b), nil
}

// sameProgram returns an error if the submitter and a worker are known to be different versions: they may not have the
// same steps and files.
func sameProgram(submitter, worker string) error {
	if submitter == "" || worker == "" || submitter == worker {
		return nil
	}
	return fmt.Errorf("the submitter is bloomery-beam %s and a worker is %s: run the same version on all machines",
		submitter, worker)
}
