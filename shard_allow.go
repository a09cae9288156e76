package bloomery

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/run"
)

// shardedList is the list of Config.Allow in a ShardBuilder.
type shardedList struct {
	spill *run.Spill // hashes of its keys; nil until Build reads the list, and without one

	mu   sync.Mutex
	both map[filter.Hash]string // keys that are members, with a text
}

// readAllowed hashes the keys of Config.Allow.
func (b *ShardBuilder) readAllowed(ctx context.Context) error {
	if b.config.Allow == nil {
		return nil
	}
	b.allowed.spill = run.NewSpill(b.config.Shards, b.memory(), b.config.TempDir)
	return feedHashes(ctx, b.config.Allow, b.hasher, b.allowed.spill.Add)
}

// except gives exceptions to a shard. Keys that are members are no error yet, so that all of them are found.
func (b *ShardBuilder) except(ctx context.Context, set *Set, s int, like *Set) error {
	if b.allowed.spill == nil {
		return nil
	}
	a, err := set.Allower(like)
	if err != nil {
		return err
	}
	if err := b.allowed.spill.Each(ctx, s, a.AllowHashes); err != nil {
		return err
	}
	if err := b.spill.Each(ctx, s, a.AddMemberHashes); err != nil {
		return err
	}
	err = a.Apply(ctx)
	if !errors.Is(err, filter.ErrAllowed) {
		return err
	}
	b.allowed.mu.Lock()
	defer b.allowed.mu.Unlock()
	if b.allowed.both == nil {
		b.allowed.both = map[filter.Hash]string{}
	}
	maps.Copy(b.allowed.both, a.b.Both())
	return nil
}

// conflicts returns a *filter.AllowedError if keys of Config.Allow are members. It reads their names from the list; the
// others are named by their hash.
func (b *ShardBuilder) conflicts(ctx context.Context) error {
	both := b.allowed.both
	if len(both) == 0 {
		return nil
	}
	err := each(ctx, b.config.Allow, func(key []byte) error {
		h := b.hasher.Sum(key)
		if _, ok := both[h]; ok {
			both[h] = string(key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return &filter.AllowedError{Keys: slices.Sorted(maps.Values(both))}
}
