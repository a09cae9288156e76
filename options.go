package bloomery

import (
	"context"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
)

// DefaultMaxBytes is the largest filter that Read, ReadFrom and the Unmarshal methods take without WithMaxBytes: 1 GiB.
const DefaultMaxBytes = 1 << 30

// Option is an option of Open, OpenLive, Read and FromBytes.
type Option func(*options)

type options struct {
	engine.Options
	interval time.Duration
	update   func(context.Context, *Live)
}

func optionsOf(maxBytes uint64, all []Option) options {
	o := options{Options: engine.Options{MaxBytes: maxBytes}}
	for _, set := range all {
		set(&o)
	}
	return o
}

// WithSecret sets the secret of a filter that was built with Config.Secret. It is ignored for other filters.
func WithSecret(secret *[filter.SecretSize]byte) Option {
	return func(o *options) { o.Secret = secret }
}

// WithMaxBytes limits the size of the filter, or of all shards of a sharded set together, including the header, and for
// a trimmed one its size in memory. Above the limit the error wraps filter.ErrTooLarge. Default: DefaultMaxBytes for
// Read, and no limit for Open, OpenLive and FromBytes, which need at most 64x the size of their input + 1 MiB.
func WithMaxBytes(n uint64) Option {
	return func(o *options) { o.MaxBytes = max(n, 1) }
}

// WithConcurrent makes the Set safe for many writers, like Config.Concurrent. The file, or every shard of a sharded
// set, is read into memory.
func WithConcurrent() Option {
	return func(o *options) { o.Concurrent = true }
}

// InMemory makes Open and OpenLive read the file, or every shard, into memory instead of mapping it. Later changes of
// the file then do not affect the Set.
func InMemory() Option {
	return func(o *options) { o.InMemory = true }
}
