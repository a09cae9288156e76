package job

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
)

// perProcessor is the number of steps per processor that run at the same time if the memory suffices: while one step
// waits for its input or output, another one computes.
const perProcessor = 2

// limit bounds the memory of the steps that run at the same time in a worker, and their number.
type limit struct {
	bytes *semaphore.Weighted
	most  int64
}

func newLimit(most int64) *limit { return &limit{semaphore.NewWeighted(most), most} }

// acquire waits until a step that needs need bytes may start. It returns the bytes that the step may use: at least an
// equal share, at most all.
func (l *limit) acquire(ctx context.Context, need int64) (bytes int64, err error) {
	share := l.most / int64(perProcessor*runtime.GOMAXPROCS(0))
	bytes = min(max(need, share), l.most)
	return bytes, l.bytes.Acquire(ctx, bytes)
}

func (l *limit) release(bytes int64) { l.bytes.Release(bytes) }

const stepMemory = 8 << 20 // memory of a step, without the memory that grows with keys and shards

// rangeMemory returns the memory that the step of a range needs for its hashes, at most 64 MiB, and buffers by shard.
func rangeMemory(shards int) int64 { return 64<<20 + 2<<10*int64(shards) + stepMemory }

// shardMemory returns the memory of the build of a shard: the measured memory for its family, and the filter at an
// assumed 16 bits per key.
func shardMemory(s filter.Spec, keys uint64) int64 {
	perKey := 0.0
	for kind, bytes := range families.Costs().Memory {
		if k, err := filter.ParseSpec(kind); err == nil && k.Family() == s.Family() {
			perKey = max(perKey, bytes)
		}
	}
	return int64(min((perKey+2)*float64(keys), 1<<60)) + stepMemory
}

// programMemory is the memory in bytes of a program with LimitMemory, without its steps: the code, Beam, and garbage
// that is not freed yet. uncounted is the part that the Go runtime does not manage, such as pages of the code.
const (
	programMemory = 64 << 20
	uncounted     = 32 << 20
)

// LimitMemory makes steps set the soft memory limit of the Go runtime: while steps of jobs run, it is the sum of their
// Config.Memory and the memory of the program itself. The process stays below that sum + 64 MiB as long as each step
// stays within the memory measured for its family. The variable GOMEMLIMIT takes precedence. Call LimitMemory before
// the first job or worker.
func LimitMemory() {
	collector.Lock()
	defer collector.Unlock()
	collector.on = os.Getenv("GOMEMLIMIT") == ""
}

// collector is the soft memory limit of the Go runtime.
var collector struct {
	sync.Mutex
	on   bool
	jobs int64 // bytes of the jobs with steps
	set  int64 // the limit, 0 before the first one
}

// useMemory adds the memory of a job at its first step, or subtracts it after its last step. After the last step of the
// last job, the limit stays as it is.
func useMemory(bytes int64) {
	collector.Lock()
	defer collector.Unlock()
	collector.jobs += bytes
	if limit := collector.jobs + programMemory - uncounted; collector.on && collector.jobs > 0 && limit != collector.set {
		debug.SetMemoryLimit(limit)
		collector.set = limit
	}
}
