package bloomery

import (
	"fmt"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
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
