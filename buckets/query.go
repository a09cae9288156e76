package buckets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// Contains reports whether key may be in the set. If the result is false, the key is absent. Contains may fetch a
// shard. If the fetch fails, Contains returns true, and Err returns an error.
func (s *Set) Contains(key []byte) bool { return s.ContainsHash(s.Hasher().Sum(key)) }

// ContainsString is Contains for a string.
func (s *Set) ContainsString(key string) bool { return s.ContainsHash(s.Hasher().SumString(key)) }

// ContainsUint64 is Contains for the eight bytes of key, little endian.
func (s *Set) ContainsUint64(key uint64) bool { return s.ContainsHash(s.Hasher().SumUint64(key)) }

// ContainsHash is Contains for a key hashed by Hasher.
func (s *Set) ContainsHash(h filter.Hash) bool {
	present, _ := s.ContainsHashContext(context.Background(), h)
	return present
}

// ContainsContext is Contains, but ends with ctx and also returns the error. If a shard cannot be read, the answer is
// true.
func (s *Set) ContainsContext(ctx context.Context, key []byte) (bool, error) {
	return s.ContainsHashContext(ctx, s.Hasher().Sum(key))
}

// ContainsHashContext is ContainsContext for a key hashed by Hasher.
func (s *Set) ContainsHashContext(ctx context.Context, h filter.Hash) (bool, error) {
	g := s.now.Load()
	i := shard.Route(h, len(g.manifest.Shards))
	if s.blocks == nil {
		if e := s.cache.useIfLoaded(g.manifest.Shards[i].SHA256); e != nil {
			defer s.cache.release(e)
			return e.set.ContainsHash(h), nil
		}
	}
	return s.hasSlowly(ctx, g, h)
}

// hasSlowly is ContainsHashContext for a shard that is not in the cache, and for blocks.
func (s *Set) hasSlowly(ctx context.Context, g *generation, h filter.Hash) (bool, error) {
	dst, hs := [1]bool{true}, [1]filter.Hash{h}
	err := s.queryShard(ctx, g, shard.Route(h, len(g.manifest.Shards)), dst[:], hs[:])
	if now := s.now.Load(); err != nil && now != g { // Refresh has replaced the set
		err = s.queryShard(ctx, now, shard.Route(h, len(now.manifest.Shards)), dst[:], hs[:])
	}
	if err != nil {
		s.noteFailure(ctx, err)
		return true, err
	}
	return dst[0], nil
}

// queryShard sets dst[j] to whether hs[j] may be in shard i, for every j, or returns a *shard.Error.
func (s *Set) queryShard(ctx context.Context, g *generation, i int, dst []bool, hs []filter.Hash) error {
	err := g.finalFault(i)
	switch {
	case s.cache.base.Err() != nil: // even if the blocks are in the cache
		err = ErrClosed
	case err != nil:
	case s.blocks != nil:
		err = s.askBlocks(ctx, remote{s, g, i}, dst, hs)
	default:
		err = s.askShard(ctx, remote{s, g, i}, dst, hs)
		g.noteFault(i, err)
	}
	if err != nil {
		return &shard.Error{File: g.manifest.Shards[i].File, Err: err}
	}
	return nil
}

// askShard answers from the whole shard, which it fetches if needed.
func (s *Set) askShard(ctx context.Context, r remote, dst []bool, hs []filter.Hash) error {
	e := r.manifestEntry()
	entry := s.cache.useIfLoaded(e.SHA256)
	if entry == nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if entry, err = s.cache.useShard(ctx, e.SHA256, int64(e.Bytes), r); err != nil {
			return err
		}
	}
	defer s.cache.release(entry)
	if len(hs) == 1 {
		dst[0] = entry.set.ContainsHash(hs[0])
	} else {
		entry.set.ContainsHashes(dst, hs)
	}
	return nil
}

// ContainsMany sets dst[i] to Contains(keys[i]) for every i. It groups the keys by shard and fetches up to
// Options.Fetches shards at a time. It panics if dst and keys differ in length.
func (s *Set) ContainsMany(dst []bool, keys [][]byte) {
	_ = s.ContainsManyContext(context.Background(), dst, keys)
}

// ContainsManyStrings is ContainsMany for strings.
func (s *Set) ContainsManyStrings(dst []bool, keys []string) {
	h, hs := s.Hasher(), make([]filter.Hash, len(keys))
	for i, k := range keys {
		hs[i] = h.SumString(k)
	}
	s.ContainsHashes(dst, hs)
}

// ContainsManyContext is ContainsMany, but ends with ctx and also returns the error of the first shard that could not
// be read. The answers for the keys of such shards are true; all other answers are right.
func (s *Set) ContainsManyContext(ctx context.Context, dst []bool, keys [][]byte) error {
	h, hs := s.Hasher(), make([]filter.Hash, len(keys))
	for i, k := range keys {
		hs[i] = h.Sum(k)
	}
	return s.ContainsHashesContext(ctx, dst, hs)
}

// ContainsHashes is ContainsMany for keys hashed by Hasher.
func (s *Set) ContainsHashes(dst []bool, hs []filter.Hash) {
	_ = s.ContainsHashesContext(context.Background(), dst, hs)
}

// ContainsHashesContext is ContainsManyContext for keys hashed by Hasher.
func (s *Set) ContainsHashesContext(ctx context.Context, dst []bool, hs []filter.Hash) error {
	if len(dst) != len(hs) {
		panic(fmt.Sprintf("buckets: dst has %d places for %d keys", len(dst), len(hs)))
	}

	g := s.now.Load()
	b := groupByShard(hs, len(g.manifest.Shards))
	next := make(chan *group, len(b.groups))
	for i := range b.groups {
		next <- &b.groups[i]
	}

	close(next)
	var wg sync.WaitGroup
	for range min(s.options.Fetches, len(b.groups)) {
		wg.Go(func() {
			for p := range next {
				p.err = s.queryShard(ctx, g, p.shard, b.answers[p.from:p.to], b.hashes[p.from:p.to])
			}
		})
	}

	wg.Wait()
	var first error
	for _, p := range b.groups {
		err := p.err
		switch {
		case err == nil:
		case s.now.Load() != g: // Refresh has replaced the set meanwhile: query each key again
			err = s.askAgain(ctx, b.answers[p.from:p.to], b.hashes[p.from:p.to])
		default:
			s.noteFailure(ctx, err)
			for at := p.from; at < p.to; at++ {
				b.answers[at] = true // a false answer could be a false negative
			}
		}
		if first == nil {
			first = err
		}
	}

	for at, place := range b.order {
		dst[place] = b.answers[at]
	}
	return first
}

// askAgain queries keys one by one, in the newest generation.
func (s *Set) askAgain(ctx context.Context, dst []bool, hs []filter.Hash) (first error) {
	for i, h := range hs {
		var err error
		if dst[i], err = s.ContainsHashContext(ctx, h); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// batch is a list of keys grouped by shard.
type batch struct {
	groups  []group
	order   []int // the index of each key in the caller's list
	hashes  []filter.Hash
	answers []bool
}

// group is the range of keys of a batch that belong to one shard.
type group struct {
	shard, from, to int
	err             error
}

// groupByShard groups hashes by shard.
func groupByShard(hs []filter.Hash, shards int) *batch {
	b := &batch{order: make([]int, len(hs)), hashes: make([]filter.Hash, len(hs)), answers: make([]bool, len(hs))}
	ids := make([]int, len(hs))
	for i, h := range hs {
		ids[i], b.order[i] = shard.Route(h, shards), i
	}
	if len(hs) < shards { // counters for all shards would cost more than the sort
		slices.SortFunc(b.order, func(i, j int) int { return cmp.Compare(ids[i], ids[j]) })
	} else { // a counting sort
		next := make([]int, shards+1)
		for _, id := range ids {
			next[id+1]++
		}
		for i := range shards {
			next[i+1] += next[i]
		}
		for i, id := range ids {
			b.order[next[id]] = i
			next[id]++
		}
	}

	for at, i := range b.order {
		b.hashes[at] = hs[i]
		if last := len(b.groups) - 1; last >= 0 && b.groups[last].shard == ids[i] {
			b.groups[last].to = at + 1
		} else {
			b.groups = append(b.groups, group{shard: ids[i], from: at, to: at + 1})
		}
	}
	return b
}
