package bloomery

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// combineShards is combine for sharded Sets. On error s is unchanged: results are kept aside until all shards are done.
func (s *Set) combineShards(o *Set, do func(one, other *Set) error) error {
	if err := s.sameShards(o); err != nil {
		return err
	}
	t := s.shards
	results := make([]*Set, len(t.parts))
	for i := range results {
		err := o.shards.visitOne(i, func(_ int, other *Set) (err error) {
			if results[i], err = t.copyOf(i); err == nil {
				err = do(results[i], other)
			}
			return err
		})
		if err != nil {
			return t.fail(i, err)
		}
	}
	for i, set := range results {
		if old := t.sets[i].Load(); old != nil && old.mapping != nil {
			_ = old.Close()
		}
		t.publish(i, set)
		t.parts[i].changed.Store(true)
	}
	s.chosen = max(s.chosen, o.chosen)
	return nil
}

// copyOf returns a copy of a shard in memory.
func (t *shards) copyOf(i int) (set *Set, err error) {
	if t.parts[i].changed.Load() || t.derive != nil {
		err = t.visitOne(i, func(_ int, one *Set) error { set, err = one.Clone(); return err })
		return set, err
	}
	p := &t.parts[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if set, err = t.read(i, true); err != nil {
		err = t.fail(i, err)
	}
	return set, err
}

// derived returns a Set whose shard i is f(i), for any number of calls. It owns the Sets of origin.
func (t *shards) derived(chosen float64, origin []*Set, f func(i int) (*Set, error)) *Set {
	d := &shards{
		dir: t.dir, manifest: t.manifest.Clone(), hasher: t.hasher, options: t.options,
		slots: make([]slot, len(t.parts)), sets: make([]atomic.Pointer[Set], len(t.parts)), parts: make([]part, len(t.parts)),
		version: t.version, derive: f, origin: origin,
	}
	d.manifest.FPRChosen = chosen
	for i := range d.parts {
		d.parts[i].sizes = t.parts[i].sizes
	}
	return &Set{shards: d, hasher: t.hasher, chosen: chosen}
}

// derivedMemory is the number of bytes of shards up to which a derived Set keeps them in memory. Those of a larger one
// are computed again when they are used.
var derivedMemory = uint64(1 << 30)

// compute computes all shards of a derived Set and sets their keys, sizes and rates in its manifest.
func (s *Set) compute() error {
	t := s.shards
	keep := t.manifest.Bytes() <= derivedMemory
	return t.parallel(writers, func(i int) error {
		one, err := t.derive(i)
		if err != nil {
			return t.fail(i, err)
		}
		bytes, err := one.EncodedLen()
		if err != nil {
			return t.fail(i, err)
		}
		info := one.Info()
		e := shard.EntryOf(info)
		e.File, e.Bytes = shard.Name(i, len(t.parts), ""), bytes
		t.manifest.Shards[i] = e
		if t.parts[i].sizes = sizesOf(info); keep {
			t.publish(i, one)
		}
		return nil
	})
}

// combineFolders is combineFiles for the folders of sharded sets, one shard after the other.
func combineFolders(paths []string, do func(s, other *Set) error, o []Option) (*Set, error) {
	var sets []*Set
	closeAll := func() {
		for _, s := range sets {
			_ = s.Close()
		}
	}
	chosen := 0.0
	for i, path := range paths {
		s, err := Open(path, o...)
		if err == nil {
			sets = append(sets, s)
			if i > 0 {
				err = sets[0].sameShards(s)
			}
			if err != nil {
				err = fmt.Errorf("%s and %s: %w", paths[0], paths[i], err)
			}
		}
		if err != nil {
			closeAll()
			return nil, err
		}
		chosen = max(chosen, s.chosen)
	}
	first := sets[0].shards
	result := first.derived(chosen, sets, func(i int) (*Set, error) {
		one, err := first.copyOf(i)
		if err != nil {
			return nil, err
		}
		for at, other := range sets[1:] {
			err := other.shards.visitOne(i, func(_ int, other *Set) error { return do(one, other) })
			if err != nil {
				return nil, fmt.Errorf("%s and %s: %w", paths[0], paths[at+1], other.shards.fail(i, err))
			}
		}
		return one, nil
	})
	if err := result.compute(); err != nil {
		closeAll()
		return nil, err
	}
	return result, nil
}

// trimmedShards is Trimmed for a sharded Set.
func (s *Set) trimmedShards(full bool) (*Set, error) {
	t := s.shards
	d := t.derived(s.chosen, nil, func(i int) (form *Set, err error) {
		one := t.sets[i].Load()
		if one == nil {
			if one, err = t.copyOf(i); err != nil {
				return nil, err
			}
		}
		if form, err = one.Trimmed(); err == nil && full {
			form = one
		}
		return form, err
	})
	if err := s.can(filter.CanTrim); err != nil {
		return nil, err
	}
	return d, d.compute()
}

// Full is the counterpart of Trimmed: Save writes the set that it returns in the full form. For a Set that is not
// sharded it returns s, which Save writes in that form anyway. Errors are those of Trimmed.
func (s *Set) Full() (*Set, error) {
	if s.shards != nil {
		return s.trimmedShards(true)
	}
	_, err := s.Trimmed()
	return s, err
}

// cloneShards is Clone, or with plain Snapshot, for a sharded Set: shards that were changed are copied, and others are
// loaded again.
func (s *Set) cloneShards(copied func(*Set) (*Set, error)) (*Set, error) {
	t := s.shards
	c := t.derived(s.chosen, nil, t.derive)
	c.shards.trimmed, c.shards.base, c.shards.was = t.trimmed, t.manifest.Clone(), t.was
	for i := range t.parts {
		one := t.sets[i].Load()
		if one == nil || !t.parts[i].changed.Load() && !t.options.concurrent {
			continue
		}
		one, err := copied(one)
		if err != nil {
			return nil, err
		}
		c.shards.publish(i, one)
		c.shards.parts[i].changed.Store(t.parts[i].changed.Load())
	}
	return c, nil
}

// resetShards is Reset for a sharded Set.
func (s *Set) resetShards() error {
	if err := s.can(filter.CanStartEmpty); err != nil {
		return err
	}
	for i := range s.shards.parts {
		one, err := s.shards.changing(i)
		if err != nil {
			return err
		}
		if err := one.Reset(); err != nil {
			return s.shards.fail(i, err)
		}
		s.shards.publish(i, one)
	}
	return nil
}

var errDiffer = errors.New("the shards differ")

// equalShards is Equal for a sharded Set.
func (s *Set) equalShards(o *Set) bool {
	if s.sameShards(o) != nil {
		return false
	}
	return s.shards.visit(func(i int, one *Set) error {
		a, b := &s.shards.parts[i], &o.shards.parts[i]
		x, y := s.shards.manifest.Shards[i].SHA256, o.shards.manifest.Shards[i].SHA256
		if !a.changed.Load() && !b.changed.Load() && s.shards.derive == nil && o.shards.derive == nil {
			if x == y {
				return nil
			}
		}
		return o.shards.visitOne(i, func(_ int, other *Set) error {
			if !one.Equal(other) {
				return errDiffer
			}
			return nil
		})
	}, nil) == nil
}

// optimizeShards builds the filter of each shard again, from the hashes that a Builder has kept, and returns a Set of
// them, in memory.
func (b *Builder) optimizeShards(ctx context.Context) (*Set, error) {
	t := b.old.shards
	set := t.derived(b.chosen, nil, func(i int) (*Set, error) {
		return nil, fmt.Errorf("shard %d is not built: %w", i, filter.ErrConfig)
	})
	for i := range t.parts {
		one, err := t.get(i)
		if err != nil {
			return nil, err
		}
		config := b.config
		config.MaxFPR = 0
		if report := b.config.Progress; report != nil {
			config.Progress = func(p filter.Progress) {
				p.Done, p.Left = (float64(i)+p.Done)/float64(len(t.parts)), 0
				report(p)
			}
		}
		part, err := one.Optimizer(b.effort, config)
		if err != nil {
			return nil, err
		}
		part.part = true
		err = b.shards.Each(ctx, i, part.AddHashes)
		var better *Set
		if err == nil {
			better, err = part.Build(ctx)
		}
		if err == nil {
			b.losses.addShard(part.losses, better)
		}
		if err = errors.Join(err, part.Close()); err != nil {
			return nil, t.fail(i, err)
		}
		set.shards.publish(i, better)
	}
	d := set.shards
	d.derive = func(i int) (*Set, error) { return d.sets[i].Load(), nil }
	if err := set.compute(); err != nil {
		return nil, err
	}
	return set, set.CheckFPR(b.config.MaxFPR)
}
