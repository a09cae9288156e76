package main

import (
	"context"
	"regexp"
	"slices"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/family"
)

// asker queries one filter for many keys and returns the number of positives. It includes the library's own hashing.
type asker func(keys []uint64) int

// contender is one filter of one library, and the function that builds it.
type contender struct {
	name   string
	module string // path of the module of the filter
	ours   bool
	told   string // the parameters, in the library's own terms
	note   string // a note for the reader; may be empty
	fixed  bool   // the filter has a fixed rate and ignores the target
	// build builds the filter from distinct keys and does not change them.
	build func(ctx context.Context, keys []uint64) (built, error)
}

// built is a finished filter.
type built struct {
	ask     asker
	many    asker  // the same in batches; nil if the library has no batch queries
	bits    uint64 // size of its arrays; 0 if unknown, then the heap is measured
	refused int    // number of keys that it did not take
}

const (
	ourModule = "github.com/bloomery/bloomery"
	noModule  = "Go" // module of the map
)

// contenders returns all contenders, ours first. Some compute the size that meets the rate from the number of keys.
func contenders(keys int, rate float64, effort string) []contender {
	return append(ourContenders(rate, effort), peers(keys, rate)...)
}

// only returns the contenders whose names match the pattern.
func only(all []contender, pattern *regexp.Regexp) (kept []contender) {
	for _, c := range all {
		if pattern.MatchString(c.name) {
			kept = append(kept, c)
		}
	}
	return kept
}

// pair is one of our filters and the peer to compare it with.
type pair struct{ ours, peer string }

// pairs are the reported ratios: each of our filters with the most similar peer, and some with filters that a user may
// otherwise choose.
var pairs = []pair{
	{"standard", "bits-and-blooms"}, {"standard", "holiman"}, {"standard", "z.Bloom"},
	{"blocked", "pebble"}, {"blocked-split", "parquet-go"},
	{"fuse", "FastFilter-8"}, {"fuse-8", "FastFilter-8"}, {"fuse-8", "FastFilter-8-XXH3"}, {"fuse-16", "FastFilter-16"},
	{"fuse-16", "map"},
	{"ribbon-8", "FastFilter-8"}, {"ribbon-8", "FastFilter-8-XXH3"}, {"ribbon-8-wide", "FastFilter-8"},
	{"ribbon", "bits-and-blooms"},
	{"partitioned", "FastFilter-8"}, {"partitioned", "bits-and-blooms"},
	{"blockpartitioned", "FastFilter-8"}, {"blockpartitioned", "pebble"},
	{"twochoice", "bits-and-blooms"},
	{"rankindexed", "cuckoofilter"}, {"rankindexed-fast", "cuckoofilter"},
	{"counting", "BoomFilters"}, {"rankindexed", "BoomFilters"},
	{"blocked", "map"},
}

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
	return bloomery.Config{Spec: spec.String(), Keys: uint64(keys), Seed: hasher.Seed()}
}

// oneByOne queries one of our sets key by key. Like the loops of peers it is not inlined: the compiler (Go 1.26) inlines
// nothing into a closure copied with an inlined function.
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

// many queries in batches of 256 keys.
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
