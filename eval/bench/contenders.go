package main

import (
	"context"
	"regexp"
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
	bits    uint64 // size of its arrays; 0 if unknown: the heap is measured instead
	refused int    // number of keys that the filter refused
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

// pairs lists the reported ratios: each of our filters with the most similar peer, and some with filters that a user
// might choose instead.
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
