package engine

import (
	"errors"
	"fmt"
	"math"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/container"
)

// Options of opening a Set.
type Options struct {
	Secret     *filter.Secret
	Keyed      filter.Hasher // a hasher that has the secret, or zero
	MaxBytes   uint64        // 0: no limit
	Concurrent bool
	InMemory   bool
	Lazy       bool                    // InMemory is for shards that are used
	Regular    bool                    // pipes and devices are errors, and are not waited for
	Opening    func(path string) error // nil except in tests: returns an error of the system
}

// Open calls Opening before a file is opened, mapped or read.
func (o Options) Open(path string) error {
	if o.Opening == nil {
		return nil
	}
	return o.Opening(path)
}

// Limit returns the largest number of bytes of a set.
func (o Options) Limit() uint64 {
	if o.MaxBytes == 0 {
		return math.MaxInt64
	}
	return o.MaxBytes
}

// Hasher returns the hasher of the keys of a file.
func (o Options) Hasher(f *container.File) (filter.Hasher, error) {
	if o.Keyed != (filter.Hasher{}) && f.Hash == filter.SipHash && o.Keyed.KeyCheck() == f.KeyCheck {
		return o.Keyed, nil
	}
	return f.Hasher(o.Secret)
}

// The errors of Sets without a filter.
var (
	ErrEmpty  = errors.New("bloomery: the Set is empty: it was neither made by New or Build nor read")
	ErrClosed = errors.New("bloomery: the Set is closed")
)

// The errors of two Sets that cannot be combined.
var (
	ErrOneSharded = fmt.Errorf("only one of the sets is sharded: %w", filter.ErrMismatch)
	ErrHasher     = fmt.Errorf("the hash function, seed or secret differs: %w", filter.ErrMismatch)
)
