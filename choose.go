package bloomery

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// Limits of a build that the planner chooses, unless Needs.Build and Needs.Memory set others.
const (
	quickBuild    = 10 * time.Second
	quickBuildKey = time.Microsecond // per key, if that is more
	smallBuild    = 1 << 30          // bytes in addition to the filter
)

// Choose returns the filter that the planner ranks first for Config.Needs, Config.Keys and Config.Capacity: the
// smallest, or with plan.Fastest the fastest, without a known patent. Limits of its build are max(10 s, 1 µs per key)
// and 1 GiB, unless Needs.Build and Needs.Memory set others. The result depends only on these numbers, not on the
// machine. Choose may search samples, for up to two seconds. 0 keys count as 1. Errors are those of plan.For and Check.
func (c Config) Choose(ctx context.Context) (plan.Choice, error) {
	if err := c.checkNeeds(); err != nil {
		return plan.Choice{}, err
	}
	n := c.Needs
	n.Keys = max(1, c.Keys)
	n.Later = max(n.Later, max(c.Capacity, n.Keys)-n.Keys)
	n.Unpatented = true
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

// Resolve returns a Config with a Spec. If c has Needs and no Spec, it calls Choose and Chosen, and limits Memory to
// the limit of the choice: Needs.Memory or 1 GiB. Else it returns c. Errors are those of Choose.
func (c Config) Resolve(ctx context.Context) (Config, error) {
	if !c.open() {
		return c, nil
	}
	choice, err := c.Choose(ctx)
	if err != nil {
		return c, err
	}
	c.Spec = choice.Spec.String()
	if c.Needs.FPR > 0 { // without it the Spec says what was chosen
		c.FPRChosen = cmp.Or(c.FPRChosen, c.Needs.FPR)
	}
	c.Memory = cmp.Or(c.Memory, int64(min(c.Needs.Memory, 1<<60)), smallBuild)
	if c.Chosen != nil {
		c.Chosen(choice)
	}
	return c, nil
}

// Check returns an error if the Config is invalid, as far as this is known before the keys. It makes no filter and does
// not call the planner. Errors wrap filter.ErrConfig, filter.ErrSpec, filter.ErrFamily, filter.ErrTooLarge or
// filter.ErrUnsupported.
func (c Config) Check() error {
	if c.open() {
		_, err := families.OwnHasher(c.Hash, c.Seed, c.Secret)
		return errors.Join(c.checkNeeds(), err)
	}
	b := Builder{config: c}
	return b.resolve()
}

// checkNeeds is Check for a Config with Needs.
func (c Config) checkNeeds() error {
	if err := c.checkRates(); err != nil {
		return err
	}
	switch {
	case c.Needs.Adversarial && c.Secret == nil:
		return &filter.ConfigError{Field: "secret", Value: "none", Reason: "filters that an adversary may query need a secret"}
	case c.Hash != 0:
		return &filter.ConfigError{Field: "hash", Value: c.Hash, Reason: "a hash function of another system needs a Spec"}
	}
	return nil
}
