package bloomery

import (
	"sync"

	"github.com/bloomery/bloomery/filter"
)

// shardProgress adds up the progress of all shards.
type shardProgress struct {
	to   func(filter.Progress)
	mu   sync.Mutex
	part []float64 // of the work: the share of the keys
	done []float64
	sum  float64
}

func newShardProgress(b *ShardBuilder, shards int) *shardProgress {
	p := &shardProgress{to: b.config.Progress, part: make([]float64, shards), done: make([]float64, shards)}
	for s := range p.part {
		p.part[s] = float64(b.keysOf(s)) / float64(max(b.added.Load(), 1))
	}
	return p
}

// of returns the Config.Progress of a shard.
func (p *shardProgress) of(s int) func(filter.Progress) {
	if p.to == nil {
		return nil
	}
	return func(now filter.Progress) { p.report(s, now.Done) }
}

func (p *shardProgress) report(s int, done float64) {
	if p.to == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum += (done - p.done[s]) * p.part[s]
	p.done[s] = done
	p.to(filter.Progress{Done: min(p.sum, 1)})
}
