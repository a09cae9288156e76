package main

import (
	"context"
	"regexp"
)

// asker asks one filter for many keys and returns how many are present. It hashes them, each library as it does.
type asker func(keys []uint64) int

// contender is one filter of one library, and how it is made.
type contender struct {
	name   string
	module string // that the filter comes from
	ours   bool
	told   string // what the library is asked for, in its own terms
	note   string // what a reader must know of it; empty if nothing
	fixed  bool   // it has a rate of its own, whatever was asked for
	// build makes the filter of distinct keys, which it does not change.
	build func(ctx context.Context, keys []uint64) (built, error)
}

// built is a filter that can be asked.
type built struct {
	ask     asker
	many    asker  // the same in batches; nil if the library has nothing of the kind
	bits    uint64 // of its arrays; 0 if only the heap tells
	refused int    // keys that it did not take
}

const (
	ourModule = "github.com/bloomery/bloomery"
	noModule  = "Go" // of the map
)

// contenders lists all there are, ours first; a new one joins ours or the peers. Some look at the number of keys for the size
// that keeps the rate.
func contenders(keys int, rate float64, effort string) []contender {
	return append(ourContenders(rate, effort), peers(keys, rate)...)
}

// only keeps what the pattern names.
func only(all []contender, pattern *regexp.Regexp) (kept []contender) {
	for _, c := range all {
		if pattern.MatchString(c.name) {
			kept = append(kept, c)
		}
	}
	return kept
}

// pair is a filter of ours and the peer that it is held against.
type pair struct{ ours, peer string }

// pairs are the ratios that are reported: each of ours against what comes nearest to it, and some against what a user may have
// in its place.
var pairs = []pair{
	{"standard", "bits-and-blooms"}, {"standard", "holiman"}, {"standard", "z.Bloom"},
	{"blocked", "pebble"}, {"blocked-split", "parquet-go"},
	{"fuse", "FastFilter-8"}, {"fuse-8", "FastFilter-8"}, {"fuse-16", "FastFilter-16"}, {"fuse-16", "map"},
	{"partitioned", "FastFilter-8"}, {"partitioned", "bits-and-blooms"},
	{"blockpartitioned", "FastFilter-8"}, {"blockpartitioned", "pebble"},
	{"twochoice", "bits-and-blooms"},
	{"rankindexed", "cuckoofilter"}, {"rankindexed-fast", "cuckoofilter"}, {"dleft", "cuckoofilter"},
	{"counting", "BoomFilters"}, {"rankindexed", "BoomFilters"},
	{"blocked", "map"},
}
