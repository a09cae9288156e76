package bloomery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/shard"
)

// KeysPerShard is the largest mean number of keys of a shard that AutoShards chooses: a shard of 8 MiB has 16 bits a
// key then, and a build of it takes about 100 MiB.
const KeysPerShard = 1 << 22

// AutoShards returns the number of shards for Config.Shards = 0: the smallest with at most KeysPerShard keys a shard on
// average.
func AutoShards(keys uint64) int {
	return int(min(max(1, (keys+KeysPerShard-1)/KeysPerShard), shard.Max))
}

// ForShard returns the Config of each shard of a set with c.Shards shards. It has a Spec.
//
// Sizes of c are those of the set: bytes= is divided by the number of shards. capacity=, later= and Capacity are
// divided and raised by six standard deviations of the number of keys in a shard, so that the fullest shard has room.
// With Needs, the planner chooses one Spec for all shards, for the set's Keys, divided in the same way; c.Keys must be
// set then. MaxFPR is that of the set, and 0 in the result; see CheckShards. MaxBytes is that of the set, and so are all
// shards together compared with it. Shards is 0 and Allow is nil in the result: they are for all shards.
//
// The error wraps filter.ErrConfig if Shards is out of range or the Spec cannot be sharded: specs that fix all sizes,
// such as m=, and budget=, with which the bytes of a shard would depend on the speed of the machine. It wraps
// filter.ErrUnsupported for families that take raw keys. Other errors are those of Check and Choose.
func (c Config) ForShard(ctx context.Context) (Config, error) {
	if c.Shards < 1 || c.Shards > shard.Max {
		return c, &filter.ConfigError{Field: "shards", Value: c.Shards, Reason: fmt.Sprintf("want 1 to %d", shard.Max)}
	}
	if c.Concurrent {
		return c, &filter.ConfigError{Field: "concurrent", Value: true, Reason: "shards are written to files; leave it out"}
	}
	if c.Like != nil {
		return c, &filter.ConfigError{Field: "like", Value: "a Set", Reason: "only a ShardBuilder follows it"}
	}
	if err := c.checkFields(); err != nil {
		return c, err
	}
	set := c
	c.Capacity, c.MaxFPR, c.Allow = perShard(c.Capacity, c.Shards), 0, nil
	if c.open() {
		if c.Keys == 0 {
			return c, &filter.ConfigError{Field: "keys", Value: 0,
				Reason: "the planner needs the number of keys: give it, or a spec with --family"}
		}
		c.Keys = perShard(c.Keys, c.Shards)
		c.Needs.Later, c.Needs.Bytes = perShard(c.Needs.Later, c.Shards), divided(c.Needs.Bytes, c.Shards)
		var err error
		if c, err = c.Resolve(ctx); err != nil {
			return c, err
		}
	} else {
		f, s, err := c.family()
		if err != nil {
			return c, err
		}
		if s, err = shardSpec(f, s, c.Shards); err != nil {
			return c, err
		}
		c.Spec = s.String()
	}
	c.Keys, c.Shards = 0, 0
	if err := c.checkShard(); err != nil {
		return c, err
	}
	return c, set.checkSetSize(c, set.Keys)
}

// checkShard returns an error if the Spec cannot be that of a shard.
func (c Config) checkShard() error {
	f, s, err := c.family()
	if err != nil {
		return err
	}
	switch {
	case f.Can.Has(filter.CanRawKeys):
		return fmt.Errorf("%s takes raw keys, and shards are built from hashes; choose another family: %w",
			f.Name, filter.ErrUnsupported)
	case s.Has("budget"):
		return &filter.ConfigError{Field: "budget", Value: s,
			Reason: "the same keys would not give the same bytes again; use effort= or passes="}
	}
	return c.Check()
}

// shardSpec returns the spec of each shard of a set with spec s.
func shardSpec(f families.Family, s filter.Spec, shards int) (filter.Spec, error) {
	if err := f.Check(s); err != nil {
		return s, err
	}
	r := s.Reader()
	for _, p := range []string{"capacity", filter.LaterParameter.Name} {
		if n := r.Uint(p); n > 0 {
			s = s.With(p, perShard(n, shards))
		}
	}
	if n := r.Uint("bytes"); n > 0 {
		s = s.With("bytes", divided(n, shards))
		return s, nil
	}
	// A geometry that is the same for any number of keys is that of one filter.
	if shards > 1 && slices.ContainsFunc(f.Sizes, s.Has) && !s.Has("capacity") {
		few, _, err := f.Forecast(s, 1000)
		if many, _, err2 := f.Forecast(s, 1_000_000); err == nil && err2 == nil && few == many {
			return s, &filter.ConfigError{Field: "spec", Value: s,
				Reason: "it fixes the size of one filter; use bytes= for the size of the whole set"}
		}
	}
	return s, nil
}

// perShard returns the number of keys for which each shard has room if the set has keys: the mean plus six standard
// deviations. One shard in 10^9 has more.
func perShard(keys uint64, shards int) uint64 {
	if keys == 0 || shards == 1 {
		return keys
	}
	mean := float64(keys) / float64(shards)
	return min(keys, uint64(math.Ceil(mean+6*math.Sqrt(mean))))
}

func divided(bytes uint64, shards int) uint64 {
	if bytes == 0 {
		return 0
	}
	return max(1, bytes/uint64(shards))
}

// CheckShards returns a *filter.RateError if the false-positive rate of a sharded set exceeds most by the rules of
// filter.Info.Exceeds, and nil if most is 0.
func CheckShards(m *shard.Manifest, most float64) error {
	info := filter.Info{Spec: m.Spec, Keys: m.Keys()}
	info.FPRPrior, info.FPRPosterior = m.FPR()
	if f, err := families.ByName(m.Spec.Family()); err == nil && f.Can.Has(filter.CanSearch) {
		info.FillSearched = 1 // the posterior rate decides alone
	}
	return info.CheckFPR(most)
}
