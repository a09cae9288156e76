package bloomery

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
	"github.com/bloomery/bloomery/shard"
)

// checkFields returns an error if a field of the Config is out of range by itself, or if Spec and Needs are set.
func (c Config) checkFields() error {
	for _, r := range []struct {
		name string
		rate float64
	}{{"fpr_chosen", c.FPRChosen}, {"max_fpr", c.MaxFPR}} {
		if !(r.rate >= 0 && r.rate < 1) {
			const reason = "want a rate above 0 and below 1, or 0 for none"
			return &filter.ConfigError{Field: r.name, Value: r.rate, Reason: reason}
		}
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"shards", int64(c.Shards)}, {"workers", int64(c.Workers)}, {"memory", c.Memory}} {
		if n.value < 0 {
			return &filter.ConfigError{Field: n.name, Value: n.value, Reason: "want 0, for the default, or more"}
		}
	}
	if c.Spec != "" && c.Needs != (plan.Needs{}) {
		const reason = "the planner has nothing to choose; leave out the spec or the needs"
		return &filter.ConfigError{Field: "spec", Value: c.Spec, Reason: reason}
	}
	return nil
}

// checkOne returns an error if the Config is not that of one filter.
func (c Config) checkOne() error {
	if c.Shards != 0 {
		const reason = "one filter has no shards; leave it out, or take a ShardBuilder"
		return &filter.ConfigError{Field: "shards", Value: c.Shards, Reason: reason}
	}
	return c.checkFields()
}

// checkSize returns an error if the filter of that Spec and number of keys has more than MaxBytes.
func (c Config) checkSize(f families.Family, s filter.Spec, keys uint64) error {
	if c.MaxBytes == 0 {
		return nil
	}
	bits, _, err := f.Forecast(s, max(keys, 1))
	if err != nil {
		return err
	}
	return c.checkBytes(s, bits/8)
}

// checkBuilt returns an error if a filter has more than MaxBytes.
func (c Config) checkBuilt(f filter.Filter) error {
	if c.MaxBytes == 0 {
		return nil
	}
	s := filter.SpecOf(f)
	family, err := families.ByName(s.Family())
	if err != nil {
		return err
	}
	sections, err := family.SectionWords(s)
	if err != nil {
		return err
	}
	var bytes uint64
	for _, words := range sections {
		bytes += 8 * words
	}
	return c.checkBytes(s, bytes)
}

func (c Config) checkBytes(s filter.Spec, bytes uint64) error {
	if bytes > c.MaxBytes {
		return fmt.Errorf("%s takes %d bytes, more than the limit of %d: %w", s, bytes, c.MaxBytes, filter.ErrTooLarge)
	}
	return nil
}

// checkSetSize returns an error if the shards of a set with that number of keys have more than MaxBytes together. each
// is the Config of a shard, from ForShard.
func (c Config) checkSetSize(each Config, keys uint64) error {
	if c.MaxBytes == 0 || each.Like != nil { // each shard is compared then
		return nil
	}
	f, s, err := each.family()
	if err != nil {
		return err
	}
	n := uint64(c.Shards)
	bits, _, err := f.Forecast(s, max(keys/n, 1))
	if err != nil {
		return err
	}
	if bytes := bits / 8; bytes > c.MaxBytes/n {
		return fmt.Errorf("%d shards of %s take %d bytes each, together more than the limit of %d: %w",
			n, s, bytes, c.MaxBytes, filter.ErrTooLarge)
	}
	return nil
}

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
// set then. MaxFPR is that of the set, and 0 in the result; see CheckShards. MaxBytes is that of the set, and so are
// all shards together compared with it. Shards is 0 and Allow is nil in the result: they are for all shards.
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

// divided returns the size of a shard in bytes, at least 1 unless that of the set is 0.
func divided(bytes uint64, shards int) uint64 { return min(bytes, max(1, bytes/uint64(shards))) }

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
