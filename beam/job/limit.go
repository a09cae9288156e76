package job

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/costs"
)

// limit bounds the memory of the steps that run at the same time in a worker, and their number by GOMAXPROCS.
type limit struct {
	bytes *semaphore.Weighted
	most  int64
}

func newLimit(most int64) *limit { return &limit{semaphore.NewWeighted(most), most} }

// acquire waits until a step that needs a number of bytes may start. It returns the bytes that the step may take: at
// least its share of a processor, at most all.
func (l *limit) acquire(ctx context.Context, need int64) (bytes int64, err error) {
	share := l.most / int64(runtime.GOMAXPROCS(0))
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
	for kind, bytes := range costs.Measured().Memory {
		if k, err := filter.ParseSpec(kind); err == nil && k.Family() == s.Family() {
			perKey = max(perKey, bytes)
		}
	}
	return int64(min((perKey+2)*float64(keys), 1<<60)) + stepMemory
}
