package main

import (
	"context"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

var hasher = filter.NewHasher(1)

// ourContenders returns our families with the parameters that a user would choose for the given rate.
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
		our("blockpartitioned", asked("blockpartitioned", "effort", effort),
			"its build is a search; one cache line per query"),
		our("twochoice", asked("twochoice", "effort", effort), "its build is a search"),
		our("rankindexed", asked("rankindexed"), "keys can be removed"),
		our("rankindexed-fast", asked("rankindexed", "bucket", 512, "fast", 1), "keys can be removed"),
		our("counting", asked("counting"), "keys can be removed and counted"),
	}
}

// our returns the contender of a spec.
func our(name string, spec filter.Spec, note string) contender {
	return contender{
		name: name, module: ourModule, ours: true, told: spec.String(), note: note,
		fixed: family.Given(spec, "width") || family.Given(spec, "r"),
		build: func(ctx context.Context, keys []uint64) (built, error) {
			set, err := bloomery.Build(ctx, slices.Values(keys), config(spec, len(keys)))
			if err != nil {
				return built{}, err
			}
			return built{ask: oneByOne(set), many: many(set), bits: set.Info().Bits}, nil
		},
	}
}

// config returns the Config of a build.
func config(spec filter.Spec, keys int) bloomery.Config {
	return bloomery.Config{Spec: spec.String(), Keys: uint64(keys), Hashing: bloomery.Hashing{Seed: hasher.Seed()}}
}

// oneByOne returns an asker that queries one of our sets key by key. Like the loops of the peers, it must not be
// inlined: Go 1.26 does not inline calls inside a closure of an inlined function.
//
//go:noinline
func oneByOne(s *bloomery.Set) asker {
	set := bloomery.Keyed[uint64](s)
	return func(keys []uint64) (n int) {
		for _, k := range keys {
			if set.Contains(k) {
				n++
			}
		}
		return n
	}
}

// many returns an asker that queries in batches of 256 keys.
func many(s *bloomery.Set) asker {
	set, out := bloomery.Keyed[uint64](s), make([]bool, 256)
	return func(keys []uint64) (n int) {
		for part := range slices.Chunk(keys, len(out)) {
			set.ContainsMany(out[:len(part)], part)
			for _, hit := range out[:len(part)] {
				if hit {
					n++
				}
			}
		}
		return n
	}
}
