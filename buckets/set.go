// Package buckets reads and writes sharded sets in object stores. A Store is the output of package distribute; a Set
// fetches shards, or single blocks of shards, from a bucket when a query needs them.
//
//	file:///data/set, /data/set, set        a folder
//	s3://bucket/prefix?region=eu-west-1     S3 and its imitations; import buckets/s3
//	gs://bucket/prefix                      Google Cloud Storage; import buckets/gcs
//
// This package imports no client of a cloud. A program imports the packages of its clouds for their side effect:
// buckets/s3, buckets/gcs, or both with buckets/all. Package buckets/cloud makes a Store from any other bucket of
// gocloud.dev/blob.
package buckets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// Set is a sharded set in a bucket. It fetches the shards that queries need into a cache, or with Options.Blocks only
// the blocks that queries need. It reads every shard in the version that the object had when the Set was opened, and
// compares whole shards with the SHA-256 in the manifest. All methods are safe for concurrent use.
//
//	Set.Contains ──► Hasher.Sum ──► shard.Route ──► cache ──► bloomery.Set of the shard
//	                                  │               └ absent: Store.OpenVersion, once for all who wait
//	                                  └ Blocks: cache of blocks ──► View of the family
//	                                              └ absent: Store.OpenVersion of the block
//
// No answer is a false negative: if a shard cannot be read, Contains returns true and Err returns an error.
type Set struct {
	store    Store
	options  Options
	counters counters
	cache    *cache
	blocks   *blockCache // nil without Options.Blocks
	now      atomic.Pointer[generation]
	fault    atomic.Pointer[error]
	refresh  sync.Mutex
}

// generation is a manifest and the state of its shards in the bucket.
type generation struct {
	manifest *shard.Manifest
	hasher   filter.Hasher
	version  string   // version of the manifest
	versions []string // versions of the shards
	faults   []atomic.Pointer[fault]
	views    []atomic.Pointer[shard.Blocks] // views of the shards with Options.Blocks; nil until the first use
	sums     []atomic.Pointer[chunks]       // checksums of the shards with Options.Blocks; nil until Verify
}

// fault is the reason why the bytes of a shard could not be used.
type fault struct {
	wrong *mismatch // mismatch of the fetch, or nil
	err   error
	final bool // another fetch in this generation would return the same bytes
}

// finalFault returns the error of a shard that need not be fetched again, because it is not a filter of the set, or
// because two fetches returned the same wrong bytes. Other errors may be transient: a bit that flipped in transit, a
// full disk, a busy service. After such an error, each query tries again, and the clients of the services pause between
// requests.
func (g *generation) finalFault(i int) error {
	if f := g.faults[i].Load(); f != nil && f.final {
		return f.err
	}
	return nil
}

// noteFault stores the error of a shard for finalFault.
func (g *generation) noteFault(i int, err error) {
	var u *unusable
	var m *mismatch
	if errors.As(err, &u) {
		g.faults[i].Store(&fault{err: err, final: true})
	} else if errors.As(err, &m) {
		was := g.faults[i].Load()
		if was == nil || was.wrong != m && !was.final { // every query that waited for a fetch calls note with its error
			same := was != nil && was.wrong != nil && was.wrong.got == m.got
			g.faults[i].CompareAndSwap(was, &fault{m, err, same})
		}
	}
}

// Open opens the sharded set at an address; see OpenStore. It reads the manifest, lists the shards, and checks that all
// of them exist and have the right size. It fetches no shard. The error wraps filter.ErrNoManifest if the manifest is
// missing, shard.ErrManifest if it is invalid, or is a *shard.Error that names a shard. Close the Set after use.
func Open(ctx context.Context, address string, o Options) (*Set, error) {
	store, err := OpenStore(ctx, address)
	if err != nil {
		return nil, err
	}
	s, err := OpenSet(ctx, store, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", address, err), store.Close())
	}
	return s, nil
}

// OpenSet is Open for a Store. Set.Close closes the Store. On error the Store stays open.
func OpenSet(ctx context.Context, store Store, o Options) (*Set, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}

	s := &Set{store: store, options: o}
	g, err := s.readManifest(ctx)
	if err != nil {
		return nil, err
	}

	var p place = memory{&s.counters}
	var files *cacheFolder
	if o.CacheDir != "" {
		if files, err = openCacheFolder(o.CacheDir, &s.counters); err != nil {
			return nil, err
		}
		p = files
	}

	s.cache = newCache(o, p, &s.counters)
	if files != nil {
		sizes := make(map[hashSum]int64, len(g.manifest.Shards))
		for _, e := range g.manifest.Shards {
			sizes[e.SHA256] = int64(e.Bytes)
		}
		if err := files.adoptFiles(s.cache, sizes); err != nil {
			return nil, errors.Join(err, s.cache.close())
		}
	}
	if o.Blocks {
		s.blocks = newBlockCache(o.BlockCacheBytes, o.Fetches)
	}
	s.now.Store(g)
	return s, nil
}

// acceptManifest returns an error if the Set cannot use a manifest.
func (s *Set) acceptManifest(m *shard.Manifest) error {
	if s.options.Blocks {
		return withoutBlocks(m.CheckBlocks())
	}
	largest := slices.MaxFunc(m.Shards, func(a, b shard.Entry) int { return cmp.Compare(a.Bytes, b.Bytes) })
	if largest.Bytes > uint64(s.options.CacheBytes) {
		return fmt.Errorf("shard %s has %d bytes, and the cache takes %d: use a larger CacheBytes: %w",
			largest.File, largest.Bytes, s.options.CacheBytes, filter.ErrTooLarge)
	}
	return nil
}

// Manifest returns a copy of the manifest.
func (s *Set) Manifest() *shard.Manifest {
	m := *s.now.Load().manifest
	m.Shards = slices.Clone(m.Shards)
	return &m
}

// Hasher returns the hash function of the keys. It stays the same until Close.
func (s *Set) Hasher() filter.Hasher { return s.now.Load().hasher }

// Spec returns the Spec of each shard that the build was given.
func (s *Set) Spec() filter.Spec { return s.now.Load().manifest.Spec }

// Len returns the number of keys.
func (s *Set) Len() uint64 { return s.now.Load().manifest.Keys() }

// Info describes the set by its manifest. An absent key belongs to each shard with the same probability, so the rates
// are the means over the shards. Bits counts the files, their headers included.
func (s *Set) Info() filter.Info {
	m := s.now.Load().manifest
	i := filter.Info{Spec: m.Spec, Keys: m.Keys(), Bits: min(m.Bytes(), math.MaxUint64/8) * 8, FPRPlanned: m.FPRPlanned}
	i.FPRPrior, i.FPRPosterior = m.FPR()
	return i
}

// Err returns the error of the first query that returned true because of an error, since Open or the last Refresh that
// found a new manifest: a *shard.Error that names the shard. It ignores queries whose context ended. Err also returns
// an error if a file in the cache folder was overwritten while it was in use, and ErrClosed after Close.
func (s *Set) Err() error {
	if err := s.fault.Load(); err != nil {
		return *err
	}
	return s.cache.firstError()
}

// noteFailure stores the first error for Err.
func (s *Set) noteFailure(ctx context.Context, err error) {
	if ctx.Err() == nil {
		s.counters.failures.Add(1)
		s.fault.CompareAndSwap(nil, &err)
	}
}

// Close cancels fetches, waits for queries that read a shard, and closes the Store. Later queries return true and
// ErrClosed. The files in a cache folder stay. Verify and Download must have returned before.
func (s *Set) Close() error {
	return errors.Join(s.cache.close(), s.store.Close())
}

// remote is a shard of a generation. It implements fetcher.
type remote struct {
	set   *Set
	g     *generation
	shard int
}

func (r remote) manifestEntry() shard.Entry { return r.g.manifest.Shards[r.shard] }

func (r remote) options() []bloomery.Option {
	return []bloomery.Option{bloomery.WithSecret(r.set.options.Secret)}
}

// checkSet returns an error unless a Set has the family, the hash function and the number of keys of the shard.
func (r remote) checkSet(set *bloomery.Set) error {
	m, e := r.g.manifest, r.manifestEntry()
	switch kind, keys := set.Spec().Family(), set.Len(); {
	case kind != m.Spec.Family():
		return fmt.Errorf("family %s, want %s: %w", kind, m.Spec.Family(), shard.ErrForeign)
	case set.Hasher() != r.g.hasher:
		return fmt.Errorf("another hash function, seed or secret: %w", shard.ErrForeign)
	case keys != e.Keys:
		return fmt.Errorf("%d keys, want %d: %w", keys, e.Keys, shard.ErrForeign)
	}
	return nil
}

// counters count the operations of a Set.
type counters struct {
	hits, misses, fetches, bytes, evictions, failures atomic.Int64
	blockHits, blockReads                             atomic.Int64
}

// Stats are counts of the operations of a Set since Open.
type Stats struct {
	Hits      int64 // uses of a shard that was in the cache; a batch counts once for each shard
	Misses    int64 // uses of a shard that was not in the cache yet
	Fetches   int64 // shards that were fetched, in part or completely
	Evictions int64 // shards that left the cache
	BlockHits int64 // keys whose block was in the cache of blocks
	// BlockReads is the number of requests for headers and blocks.
	BlockReads int64
	Bytes      int64 // received, of shards and blocks
	Failures   int64 // shards or blocks that could not be read when a query needed them
	// CacheBytes is the current size of the cache of shards, including the room for running fetches. CacheShards is the
	// number of shards that are currently loaded.
	CacheBytes  int64
	CacheShards int
}

// Stats returns the counts of operations since Open.
func (s *Set) Stats() Stats {
	c := &s.counters
	bytes, shards := s.cache.resident()
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Fetches: c.fetches.Load(), Evictions: c.evictions.Load(),
		BlockHits: c.blockHits.Load(), BlockReads: c.blockReads.Load(), Bytes: c.bytes.Load(),
		Failures: c.failures.Load(), CacheBytes: bytes, CacheShards: shards,
	}
}
