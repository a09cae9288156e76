package bloomery

import (
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/run"
)

// AddManyValues adds keys with their values, as Builder.AddManyValues does; all keys of the set must then come from
// AddManyValues, or Build returns an error wrapping filter.ErrConfig. It needs Config.Shards or Config.Keys, so that
// the number of shards is known, and no Config.Allow. Errors are those of Builder.AddValue.
func (b *ShardBuilder) AddManyValues(keys [][]byte, values []uint64) error {
	checkPairs(keys, values)
	static, err := b.takesValues(values)
	if err != nil {
		return err
	}
	buf := hashBuffers.Get().(*[]filter.Hash)
	hs := (*buf)[:0]
	for _, k := range keys {
		hs = append(hs, b.hasher.Sum(k))
	}
	b.added.Add(uint64(len(keys)))
	b.valued.Add(uint64(len(keys)))
	if static {
		err = b.spill.AddValues(hs, values)
	} else {
		err = b.spill.AddPairs(hs, values)
	}
	*buf = hs[:0]
	hashBuffers.Put(buf)
	return err
}

// takesValues returns an error unless the shards take these values at the build, and whether the values are static.
func (b *ShardBuilder) takesValues(values []uint64) (static bool, err error) {
	bad := func(field string, value any, reason string) (bool, error) {
		return false, &filter.ConfigError{Field: field, Value: value, Reason: reason}
	}
	switch {
	case b.spill == nil && b.spool == nil:
		return false, errSpent
	case b.config.Allow != nil:
		return bad("allow", "list", "a sharded set with values has no exceptions; leave one out")
	case b.spill == nil && b.config.Shards > 0:
		return bad("keys", 0, "values need a Spec, such as rankindexed(value_bits=8), or the number of keys before the keys")
	case b.spill == nil:
		return bad("shards", 0, "values need the number of shards before the keys, and a Spec or the number of keys")
	}
	s := b.Spec()
	f, err := families.ByName(s.Family())
	if err != nil {
		return false, err
	}
	if !f.Can.Has(filter.CanBuildValues) {
		return false, families.Lacks(s, filter.CanBuildValues)
	}
	return f.NeedsValues(s), fitting(values, f.BuildValueBits(s))
}

// checkValues returns an error if some keys came with values and others need one.
func (b *ShardBuilder) checkValues() error {
	n, v := b.added.Load(), b.valued.Load()
	s := b.Spec()
	f, _ := families.ByName(s.Family()) // zero until the planner has chosen
	if v != n && (v > 0 || b.config.Like != nil && f.BuildValueBits(s) > 0) {
		return withoutValues(n - v)
	}
	return nil
}

// paired reports whether each key has two hashes in the spill; see pairs.
func (b *ShardBuilder) paired() bool {
	s := b.Spec()
	f, _ := families.ByName(s.Family())
	return b.valued.Load() > 0 && !f.NeedsValues(s)
}

// keysOf returns the number of keys of a shard.
func (b *ShardBuilder) keysOf(s int) uint64 {
	if b.paired() {
		return b.spill.Count(s) / 2
	}
	return b.spill.Count(s)
}

// adder returns the function that gives the hashes of the spill to the Builder of a shard.
func (b *ShardBuilder) adder(one *Builder) func([]filter.Hash) error {
	switch {
	case b.paired():
		p := pairs{to: one}
		return p.add
	case b.valued.Load() > 0:
		return func(hs []filter.Hash) error { return one.AddValueHashes(hs, run.ValuesOf(hs)) }
	}
	return one.AddHashes
}

// pairs passes on the entries of Spill.AddPairs: keys with values of a filter that needs all bits of a hash.
type pairs struct {
	to     *Builder
	first  filter.Hash // of a pair whose second entry is still to come
	open   bool
	hs     []filter.Hash
	values []uint64
}

func (p *pairs) add(hs []filter.Hash) error {
	p.hs, p.values = p.hs[:0], p.values[:0]
	for _, h := range hs {
		if p.open {
			p.hs, p.values = append(p.hs, p.first), append(p.values, h.Lo)
		}
		p.first, p.open = h, !p.open
	}
	return p.to.AddValueHashes(p.hs, p.values)
}
