package buckets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// tries is the largest number of attempts to read the manifest if it is replaced meanwhile.
const tries = 5

// readManifest reads the manifest and lists its shards.
func (s *Set) readManifest(ctx context.Context) (*generation, error) {
	for try := 1; ; try++ {
		st, err := s.store.Stat(ctx, shard.ManifestName)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: %w", filter.ErrNoManifest, err)
		}
		if err != nil {
			return nil, err
		}

		g, err := s.readVersion(ctx, st.Version)
		if err == nil || try == tries {
			return g, err
		}
		// Was the manifest replaced after Stat, and its shards removed?
		if now, e := s.store.Stat(ctx, shard.ManifestName); e != nil || now.Version == st.Version {
			return nil, err
		}
	}
}

// readVersion reads one version of the manifest.
func (s *Set) readVersion(ctx context.Context, version string) (*generation, error) {
	r, err := s.store.OpenVersion(ctx, shard.ManifestName, version, 0, -1)
	if err != nil {
		return nil, err
	}

	m, err := shard.ReadManifest(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", shard.ManifestName, err)
	}

	g := &generation{
		manifest: m, version: version, versions: make([]string, len(m.Shards)),
		faults: make([]atomic.Pointer[fault], len(m.Shards)),
	}
	if g.hasher, err = m.Hasher(s.options.Secret); err != nil {
		return nil, err
	}
	if err := s.acceptManifest(m); err != nil {
		return nil, err
	}
	if err := s.listShards(ctx, g); err != nil {
		return nil, err
	}
	if s.options.Blocks {
		g.views = make([]atomic.Pointer[shard.Blocks], len(m.Shards))
		g.sums = make([]atomic.Pointer[chunks], len(m.Shards))
	}
	return g, nil
}

// listShards finds all shards by one listing, checks their sizes and keeps their versions.
func (s *Set) listShards(ctx context.Context, g *generation) error {
	shards := g.manifest.Shards
	index := make(map[string]int, len(shards))
	for i, e := range shards {
		index[e.File] = i
	}

	found := make([]bool, len(shards))
	for o, err := range s.store.List(ctx, commonPrefix(shards[0].File, shards[len(shards)-1].File)) {
		if err != nil {
			return err
		}
		i, ok := index[o.Name]
		if !ok {
			continue
		}
		if uint64(o.Size) != shards[i].Bytes {
			return &shard.Error{File: o.Name, Err: fmt.Errorf("%d bytes, want %d: %w; write the set again",
				o.Size, shards[i].Bytes, shard.ErrChanged)}
		}
		if s.options.Blocks && o.Version == "" {
			return fmt.Errorf("this bucket has no versions of objects, which range reads need: open the set without Blocks")
		}
		g.versions[i], found[i] = o.Version, true
	}

	for i, ok := range found {
		if !ok {
			err := fmt.Errorf("the file is missing: %w; write the set again", fs.ErrNotExist)
			return &shard.Error{File: shards[i].File, Err: err}
		}
	}
	return nil
}

// commonPrefix returns the common prefix of the names of all shards from a to b. Names of equal length ascend. Names of
// more digits begin with other digits, so the prefix ends before the number of shards, at the dash at the latest.
func commonPrefix(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] && a[n] != '-' {
		n++
	}
	return a[:n]
}

// Refresh loads the manifest if it has changed, and reports whether it has. Queries continue meanwhile and use the new
// shards afterwards; shards with the same contents stay in the cache. On error the Set is unchanged. The error wraps
// filter.ErrMismatch if the new set has another hash function, seed or secret: open it as a new Set.
func (s *Set) Refresh(ctx context.Context) (changed bool, err error) {
	s.refresh.Lock()
	defer s.refresh.Unlock()
	if err := s.cache.base.Err(); err != nil {
		return false, ErrClosed
	}

	was := s.now.Load()
	st, err := s.store.Stat(ctx, shard.ManifestName)
	if err != nil || st.Version == was.version && st.Version != "" {
		return false, err
	}

	g, err := s.readManifest(ctx)
	if err != nil {
		return false, err
	}
	if g.hasher != was.hasher {
		return false, fmt.Errorf("the new set has another hash function, seed or secret; open it as a new one: %w",
			filter.ErrMismatch)
	}

	s.now.Store(g)
	s.fault.Store(nil)
	return true, nil
}

// openShard opens the object of a shard in the version of the generation.
func (r remote) openShard(ctx context.Context) (io.ReadCloser, error) {
	return r.readRange(ctx, 0, -1)
}

func (r remote) readRange(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
	in, err := r.set.store.OpenVersion(ctx, r.manifestEntry().File, r.g.versions[r.shard], offset, length)
	if errors.Is(err, ErrReplaced) || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; call Refresh, or open the set again", err)
	}
	return in, err
}

// Options are the options of Open. A zero field has the default noted beside it.
type Options struct {
	// Secret is needed for sets that were built with a secret.
	Secret *filter.Secret
	// CacheBytes limits the size of the cache of shards: the files in CacheDir, or memory if CacheDir is empty. A query
	// waits until the cache has room for its shards. No shard may be larger than the cache. Trimmed shards also need
	// their full size in memory. Default: 1 GiB.
	CacheBytes int64
	// CacheDir is a folder for fetched shards, which the Set maps into memory. The files stay when the Set is closed;
	// the next Set with this folder checks and uses them. Only one open Set may use a folder. Open creates the folder
	// if it does not exist, and removes the cache files of other sets. Default: memory.
	CacheDir string
	// Blocks makes queries read only the block of a key, by a request for this range, instead of the whole shard. It
	// needs family blocked or blockpartitioned and a bucket with versions of objects. The Set reads and checks the
	// header of a shard once. A request names the version that the object had when the Set was opened, and an answer of
	// another length is an error. No checksum in the file covers a block, so that damage during the transfer is not
	// detected before Verify has read the set once and stored checksums.
	Blocks bool
	// BlockCacheBytes limits the memory of the cache of blocks. Default: 16 MiB.
	BlockCacheBytes int64
	// Timeout limits the fetch of one shard or block, with all its retries. Default: 5 minutes.
	Timeout time.Duration
	// Fetches is the number of shards or blocks that one batch fetches at a time. Default: 8.
	Fetches int
}

func (o Options) withDefaults() (Options, error) {
	if o.CacheBytes < 0 || o.BlockCacheBytes < 0 || o.Timeout < 0 || o.Fetches < 0 {
		return o, errors.New("buckets: an option is negative")
	}
	o.CacheBytes, o.BlockCacheBytes = cmp.Or(o.CacheBytes, 1<<30), cmp.Or(o.BlockCacheBytes, 16<<20)
	o.Timeout, o.Fetches = cmp.Or(o.Timeout, 5*time.Minute), cmp.Or(o.Fetches, 8)
	return o, nil
}
