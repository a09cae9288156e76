package bloomery

import (
	"cmp"
	"context"
	"time"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// The limits of a build that a planner chooses, unless Needs.Build and Needs.Memory say otherwise.
const (
	quickBuild    = 10 * time.Second
	quickBuildKey = time.Microsecond // per key, if that is more
	smallBuild    = 1 << 30          // bytes beside the filter
)

// Choose returns the filter that the planner ranks first for Config.Needs and Config.Keys: the smallest without a known
// patent, or with plan.Fastest the fastest, that builds within the longer of 10 s and 1 µs a key, and within 1 GiB, unless
// Needs.Build and Needs.Memory say otherwise. It depends on these numbers alone, not on the machine. It may search samples,
// for a second or two. Errors are those of plan.For; without Keys the error wraps filter.ErrConfig.
func (c Config) Choose(ctx context.Context) (plan.Choice, error) {
	n := c.Needs
	n.Keys = max(1, c.Keys)
	n.Unpatented = true
	if n.Adversarial && c.Secret == nil {
		return plan.Choice{}, &filter.ConfigError{Field: "secret", Value: "none",
			Reason: "filters that an adversary may query need a secret"}
	}
	if c.Hash != 0 {
		return plan.Choice{}, &filter.ConfigError{Field: "hash", Value: c.Hash, Reason: "a hash function of another system needs a Spec"}
	}
	n.Adversarial = c.Secret != nil
	n.Writers = n.Writers || c.Concurrent
	n.Build = cmp.Or(n.Build, max(quickBuild, quickBuildKey*time.Duration(min(n.Keys, 1<<50))))
	n.Memory = cmp.Or(n.Memory, uint64(max(c.Memory, 0)), smallBuild)
	p, err := plan.For(ctx, n)
	if err != nil {
		return plan.Choice{}, err
	}
	return p.Choices[0], nil
}
