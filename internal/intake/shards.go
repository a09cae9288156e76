package intake

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/hashes"
)

// Shards is a Sink that keeps the hashes by shard; see hashes.ByShard. Either all keys have values or none have.
type Shards struct {
	*hashes.ByShard
	bits     int  // bits of a value
	static   bool // the family tells keys apart by 96 bits, so that a value fits into a hash; see hashes.WithValue
	noValues error
	valued   atomic.Bool
}

// NewShards returns an empty Shards for filters of a Spec. If noValues is not nil, it is the error of keys with values.
func NewShards(shards int, memory int64, dir string, s filter.Spec, noValues error) *Shards {
	t := &Shards{ByShard: hashes.NewByShard(shards, memory, dir), noValues: noValues}
	f, _ := families.FormatOf(s.Family())
	if t.bits, t.static = f.BuildValueBits(s), f.NeedsValues(s); noValues == nil && !f.Can.Has(family.CanBuildValues) {
		t.noValues = NoValues(s)
	}
	return t
}

// AddMany implements Sink.
func (t *Shards) AddMany(hs []filter.Hash) error { return t.Add(hs) }

// ValueBits implements Sink.
func (t *Shards) ValueBits() (int, error) { return t.bits, t.noValues }

// AddValues implements Sink.
func (t *Shards) AddValues(hs []filter.Hash, values []uint64) error {
	// Loading first keeps the cache line shared: goroutines add batches at the same time.
	if !t.valued.Load() {
		t.valued.Store(true)
	}
	if t.static {
		return t.ByShard.AddValues(hs, values)
	}
	return t.AddPairs(hs, values)
}

// Keys returns the number of keys of a shard.
func (t *Shards) Keys(s int) uint64 {
	if t.valued.Load() && !t.static {
		return t.Count(s) / 2
	}
	return t.Count(s)
}

// Pass passes the keys of a shard to another Intake, with their values.
func (t *Shards) Pass(ctx context.Context, s int, to *Intake) error {
	add := to.AddHashes
	switch {
	case t.valued.Load() && t.static:
		add = func(hs []filter.Hash) error { return to.AddValueHashes(hs, hashes.ValuesOf(hs)) }
	case t.valued.Load():
		add = (&pairs{to: to}).addPairs
	}
	return t.Each(ctx, s, add)
}

// pairs passes on the entries of hashes.ByShard.AddPairs: keys with values of a filter that needs all bits of a hash.
type pairs struct {
	to     *Intake
	first  filter.Hash // the hash of the open pair
	open   bool        // the second entry of a pair, its value, has not come yet
	hs     []filter.Hash
	values []uint64
}

func (p *pairs) addPairs(hs []filter.Hash) error {
	p.hs, p.values = p.hs[:0], p.values[:0]
	for _, h := range hs {
		if p.open {
			p.hs, p.values = append(p.hs, p.first), append(p.values, h.Lo)
		}
		p.first, p.open = h, !p.open
	}
	return p.to.AddValueHashes(p.hs, p.values)
}

// Progress adds up the progress of the builds of all shards, weighted by their keys, and reports the sum to a function.
// The returned function returns the Config.Building.Progress of shard s, or nil if to is nil.
func (t *Shards) Progress(shards int, keys uint64, to func(filter.Progress)) func(s int) func(filter.Progress) {
	var mu sync.Mutex
	done, sum := make([]float64, shards), 0.0
	return func(s int) func(filter.Progress) {
		if to == nil {
			return nil
		}
		share := float64(t.Keys(s)) / float64(max(keys, 1))
		return func(now filter.Progress) {
			mu.Lock()
			defer mu.Unlock()
			sum += (now.Done - done[s]) * share
			done[s] = now.Done
			to(filter.Progress{Done: min(sum, 1)})
		}
	}
}

// List is the list of allowed keys of a sharded set: hashes by shard.
type List struct {
	*hashes.ByShard
	keys   iter.Seq[[]byte]
	hasher filter.Hasher

	mu   sync.Mutex
	both map[filter.Hash]string // the keys that are also members, with a text for each
}

// NewList returns the list of keys. It ranges over them. Close it also on error.
func NewList(ctx context.Context, keys iter.Seq[[]byte], h filter.Hasher, spill *hashes.ByShard) (*List, error) {
	l := &List{ByShard: spill, keys: keys, hasher: h, both: map[filter.Hash]string{}}
	return l, Hashes(ctx, h, keys, spill.Add)
}

// Both records keys that are also members, with a text for each.
func (l *List) Both(keys map[filter.Hash]string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.both, keys)
}

// Err returns a *filter.AllowedError if keys are members. It reads their names from the list; others keep their text. l
// may be nil.
func (l *List) Err(ctx context.Context) error {
	if l == nil || len(l.both) == 0 {
		return nil
	}

	err := eachKey(ctx, l.keys, func(key []byte) error {
		h := l.hasher.Sum(key)
		if _, ok := l.both[h]; ok {
			l.both[h] = string(key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return &filter.AllowedError{Keys: slices.Sorted(maps.Values(l.both))}
}
