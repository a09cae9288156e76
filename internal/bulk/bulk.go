// Package bulk has the jobs on a Set and a list of keys: adding, removing and verifying them.
package bulk

import (
	"cmp"

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

func (o Options) memory() int64 { return cmp.Or(o.Memory, spool.DefaultMemory) }

// NewSpill returns a store of hashes for the shards of e.
func (o Options) NewSpill(e engine.Engine) *run.Spill {
	return run.NewSpill(e.Facts().Stored.Shards, o.memory(), o.TempDir)
}
