package bloomery

import (
	"context"
	"runtime/debug"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// ContainsContext is Contains that also returns an error: if the answer cannot be known, because a shard or the mapped
// file cannot be read or ctx has ended, it returns true and the error. In a sharded Set it may load a shard.
func (s *Set) ContainsContext(ctx context.Context, key []byte) (bool, error) {
	if ctx.Err() != nil {
		return true, context.Cause(ctx)
	}
	one, h := s, filter.Hash{}
	if s.shards != nil {
		var err error
		h = s.hasher.Sum(key)
		if one, err = s.shardOf(h); err != nil {
			return true, err
		}
	}
	present := false
	if one == s {
		present = s.Contains(key)
	} else {
		present = one.Has(h)
	}
	if err := one.fault.Load(); err != nil {
		return true, *err
	}
	return present, nil
}

// shardOf returns the shard of a key.
func (s *Set) shardOf(h filter.Hash) (*Set, error) {
	return s.shards.get(shard.Route(h, len(s.shards.sets)))
}

// shardedHas is Has for a sharded Set.
func (s *Set) shardedHas(h filter.Hash) bool {
	t := s.shards
	i := shard.Route(h, len(t.slots))
	p := &t.slots[i]
	switch {
	case !p.ready.Load():
		one, err := s.shardOf(h)
		return err != nil || one.Has(h) // not a false negative
	case p.mapped:
		return s.mappedHas(p, i, h)
	}
	return p.filter.Has(h)
}

// mappedHas is Has for a shard in a mapped file, as Set.guardedHas.
func (s *Set) mappedHas(p *slot, i int, h filter.Hash) (present bool) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if r := recover(); r != nil {
			one := s.shards.sets[i].Load()
			if err := one.mapping.Fault(r); err != nil {
				one.failed(err)
				present = true // not a false negative
			}
		}
	}()
	return p.filter.Has(h)
}

// groupFrom is the mean number of keys of each shard from which a batch is grouped by shard.
const groupFrom = 4

// shardedHasMany is HasMany for a sharded Set. Without a Spread it groups the keys by shard if there are enough.
func (s *Set) shardedHasMany(dst []bool, hs []filter.Hash) {
	if s.shards.spreading.ready.Load() {
		s.hasSpread(dst, hs)
		return
	}
	if min(len(hs), groupLen) >= groupFrom*len(s.shards.sets) {
		s.hasGroups(dst, hs)
		return
	}
	for len(hs) > 0 {
		n := min(len(hs), window)
		if !s.hasWindow(dst[:n], hs[:n]) {
			for i, h := range hs[:n] {
				dst[i] = s.shardedHas(h)
			}
		}
		dst, hs = dst[n:], hs[n:]
	}
}

// window is the number of keys whose memory is asked for before the first of them is tested: enough cache misses to
// fill the queue of a core, few enough that all lines are still in its first-level cache when they are tested.
const window = 32

// hasWindow answers at most window keys: it finds the shard of each and prefetches, then tests them. It returns false,
// and the answers are incomplete, if a shard is not loaded or the file of a mapped shard can no longer be read.
func (s *Set) hasWindow(dst []bool, hs []filter.Hash) (ok bool) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if recover() != nil {
			ok = false // if it is no fault of a mapping, the single queries panic again
		}
	}()
	var filters [window]filter.Filter
	slots := s.shards.slots
	for i, h := range hs {
		p := &slots[shard.Route(h, len(slots))]
		if !p.ready.Load() {
			return false
		}
		filters[i] = p.filter
		if p.cold != nil {
			p.cold.Prefetch(hs[i : i+1])
		}
	}
	for i, h := range hs {
		dst[i] = filters[i].Has(h)
	}
	return true
}

// groupLen is the largest number of hashes that are grouped by shard at once.
const groupLen = 1 << 15

// group is the memory for grouping hashes by shard.
type group struct {
	hs      [groupLen]filter.Hash // of keys, by containsMany
	sorted  [groupLen]filter.Hash
	ids     [groupLen]uint32 // the shard of a key, then its place in sorted
	answers [groupLen]bool
	ends    []uint32 // by shard
}

var groupPool = sync.Pool{New: func() any { return new(group) }}

// hasGroups groups the hashes by shard, so that each shard gets its keys at once.
func (s *Set) hasGroups(dst []bool, hs []filter.Hash) {
	g := groupPool.Get().(*group)
	defer groupPool.Put(g)
	for start := 0; start < len(hs); start += groupLen {
		end := min(start+groupLen, len(hs))
		s.hasGroup(g, dst[start:end], hs[start:end])
	}
}

// hasGroup answers at most groupLen keys, by a counting sort.
func (s *Set) hasGroup(g *group, dst []bool, hs []filter.Hash) {
	shards := len(s.shards.sets)
	if cap(g.ends) < shards {
		g.ends = make([]uint32, shards)
	}
	ends := g.ends[:shards]
	clear(ends)
	ids := g.ids[:len(hs)]
	for i, h := range hs {
		id := uint32(shard.Route(h, shards))
		ids[i] = id
		ends[id]++
	}
	at := uint32(0)
	for i, n := range ends {
		ends[i] = at
		at += n
	}
	for i, h := range hs {
		place := ends[ids[i]]
		ends[ids[i]] = place + 1
		g.sorted[place&(groupLen-1)] = h
		ids[i] = place
	}
	from, ahead, next := uint32(0), uint32(0), 0 // shards below next and keys below ahead are prefetched
	for i, to := range ends {
		for ; next < shards && ahead < to+fewKeys; next++ {
			s.prefetchFew(next, g.sorted[ahead:ends[next]])
			ahead = ends[next]
		}
		if to > from {
			s.hasManyOf(i, g.answers[from:to], g.sorted[from:to])
		}
		from = to
	}
	for i, place := range ids {
		dst[i] = g.answers[place&(groupLen-1)]
	}
}

// fewKeys is the number of keys of a shard up to which they are prefetched while the shards before are queried. More
// keys of one shard are prefetched among themselves.
const fewKeys = 64

// prefetchFew prefetches keys of a loaded shard if they are few.
func (s *Set) prefetchFew(i int, hs []filter.Hash) {
	if len(hs) == 0 || len(hs) > fewKeys {
		return
	}
	if one := s.shards.sets[i].Load(); one != nil && one.cold != nil {
		one.guard(func() { one.cold.Prefetch(hs) }) // without an instruction for it, it reads
	}
}

// hasManyOf is HasMany for keys of one shard.
func (s *Set) hasManyOf(i int, dst []bool, hs []filter.Hash) {
	one, err := s.shards.get(i)
	if err != nil {
		for j := range dst {
			dst[j] = true // a false negative is not allowed
		}
		return
	}
	one.query(dst, hs, len(hs) > fewKeys)
}
