// Package bulk has the parts of the jobs on a Set and a list of keys: lists, what a removal would do, what a new Set has
// lost, and the Verifier.
package bulk

import (
	"cmp"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Options configure a job that keeps the hashes of a list.
type Options struct {
	Workers  int
	Memory   int64 // limit in bytes of the hashes in memory; 0: hashes.DefaultMemory
	TempDir  string
	Progress func(filter.Progress)
}

func (o Options) memory() int64 { return cmp.Or(o.Memory, hashes.DefaultMemory) }

// Spill keeps hashes by shard.
type Spill struct {
	*hashes.ByShard
	shards int
}

// NewSpill returns an empty Spill for the shards of e.
func (o Options) NewSpill(e engine.Engine) *Spill {
	n := e.Facts().Stored.Shards
	return &Spill{hashes.NewByShard(n, o.memory(), o.TempDir), n}
}

// EachShard calls f for each shard that has hashes, in order, until f fails. done is the share of the shards with this
// one included.
func (s *Spill) EachShard(f func(i int, done float64) error) error {
	for i := range s.shards {
		if s.Count(i) == 0 {
			continue
		}
		if err := f(i, float64(i+1)/float64(s.shards)); err != nil {
			return err
		}
	}
	return nil
}
