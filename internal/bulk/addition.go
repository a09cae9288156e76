package bulk

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
	"github.com/bloomery/bloomery/internal/intake"
)

// Addition is the job of bloomery.Addition.
type Addition struct {
	set    Target
	parts  engine.Parts    // of a sharded Set, else nil
	spill  *hashes.ByShard // of its hashes
	shards int
	report func(filter.Progress)
	ended  atomic.Bool // by Commit or Close
}

var errEnded = fmt.Errorf("bloomery: the Addition is %w, and takes no more keys", filter.ErrClosed)

// NewAddition returns an Addition to a Set. For a sharded Set it keeps the hashes until Commit.
func NewAddition(set Target, o Options) (*Addition, error) {
	if err := engine.Can(set.Engine, family.CanAdd); err != nil {
		return nil, err
	}
	a := &Addition{set: set, parts: set.Parts(), report: o.Progress}
	if a.parts != nil {
		a.spill, a.shards = o.NewSpill(set.Engine), set.Facts().Stored.Shards
	}
	return a, nil
}

// AddMany adds keys. After Commit or Close it returns an error.
func (a *Addition) AddMany(keys [][]byte) error {
	switch {
	case a.ended.Load():
		return errEnded
	case a.spill == nil:
		return a.set.add(engine.Keys{Bytes: keys})
	}
	return intake.Hash(a.set.hasher(), keys, a.spill.Add)
}

// Commit adds the keys that were kept. A second call returns an error.
func (a *Addition) Commit(ctx context.Context) error {
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
