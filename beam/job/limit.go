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

// perProcessor is the number of steps for each processor that run at the same time, if there is memory: while one waits
// for its input or output, another one computes.
const perProcessor = 2

// limit bounds the memory of the steps that run at the same time in a worker, and their number.
type limit struct {
	bytes *semaphore.Weighted
	most  int64
}

func newLimit(most int64) *limit { return &limit{semaphore.NewWeighted(most), most} }

// acquire waits until a step that needs a number of bytes may start. It returns the bytes that the step may take: at
// least an equal share, at most all.
func (l *limit) acquire(ctx context.Context, need int64) (bytes int64, err error) {
	share := l.most / int64(perProcessor*runtime.GOMAXPROCS(0))
	bytes = min(max(need, share), l.most)
	return bytes, l.bytes.Acquire(ctx, bytes)
}

func (l *limit) release(bytes int64) { l.bytes.Release(bytes) }

const stepMemory = 8 << 20 // of a step, beyond what grows with keys and shards

// rangeMemory returns the memory that the step of a range takes: its hashes, at most 64 MiB, and buffers by shard.
func rangeMemory(shards int) int64 { return 64<<20 + 2<<10*int64(shards) + stepMemory }

// shardMemory returns the memory that the build of a shard takes: what was measured for its family, and the filter,
// which is assumed to have 16 bits a key.
func shardMemory(s filter.Spec, keys uint64) int64 {
	perKey := 0.0
	for kind, bytes := range families.Costs().Memory {
		if k, err := filter.ParseSpec(kind); err == nil && k.Family() == s.Family() {
			perKey = max(perKey, bytes)
		}
	}
	return int64(min((perKey+2)*float64(keys), 1<<60)) + stepMemory
}

// programMemory is what a program of LimitMemory takes besides its steps, in bytes: the code, Beam, and what the
// collector has not freed yet. uncounted of it is not memory of the Go runtime, such as pages of the code.
const (
	programMemory = 64 << 20
	uncounted     = 32 << 20
)

// LimitMemory says that the steps are the work of this program. While steps of jobs run in it, the soft memory limit of
// the Go runtime is then the sum of their Config.Memory, and what the program itself takes: the process stays below
// that sum + 64 MiB as long as each step keeps to what was measured for its family. The variable GOMEMLIMIT comes
// first. Call LimitMemory before the first job or worker.
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

// use adds the memory of a job that has its first step, or takes it back. The last limit stays.
func use(bytes int64) {
	collector.Lock()
	defer collector.Unlock()
	collector.jobs += bytes
	if limit := collector.jobs + programMemory - uncounted; collector.on && collector.jobs > 0 && limit != collector.set {
		debug.SetMemoryLimit(limit)
		collector.set = limit
	}
}
