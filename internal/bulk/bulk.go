// Package bulk has the jobs on a Set and a list of keys: adding, removing and verifying them.
package bulk

import (
	"fmt"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/spool"
)

// Set is what the jobs need of a bloomery.Set.
type Set interface {
	Hasher() filter.Hasher
	ContainsMany(dst []bool, keys [][]byte)
	HasMany(dst []bool, hs []filter.Hash)
	Get(key []byte) (value uint64, ok bool, err error)
	CountHash(h filter.Hash) (n uint64, saturated bool, err error)
	AddMany(keys [][]byte) error
	AddHashes(hs []filter.Hash) error
	RemoveHash(h filter.Hash) error
	Info() filter.Info
	Guarded(f func() error) error
	Err() error
}

// Options are those of a job that keeps the hashes of a list.
type Options struct {
	Workers  int
	Memory   int64 // limit in bytes of the hashes in memory; 0: spool.DefaultMemory
	TempDir  string
	Progress func(filter.Progress)
}

func (o Options) memory() int64 {
	if o.Memory <= 0 {
		return spool.DefaultMemory
	}
	return o.Memory
}

// NewSpill returns a store of hashes for the shards of e.
func (o Options) NewSpill(e engine.Engine) *run.Spill {
	return run.NewSpill(e.Stored().Shards, o.memory(), o.TempDir)
}

var hashBuffers = sync.Pool{New: func() any { return new([]filter.Hash) }}

// withHashes calls f with the hashes of keys, which it must not keep.
func withHashes(h filter.Hasher, keys [][]byte, f func(hs []filter.Hash) error) error {
	buf := hashBuffers.Get().(*[]filter.Hash)
	defer hashBuffers.Put(buf)
	hs := (*buf)[:0]
	for _, k := range keys {
		hs = append(hs, h.Sum(k))
	}
	*buf = hs
	return f(hs)
}

// checkPairs panics if there is not one value for each key.
func checkPairs(keys [][]byte, values []uint64) {
	if len(keys) != len(values) {
		panic(fmt.Sprintf("bloomery: %d values for %d keys", len(values), len(keys)))
	}
}
