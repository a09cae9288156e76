package shardset

import (
	"slices"

	"github.com/bloomery/bloomery/shard"
)

// Leftover says which files a sweep may remove, in a folder and in a bucket. It is the one rule of all writers of sets.
//
//   - A shard that no manifest of Keep names, if it has as many shards as one of Keep or Before, and with All every
//     one. The caller has the lock of the folder, so that nobody else is writing shards under their final names; a
//     bucket without a lock has conditional writes instead.
//   - In a folder without a manifest that has files of others: no shard.
//   - Temporary files of shards and of the manifest whose writers were killed, which their locks show.
//
// Nothing else: neither files of other names, nor the working files of a distributed build, which package distribute
// removes when its plan cannot finish any more.
type Leftover struct {
	All    bool            // the whole set is replaced; else it is changed
	Before *shard.Manifest // the set that was replaced, or nil
	Keep   []*shard.Manifest
}

// Func returns a function that reports whether a name belongs to a shard that may be removed. nil manifests do not
// count.
func (l Leftover) Func() func(name string) bool {
	named, counts := map[string]bool{}, []int{}
	for _, m := range l.Keep {
		if m == nil {
			continue
		}
		counts = append(counts, len(m.Shards))
		for _, e := range m.Shards {
			named[e.File] = true
		}
	}
	if l.Before != nil {
		counts = append(counts, len(l.Before.Shards))
	}
	return func(name string) bool {
		_, shards, ok := shard.ParseName(name)
		return ok && !named[name] && (l.All || slices.Contains(counts, shards))
	}
}
