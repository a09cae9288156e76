package buckets

import (
	"errors"
	"time"

	"github.com/bloomery/bloomery/filter"
)

// Options are the options of Open. Zero fields take the default noted beside them.
type Options struct {
	// Secret is needed for sets that were built with one.
	Secret *filter.Secret
	// CacheBytes limits the size of the cache of shards: of the files in CacheDir, or of the memory that it takes
	// without one. The shards that queries read at a time must fit: a query waits for room. No shard may be larger.
	// Trimmed shards take their size in memory besides. Default: 1 GiB.
	CacheBytes int64
	// CacheDir is a folder for fetched shards, which are mapped from there. They stay when the Set is closed, and are
	// checked and used again when another Set is opened with the folder. A folder belongs to one open Set; everything
	// else of its kind that is in it is removed. It is created if it does not exist. Default: memory.
	CacheDir string
	// Blocks makes queries read only the block of a key, by a request for that range, instead of fetching its shard. It
	// needs family blocked or blockpartitioned and a bucket with versions of objects. The header of a shard is read and
	// checked once. A request names the version that the object had when the Set was opened, and an answer of another
	// length is an error. No checksum in the file covers a block: until Verify has read the set once, and kept checksums,
	// an answer depends on the service sending what it stores.
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
	if o.CacheBytes == 0 {
		o.CacheBytes = 1 << 30
	}
	if o.BlockCacheBytes == 0 {
		o.BlockCacheBytes = 16 << 20
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	if o.Fetches == 0 {
		o.Fetches = 8
	}
	return o, nil
}
