package bloomery

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery/filter"
)

// eachShard is each for a sharded Set: f gets the keys of one shard at a time, sorted.
func (r *Removal) eachShard(ctx context.Context, done float64, f func(hs []filter.Hash) error) error {
	n := r.set.Stored().Shards
	for i := range n {
		if r.spill.Count(i) == 0 {
			continue
		}
		hs, err := r.sorted(ctx, i)
		if err == nil {
			err = f(hs)
		}
		if err != nil {
			return r.set.inner().Parts().Fail(i, err)
		}
		if r.report != nil {
			r.report(filter.Progress{Done: done + float64(i+1)/float64(2*n)})
		}
	}
	return nil
}

// sorted returns the hashes of a shard in order.
func (r *Removal) sorted(ctx context.Context, i int) (hs []filter.Hash, err error) {
	hs = make([]filter.Hash, 0, r.spill.Count(i))
	err = r.spill.Each(ctx, i, func(part []filter.Hash) error { hs = append(hs, part...); return nil })
	slices.SortFunc(hs, func(a, b filter.Hash) int {
		switch {
		case a == b:
			return 0
		case a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo:
			return -1
		}
		return 1
	})
	return hs, err
}
