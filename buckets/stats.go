package buckets

import "sync/atomic"

// counters count what a Set has done.
type counters struct {
	hits, misses, fetches, bytes, evictions, failures atomic.Int64
	blockHits, blockReads                             atomic.Int64
}

// Stats says what a Set has done since Open.
type Stats struct {
	Hits      int64 // uses of a shard that was in the cache; a batch counts once for each shard
	Misses    int64 // uses of a shard that was not, or not yet
	Fetches   int64 // shards that were fetched, in part or completely
	Evictions int64 // shards that left the cache
	BlockHits int64 // keys whose block was in the cache of blocks
	// BlockReads is the number of requests for headers and blocks.
	BlockReads int64
	Bytes      int64 // received, of shards and blocks
	Failures   int64 // shards or blocks that could not be read when a query needed them
	// CacheBytes is the size of the cache of shards now, with the room of shards that are being fetched. CacheShards is
	// the number of shards that are loaded now.
	CacheBytes  int64
	CacheShards int
}

// Stats returns what the Set has done since Open.
func (s *Set) Stats() Stats {
	c := &s.counters
	bytes, shards := s.cache.resident()
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Fetches: c.fetches.Load(), Evictions: c.evictions.Load(),
		BlockHits: c.blockHits.Load(), BlockReads: c.blockReads.Load(), Bytes: c.bytes.Load(),
		Failures: c.failures.Load(), CacheBytes: bytes, CacheShards: shards,
	}
}
