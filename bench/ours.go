package main

import (
	"context"
	"fmt"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/family/blocked"
	"github.com/bloomery/bloomery/internal/family/blockpartitioned"
	"github.com/bloomery/bloomery/internal/family/counting"
	"github.com/bloomery/bloomery/internal/family/dleft"
	"github.com/bloomery/bloomery/internal/family/fuse"
	"github.com/bloomery/bloomery/internal/family/partitioned"
	"github.com/bloomery/bloomery/internal/family/rankindexed"
	"github.com/bloomery/bloomery/internal/family/ribbon"
	"github.com/bloomery/bloomery/internal/family/standard"
	"github.com/bloomery/bloomery/internal/family/twochoice"
	"github.com/bloomery/bloomery/internal/handle"
)

var hasher = filter.NewHasher(1)

// ourContenders returns our families with the parameters that a user would choose for that rate.
func ourContenders(rate float64, effort string) []contender {
	asked := func(name string, more ...any) filter.Spec {
		s := family.NewSpec(name, more...)
		return s.With("fpr", rate)
	}
	return []contender{
		our("standard", asked("standard"), ""),
		our("blocked", asked("blocked"), "one cache line per query"),
		our("blocked-split", asked("blocked", "layout", "split"), "blocks as in Parquet"),
		our("fuse", asked("fuse"), "static; fingerprints of whole bits"),
		our("fuse-8", family.NewSpec("fuse", "width", 8), "static; fixed rate of 1/256"),
		our("fuse-16", family.NewSpec("fuse", "width", 16), "static; fixed rate of 1/65536"),
		our("ribbon", asked("ribbon"), "static; any rate"),
		our("ribbon-8", family.NewSpec("ribbon", "r", 8), "static; fixed rate of 1/256"),
		our("ribbon-8-wide", family.NewSpec("ribbon", "r", 8, "w", 128), "static; fixed rate of 1/256; smallest"),
		our("partitioned", asked("partitioned", "effort", effort), "its build is a search"),
		our("blockpartitioned", asked("blockpartitioned", "effort", effort), "its build is a search; one cache line per query"),
		our("twochoice", asked("twochoice", "effort", effort), "its build is a search"),
		our("rankindexed", asked("rankindexed"), "keys can be removed"),
		our("rankindexed-fast", asked("rankindexed", "bucket", 512, "fast", 1), "keys can be removed"),
		our("counting", asked("counting"), "keys can be removed and counted"),
		our("dleft", asked("dleft"), "keys can be removed"),
	}
}

// our returns the contender of a spec.
func our(name string, spec filter.Spec, note string) contender {
	return contender{
		name: name, module: ourModule, ours: true, told: spec.String(), note: note,
		fixed: family.Given(spec, "width") || family.Given(spec, "r"),
		build: func(ctx context.Context, keys []uint64) (built, error) {
			f, err := buildOurs(ctx, spec, keys)
			if err != nil {
				return built{}, err
			}
			return built{ask: oneByOne(f), many: many(f), bits: f.Info().Bits}, nil
		},
	}
}

// buildOurs builds a filter through a bloomery.Builder, with batches of hashes that the caller computes.
func buildOurs(ctx context.Context, spec filter.Spec, keys []uint64) (family.Filter, error) {
	b, err := bloomery.NewBuilder(ctx, bloomery.Config{Spec: spec.String(), Keys: uint64(len(keys)), Seed: hasher.Seed()})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	hs := make([]filter.Hash, 4096)
	for len(keys) > 0 {
		n := min(len(hs), len(keys))
		hasher.SumUint64s(hs, keys[:n])
		if err := b.AddHashes(hs[:n]); err != nil {
			return nil, err
		}
		keys = keys[n:]
	}
	set, err := b.Build(ctx)
	if err != nil {
		return nil, err
	}
	return handle.Filter(set), nil
}

// oneByOne queries one of our filters key by key, through its own type and not through the interface, as in a program
// that uses one family.
func oneByOne(f family.Filter) asker {
	switch f := f.(type) {
	case *standard.Filter:
		return standardOne(f)
	case *blocked.Filter:
		return blockedOne(f)
	case *fuse.Filter:
		return fuseOne(f)
	case *ribbon.Filter:
		return ribbonOne(f)
	case *partitioned.Filter:
		return partitionedOne(f)
	case *blockpartitioned.Filter:
		return blockpartitionedOne(f)
	case *twochoice.Filter:
		return twochoiceOne(f)
	case *rankindexed.Filter:
		return rankindexedOne(f)
	case *counting.Filter:
		return countingOne(f)
	case *dleft.Filter:
		return dleftOne(f)
	}
	panic(fmt.Sprintf("%T has no loop of its own in kernels.go", f))
}

// many queries in batches of 256 keys, including hashing. It returns nil if the filter has no batch queries.
func many(f family.Filter) asker {
	b, ok := f.(family.Batcher)
	if !ok {
		return nil
	}
	hs, out := make([]filter.Hash, 256), make([]bool, 256)
	return func(keys []uint64) (n int) {
		for len(keys) > 0 {
			part := min(len(hs), len(keys))
			hasher.SumUint64s(hs, keys[:part])
			b.HasMany(out[:part], hs[:part])
			for _, hit := range out[:part] {
				if hit {
					n++
				}
			}
			keys = keys[part:]
		}
		return n
	}
}
