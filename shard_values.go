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
	if err := b.takesValues(values); err != nil {
		return err
	}
	buf := hashBuffers.Get().(*[]filter.Hash)
	hs := (*buf)[:0]
	for _, k := range keys {
		hs = append(hs, b.hasher.Sum(k))
	}
	b.added.Add(uint64(len(hs)))
	b.valued.Add(uint64(len(hs)))
	err := b.spill.AddValues(hs, values)
	*buf = hs[:0]
	hashBuffers.Put(buf)
	return err
}

// takesValues returns an error unless the shards take these values at the build.
func (b *ShardBuilder) takesValues(values []uint64) error {
	bad := func(field string, value any, reason string) error {
		return &filter.ConfigError{Field: field, Value: value, Reason: reason}
	}
	switch {
	case b.spill == nil && b.spool == nil:
		return errSpent
	case b.config.Allow != nil:
		return bad("allow", "list", "a sharded set with values has no exceptions; leave one out")
	case b.spill == nil:
		return bad("shards", 0, "values need the number of shards before the keys")
	}
	s := b.Spec()
	f, err := families.ByName(s.Family())
	if err != nil {
		return err
	}
	if !f.Can.Has(filter.CanBuildValues) {
		return families.Lacks(s, filter.CanBuildValues)
	}
	return fitting(values, f.BuildValueBits(s))
}

// addWithValues adds hashes from run.WithValue.
func (b *Builder) addWithValues(hs []filter.Hash) error {
	return b.AddValueHashes(hs, run.ValuesOf(hs))
}
