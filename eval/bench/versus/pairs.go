package versus

import (
	"fmt"
	"strings"

	"github.com/bloomery/bloomery/filter"
)

// Pair is one of our filters and the peer to compare it with.
type Pair struct {
	Ours     string        // spec without the target rate
	Hash     filter.HashID // hash of our filter; 0 is its own
	Language string        // language of the peer: rust or java
	Peer     string        // FILTER of the command build
	Library  string        // a key of Program.Versions
	Told     string        // the peer's filter in terms of its library, with %g for the target rate
	Note     string
	Fixed    bool // both have fixed rates and ignore the target
}

// Pairs are all pairs.
var Pairs = []Pair{
	{
		Ours: "standard", Language: "rust", Peer: "fastbloom", Library: "fastbloom",
		Told: "BloomFilter::with_false_pos(%g).hasher(ahash)",
	},
	{
		Ours: "blocked", Language: "rust", Peer: "fastbloom", Library: "fastbloom",
		Told: "BloomFilter::with_false_pos(%g).hasher(ahash)",
	},
	{
		Ours: "blocked(layout=split)", Hash: filter.XXH64, Language: "rust",
		Peer: "sbbf-rs-safe", Library: "sbbf-rs-safe",
		Told: "Filter::new(256, blocks) of XXH64",
		Note: "takes no rate: as many blocks as ours; both are filters of Parquet with the same bits",
	},
	{
		Ours: "fuse(width=8)", Language: "rust", Peer: "xorf-8", Library: "xorf", Told: "BinaryFuse8", Fixed: true,
		Note: "takes integers and mixes them; strings are hashed with ahash",
	},
	{
		Ours: "fuse(width=16)", Language: "rust", Peer: "xorf-16", Library: "xorf", Told: "BinaryFuse16", Fixed: true,
		Note: "takes integers and mixes them; strings are hashed with ahash",
	},
	{
		Ours: "rankindexed", Language: "rust", Peer: "cuckoofilter", Library: "cuckoofilter",
		Told: "CuckooFilter::with_capacity(n), DefaultHasher",
		Note: "a power of two fingerprints of 8 bits: size and rate depend on the load",
	},
	{
		Ours: "guava", Language: "java", Peer: "guava", Library: "guava", Told: "BloomFilter.create(funnel, n, %g)",
		Note: "byteArrayFunnel or longFunnel; ours has the same format",
	},
}

// Name returns the pair's name in tables.
func (p Pair) Name() string { return p.Ours + " / " + p.Peer }

// spec returns the spec of our filter.
func (p Pair) spec(rate float64) (string, error) {
	s, err := filter.ParseSpec(p.Ours)
	if err != nil {
		return "", err
	}
	if !p.Fixed {
		s = s.With("fpr", rate)
	}
	return s.String(), nil
}

// told returns the peer's filter in terms of its library.
func (p Pair) told(rate float64) string {
	if strings.Contains(p.Told, "%g") {
		return fmt.Sprintf(p.Told, rate)
	}
	return p.Told
}
