package shards

import (
	"runtime/debug"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/engine"
	"github.com/bloomery/bloomery/shard"
)

// Contains is Has.
func (t *Set) Contains(h filter.Hash, _ []byte) bool { return t.Has(h) }

// Has reports whether a key may be in the set.
func (t *Set) Has(h filter.Hash) bool {
	i := shard.Route(h, len(t.slots))
	p := &t.slots[i]
	if !p.ready.Load() {
		s, err := t.shardAt(i)
		return err != nil || s.Has(h) // a shard that cannot be read could contain the key
	}
	return p.safe.Has(h)
}

// At returns the shard of a key, loaded on first use.
func (t *Set) At(h filter.Hash, change bool) (engine.One, error) {
	i := shard.Route(h, len(t.sets))
	s, err := t.shardAt(i)
	if err == nil && change {
		s, err = t.change(i)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// groupFrom is the smallest mean number of keys per shard at which a batch is grouped by shard.
const groupFrom = 4

// ContainsMany sets dst[i] to Contains of key i.
func (t *Set) ContainsMany(dst []bool, keys engine.Keys) {
	if t.spreading.ready.Load() {
		keys.Ask(dst, t.hasher, t.HasMany)
		return
	}
	g := groupPool.Get().(*group)
	defer groupPool.Put(g)
	for start := 0; start < len(dst); start += groupLen {
		part := dst[start:min(start+groupLen, len(dst))]
		keys.Sum(t.hasher, g.hs[:len(part)], start)
		t.HasMany(part, g.hs[:len(part)])
	}
}

// HasMany sets dst[i] to the answer for hs[i]. Without a Spread it groups the keys by shard if there are enough.
func (t *Set) HasMany(dst []bool, hs []filter.Hash) {
	if t.spreading.ready.Load() {
		t.hasSpread(dst, hs)
		return
	}
	if min(len(hs), groupLen) >= groupFrom*len(t.sets) {
		t.hasGroups(dst, hs)
		return
	}

	for len(hs) > 0 {
		n := min(len(hs), window)
		if !t.hasWindow(dst[:n], hs[:n]) {
			for i, h := range hs[:n] {
				dst[i] = t.Has(h)
			}
		}
		dst, hs = dst[n:], hs[n:]
	}
}

// window is the number of keys that are prefetched before the first of them is tested: enough cache misses to fill the
// queue of a core, few enough that all lines are still in its first-level cache when they are tested.
const window = 32

// hasWindow answers at most window keys: it finds the shard of each and prefetches, then tests them. If a shard is not
// loaded, or the file of a mapped shard can no longer be read, it returns false and incomplete answers.
func (t *Set) hasWindow(dst []bool, hs []filter.Hash) (ok bool) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if recover() != nil {
			ok = false // a panic other than a fault of a mapping is repeated in the single queries
		}
	}()
	var buf [window]*slot
	slots, found, dst := t.slots, buf[:len(hs)], dst[:len(hs)]
	for i, h := range hs {
		p := &slots[shard.Route(h, len(slots))]
		if !p.ready.Load() {
			return false
		}
		found[i] = p
		if p.cold != nil {
			p.cold.Prefetch(hs[i : i+1])
		}
	}

	for i, h := range hs {
		dst[i] = found[i].filter.Has(h)
	}
	return true
}

// groupLen is the largest number of hashes that are grouped by shard at once.
const groupLen = 1 << 15

// group is the memory for grouping hashes by shard.
type group struct {
	hs      [groupLen]filter.Hash // the hashes of ContainsMany
	sorted  [groupLen]filter.Hash // the hashes by shard
	ids     [groupLen]uint32      // the shard of each hash, then its place in sorted
	answers [groupLen]bool        // the answers in the order of sorted
	ends    []uint32              // the end of each shard in sorted
}

var groupPool = sync.Pool{New: func() any { return new(group) }}

// hasGroups groups the hashes by shard, so that each shard gets its keys at once.
func (t *Set) hasGroups(dst []bool, hs []filter.Hash) {
	g := groupPool.Get().(*group)
	defer groupPool.Put(g)
	for start := 0; start < len(hs); start += groupLen {
		end := min(start+groupLen, len(hs))
		t.hasGroup(g, dst[start:end], hs[start:end])
	}
}

// hasGroup answers at most groupLen keys, by a counting sort.
func (t *Set) hasGroup(g *group, dst []bool, hs []filter.Hash) {
	shards := len(t.sets)
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
		// The mask changes nothing: it spares the bounds check.
		g.sorted[place&(groupLen-1)] = h
		ids[i] = place
	}

	from, ahead, next := uint32(0), uint32(0), 0 // shards below next and keys below ahead are prefetched
	for i, to := range ends {
		for ; next < shards && ahead < to+fewKeys; next++ {
			t.prefetchFew(next, g.sorted[ahead:ends[next]])
			ahead = ends[next]
		}
		if to > from {
			t.hasManyOf(i, g.answers[from:to], g.sorted[from:to])
		}
		from = to
	}

	for i, place := range ids {
		dst[i] = g.answers[place&(groupLen-1)]
	}
}

// fewKeys is the largest number of keys of a shard that are prefetched while earlier shards are queried. For more keys,
// the query of the shard itself prefetches.
const fewKeys = 64

// prefetchFew prefetches keys of a loaded shard if there are at most fewKeys.
func (t *Set) prefetchFew(i int, hs []filter.Hash) {
	if len(hs) == 0 || len(hs) > fewKeys {
		return
	}
	if s := t.sets[i].Load(); s != nil {
		s.Prefetch(hs)
	}
}

// hasManyOf is HasMany for keys of one shard.
func (t *Set) hasManyOf(i int, dst []bool, hs []filter.Hash) {
	s, err := t.shardAt(i)
	switch {
	case err != nil:
		for j := range dst {
			dst[j] = true // a false negative is not allowed
		}
	case len(hs) > fewKeys:
		s.HasManyCold(dst, hs)
	default:
		s.HasMany(dst, hs)
	}
}
