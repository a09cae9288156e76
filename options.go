package bloomery

import (
	"time"

	"github.com/bloomery/bloomery/filter"
)

// DefaultMaxBytes is the largest filter that Read, ReadFrom and the Unmarshal methods take without WithMaxBytes: 1 GiB.
const DefaultMaxBytes = 1 << 30

// Option says how to open or read a Set.
type Option func(*options)

type options struct {
	secret     *[filter.SecretSize]byte
	keyed      filter.Hasher // a hasher that has the secret, or zero
	maxBytes   uint64        // 0: no limit
	concurrent bool
	inMemory   bool
	interval   time.Duration
}

func optionsOf(maxBytes uint64, all []Option) options {
	o := options{maxBytes: maxBytes}
	for _, set := range all {
		set(&o)
	}
	return o
}

// WithSecret gives the secret of a filter that was built with Config.Secret. It is not used for other filters.
func WithSecret(secret *[filter.SecretSize]byte) Option {
	return func(o *options) { o.secret = secret }
}

// WithMaxBytes limits the size of the filter, header included; a trimmed one counts with what it becomes in memory. Beyond
// it the error wraps filter.ErrTooLarge. Default: DefaultMaxBytes for Read, and no limit for Open, OpenLive and FromBytes,
// which take at most 64 times the size of their input and 1 MiB.
func WithMaxBytes(n uint64) Option {
	return func(o *options) { o.maxBytes = max(n, 1) }
}

// WithConcurrent makes the Set safe for many writers, as Config.Concurrent does. It is read into memory.
func WithConcurrent() Option {
	return func(o *options) { o.concurrent = true }
}

// InMemory has Open and OpenLive read the file into memory in place of mapping it: nothing that happens to the file later
// can disturb the Set.
func InMemory() Option {
	return func(o *options) { o.inMemory = true }
}
