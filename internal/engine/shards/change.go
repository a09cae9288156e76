package shards

import (
	"context"
	"fmt"
	"slices"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/internal/engine/one"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/shard"
)

// change returns a shard, ready to be changed.
func (t *Set) change(i int) (*one.Set, error) {
	s, err := t.shardAt(i)
	if err != nil || t.parts[i].changed.Load() {
		return s, err
	}
	if s.Borrowed() {
		if err := s.Own(); err != nil {
			return nil, t.Fail(i, err)
		}
		t.publish(i, s)
	}

	// The mark comes before the change, so that relieve never drops a change that is not in a file.
	t.parts[i].changed.Store(true)
	return s, t.relieve(i)
}

// Change calls f with shard i, ready to be changed.
func (t *Set) Change(i int, f func(engine.Engine) error) error {
	s, err := t.change(i)
	if err != nil {
		return err
	}
	if err := f(s); err != nil {
		return t.Fail(i, err)
	}
	return nil
}

// AddMany adds keys until one fails, shard by shard.
func (t *Set) AddMany(keys engine.Keys) error {
	n := keys.Len()
	hs := make([]filter.Hash, n)
	keys.Sum(t.hasher, hs, 0)
	order, ids := make([]int, n), make([]int, n)
	for i, h := range hs {
		order[i], ids[i] = i, shard.Route(h, len(t.sets))
	}

	// Keys of one shard stay in their order, and each shard is loaded once even if memory is limited.
	slices.SortStableFunc(order, func(a, b int) int { return ids[a] - ids[b] })
	for _, i := range order {
		s, err := t.change(ids[i])
		if err == nil {
			err = s.Add(hs[i], nil)
		}
		if err != nil {
			return fmt.Errorf("key %d of %d: %w", i, n, err)
		}
	}
	return nil
}

// Reset removes all keys.
func (t *Set) Reset() error {
	if err := engine.Can(t, family.CanStartEmpty); err != nil {
		return err
	}

	for i := range t.parts {
		s, err := t.change(i)
		if err != nil {
			return err
		}
		if err := s.Reset(); err != nil {
			return t.Fail(i, err)
		}
		t.publish(i, s)
	}
	return nil
}

// relieve drops all shards but keep from memory if the shards of a Locked take more than LockedMemory.
func (t *Set) relieve(keep int) error {
	if !t.locked || t.memory.Load() <= LockedMemory {
		return nil
	}

	for i := range t.parts {
		if i == keep || !t.parts[i].resident.Load() {
			continue
		}
		if !t.parts[i].changed.Load() {
			t.dropShard(i)
		} else if err := t.flushShard(context.Background(), i); err != nil {
			return err
		}
	}
	return nil
}

// flushShard writes a changed shard to its new file and drops it from memory.
func (t *Set) flushShard(ctx context.Context, i int) error {
	e, bits, err := putShard(ctx, t.folder, i, len(t.parts), t.sets[i].Load())
	if err != nil {
		return t.Fail(i, err)
	}
	t.written(i, e, bits)
	return nil
}
