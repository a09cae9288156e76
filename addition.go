package bloomery

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/spool"
)

// An Addition adds keys to a Set, those of a sharded Set shard by shard, so that each shard is loaded and written once.
//
//	a, err := set.Addition(bloomery.Config{})
//	if err != nil { ... }
//	defer a.Close()
//	err = a.AddHashes(hashes) // any number of times
//	if err != nil { ... }
//	err = a.Add(ctx)
type Addition struct {
	set    *Set
	spill  *run.Spill // of a sharded Set, else nil
	report func(filter.Progress)
	ended  atomic.Bool // by Add or Close
}

var errEnded = errors.New("bloomery: the Addition was added or closed, and takes no more keys")

// Addition returns an Addition to s. For a sharded Set it keeps 16 bytes a key until Add: in memory up to c.Memory, by
// default 64 MiB, then in a temporary file in c.TempDir. For other Sets it keeps nothing: keys are added at once. Of c
// it also uses Progress. The error wraps errors.ErrUnsupported if the family is static. Close it when done.
func (s *Set) Addition(c Config) (*Addition, error) {
	if err := c.checkFields(); err != nil {
		return nil, err
	}
	if err := s.inner().Can(filter.CanAdd); err != nil {
		return nil, err
	}
	a := &Addition{set: s, report: c.Progress}
	if s.inner().Parts() != nil {
		a.spill = newSpill(s, c)
	}
	return a, nil
}

func newSpill(s *Set, c Config) *run.Spill {
	memory := c.Memory
	if memory <= 0 {
		memory = spool.DefaultMemory
	}
	return run.NewSpill(s.Stored().Shards, memory, c.TempDir)
}

// AddMany adds keys. Errors are those of Set.AddMany and of the temporary file. After Add or Close it returns an error.
func (a *Addition) AddMany(keys [][]byte) error {
	if a.ended.Load() {
		return errEnded
	}
	if a.spill == nil {
		return a.set.AddMany(keys)
	}
	hs := make([]filter.Hash, len(keys))
	(&engine.Keys{Bytes: keys}).Sum(a.set.hasher, hs, 0)
	return a.spill.Add(hs)
}

// AddHashes is AddMany for keys hashed by Hasher. It does not keep hs.
func (a *Addition) AddHashes(hs []filter.Hash) error {
	if a.ended.Load() {
		return errEnded
	}
	if a.spill == nil {
		return a.set.AddHashes(hs)
	}
	return a.spill.Add(hs)
}

// Add adds the keys that were kept. Call it once, after all others; a second call returns an error. If ctx ends or a
// shard is full, the Set may have some of the keys: do not write it back.
func (a *Addition) Add(ctx context.Context) error {
	if a.ended.Swap(true) {
		return errEnded
	}
	if a.spill == nil {
		return nil
	}
	parts, n := a.set.inner().Parts(), a.set.Stored().Shards
	for i := range n {
		if a.spill.Count(i) == 0 {
			continue
		}
		err := parts.Change(i, func(part engine.Engine) error {
			return a.spill.Each(ctx, i, func(hs []filter.Hash) error { return part.AddMany(engine.Keys{Hashes: hs}) })
		})
		if err != nil {
			return err
		}
		if a.report != nil {
			a.report(filter.Progress{Done: float64(i+1) / float64(n)})
		}
	}
	return nil
}

// Close drops the keys and removes their temporary file.
func (a *Addition) Close() error {
	a.ended.Store(true)
	if a.spill == nil {
		return nil
	}
	return a.spill.Close()
}
