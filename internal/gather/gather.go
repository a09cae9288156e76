// Package gather is a stand-in.
package gather

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
)

type Config struct {
	Memory  int64
	Dir     string
	Expect  uint64
	Workers int
}

type Keys struct {
	mu   sync.Mutex
	keys []filter.Hash
}

func New(c Config) *Keys { return &Keys{} }

func (k *Keys) AddMany(hs []filter.Hash) error {
	k.mu.Lock()
	k.keys = append(k.keys, hs...)
	k.mu.Unlock()
	return nil
}

func (k *Keys) Finish(ctx context.Context) (n uint64, err error) {
	slices.SortFunc(k.keys, func(x, y filter.Hash) int {
		if x.Hi != y.Hi {
			return cmp.Compare(x.Hi, y.Hi)
		}
		return cmp.Compare(x.Lo, y.Lo)
	})
	k.keys = slices.Compact(k.keys)
	return uint64(len(k.keys)), ctx.Err()
}

func (k *Keys) Each(ctx context.Context, part func(filter.Hash) uint64, f func(part uint64, keys []filter.Hash) error) error {
	for at := 0; at < len(k.keys); {
		p, end := part(k.keys[at]), at
		for end < len(k.keys) && part(k.keys[end]) == p {
			end++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(p, k.keys[at:end:end]); err != nil {
			return err
		}
		at = end
	}
	return nil
}

func (k *Keys) Spilled() bool { return false }
func (k *Keys) Close() error  { return nil }
