package bloomery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/run"
	"github.com/bloomery/bloomery/internal/spool"
	"github.com/bloomery/bloomery/shard"
)

// lockedMemory is the number of bytes of shards that a Locked keeps in memory. When they are more, it writes changed
// shards to their new files, which the manifest does not name yet.
var lockedMemory = int64(1 << 30)

// changing returns the shard of a key, ready to be changed.
func (s *Set) changing(h filter.Hash) (*Set, error) {
	return s.shards.changing(shard.Route(h, len(s.shards.sets)))
}

// change calls f with the shard of a key.
func (s *Set) change(h filter.Hash, f func(one *Set, h filter.Hash) error) error {
	one, err := s.changing(h)
	if err != nil {
		return err
	}
	return f(one, h)
}

func (t *shards) changing(i int) (*Set, error) {
	one, err := t.get(i)
	if err != nil || t.parts[i].changed.Load() {
		return one, err
	}
	if one.borrowed {
		if err := one.own(); err != nil {
			return nil, t.fail(i, err)
		}
		t.publish(i, one)
	}
	t.parts[i].changed.Store(true)
	return one, t.relieve(i)
}

// publish makes a Set that of a shard.
func (t *shards) publish(i int, set *Set) {
	if set.mapping == nil && !t.parts[i].resident.Swap(true) {
		t.memory.Add(int64(t.manifest.Shards[i].Bytes))
	}
	t.sets[i].Store(set)
	if !t.locked {
		p := &t.slots[i]
		p.filter, p.cold, p.mapped = set.filter, set.cold, set.mapping != nil
		p.ready.Store(true)
		t.spreading.put(i, len(t.parts), set.filter)
	}
}

// drop takes a shard out of memory. Its file must have its content.
func (t *shards) drop(i int) {
	p := &t.parts[i]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resident.Swap(false) {
		t.memory.Add(-int64(t.manifest.Shards[i].Bytes))
	}
	t.slots[i].ready.Store(false)
	t.spreading.ready.Store(false)
	t.sets[i].Store(nil)
}

// relieve takes the shards of a Locked except one out of memory if they are more than lockedMemory.
func (t *shards) relieve(keep int) error {
	if !t.locked || t.memory.Load() <= lockedMemory {
		return nil
	}
	for i := range t.parts {
		if i == keep || !t.parts[i].resident.Load() {
			continue
		}
		if !t.parts[i].changed.Load() {
			t.drop(i)
		} else if err := t.flush(context.Background(), i); err != nil {
			return err
		}
	}
	return nil
}

// flush writes a changed shard to its new file and takes it out of memory.
func (t *shards) flush(ctx context.Context, i int) error {
	e, bits, err := put(ctx, t.folder, i, len(t.parts), t.sets[i].Load())
	if err != nil {
		return t.fail(i, err)
	}
	t.written(i, e, bits)
	return nil
}

// release closes the file that is held open.
func (p *part) release() {
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
}

// An Addition adds keys to a Set, those of a sharded Set shard by shard, so that each shard is loaded and written once.
//
//	a, err := set.Addition(bloomery.Config{})
//	if err != nil { ... }
//	defer a.Close()
//	err = a.AddHashes(hashes) // any number of times
//	if err != nil { ... }
//	err = a.Add(ctx)
type Addition struct {
	set    *Set
	spill  *run.Spill // of a sharded Set, else nil
	report func(filter.Progress)
	ended  atomic.Bool // by Add or Close
}

var errEnded = errors.New("bloomery: the Addition was added or closed, and takes no more keys")

// Addition returns an Addition to s. For a sharded Set it keeps 16 bytes a key until Add: in memory up to c.Memory, by
// default 64 MiB, then in a temporary file in c.TempDir. For other Sets it keeps nothing: keys are added at once. Of c
// it also uses Progress. The error wraps errors.ErrUnsupported if the family is static. Close it when done.
func (s *Set) Addition(c Config) (*Addition, error) {
	if err := c.checkFields(); err != nil {
		return nil, err
	}
	if err := s.can(filter.CanAdd); err != nil {
		return nil, err
	}
	a := &Addition{set: s, report: c.Progress}
	if s.shards != nil {
		a.spill = newSpill(s, c)
	}
	return a, nil
}

func newSpill(s *Set, c Config) *run.Spill {
	memory := c.Memory
	if memory <= 0 {
		memory = spool.DefaultMemory
	}
	return run.NewSpill(len(s.shards.parts), memory, c.TempDir)
}

// AddMany adds keys. Errors are those of Set.AddMany and of the temporary file. After Add or Close it returns an error.
func (a *Addition) AddMany(keys [][]byte) error {
	if a.ended.Load() {
		return errEnded
	}
	if a.spill == nil {
		return a.set.AddMany(keys)
	}
	hs := make([]filter.Hash, len(keys))
	sumBytes(a.set.hasher, hs, keys)
	return a.spill.Add(hs)
}

// AddHashes is AddMany for keys hashed by Hasher. It does not keep hs.
func (a *Addition) AddHashes(hs []filter.Hash) error {
	if a.ended.Load() {
		return errEnded
	}
	if a.spill == nil {
		return a.set.AddHashes(hs)
	}
	return a.spill.Add(hs)
}

// Add adds the keys that were kept. Call it once, after all others; a second call returns an error. If ctx ends or a
// shard is full, the Set may have some of the keys: do not write it back.
func (a *Addition) Add(ctx context.Context) error {
	if a.ended.Swap(true) {
		return errEnded
	}
	if a.spill == nil {
		return nil
	}
	t := a.set.shards
	for i := range t.parts {
		if a.spill.Count(i) == 0 {
			continue
		}
		one, err := t.changing(i)
		if err != nil {
			return err
		}
		if err := a.spill.Each(ctx, i, one.AddHashes); err != nil {
			return t.fail(i, err)
		}
		if a.report != nil {
			a.report(filter.Progress{Done: float64(i+1) / float64(len(t.parts))})
		}
	}
	return nil
}

// Close drops the keys and removes their temporary file.
func (a *Addition) Close() error {
	a.ended.Store(true)
	if a.spill == nil {
		return nil
	}
	return a.spill.Close()
}

// addGrouped is AddHashes for a sharded Set.
func (s *Set) addGrouped(hs []filter.Hash) error {
	order := make([]int, len(hs))
	ids := make([]int, len(hs))
	for i, h := range hs {
		order[i], ids[i] = i, shard.Route(h, len(s.shards.sets))
	}
	slices.SortStableFunc(order, func(a, b int) int { return ids[a] - ids[b] })
	for _, i := range order {
		if err := s.AddHash(hs[i]); err != nil {
			return fmt.Errorf("key %d of %d: %w", i, len(hs), err)
		}
	}
	return nil
}

// family returns the family of the filter.
func (s *Set) family() (families.Family, error) {
	if s.filter == nil && s.shards == nil {
		return families.Family{}, s.empty()
	}
	return families.ByName(s.Spec().Family())
}

// can returns an error unless the family has an ability.
func (s *Set) can(a filter.Ability) error {
	f, err := s.family()
	if err == nil && !f.Can.Has(a) {
		err = s.lacks(a)
	}
	return err
}
