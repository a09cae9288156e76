package bulk

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/internal/run"
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
	set    Set
	parts  engine.Parts // of a sharded Set, else nil
	spill  *run.Spill   // of its hashes
	shards int
	report func(filter.Progress)
	ended  atomic.Bool // by Add or Close
}

var errEnded = fmt.Errorf("bloomery: the Addition was added or %w, and takes no more keys", filter.ErrClosed)

// NewAddition returns an Addition to set, which stands on e. For a sharded Set it keeps the hashes until Add.
func NewAddition(set Set, e engine.Engine, o Options) (*Addition, error) {
	if err := engine.Can(e, family.CanAdd); err != nil {
		return nil, err
	}
	a := &Addition{set: set, parts: e.Parts(), report: o.Progress}
	if a.parts != nil {
		a.spill, a.shards = o.NewSpill(e), e.Facts().Stored.Shards
	}
	return a, nil
}

// AddMany adds keys. Errors are those of Set.AddMany and of the temporary file. After Add or Close it returns an error.
func (a *Addition) AddMany(keys [][]byte) error {
	if a.ended.Load() {
		return errEnded
	}
	if a.spill == nil {
		return a.set.AddMany(keys)
	}
	return intake.Hash(a.set.Hasher(), keys, a.spill.Add)
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
	for i := range a.shards {
		if a.spill.Count(i) == 0 {
			continue
		}
		err := a.parts.Change(i, func(part engine.Engine) error {
			return a.spill.Each(ctx, i, func(hs []filter.Hash) error { return part.AddMany(engine.Keys{Hashes: hs}) })
		})
		if err != nil {
			return err
		}
		if a.report != nil {
			a.report(filter.Progress{Done: float64(i+1) / float64(a.shards)})
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
