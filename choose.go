package bloomery

import (
	"cmp"
	"context"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/intake"
	"github.com/bloomery/bloomery/plan"
)

// Choose returns the filter that the planner takes for Config.Needs, Config.Keys and Config.Capacity; 0 keys count as
// 1. It leaves out methods with a known patent. Unless Needs.For is set, the order is plan.Lasting: the family depends
// on the needs only, unless Needs.Build or Needs.Memory is set or no filter of that family meets the needs. Errors
// come from plan.For and Check.
func (c Config) Choose(ctx context.Context) (plan.Choice, error) {
	if err := c.checkNeeds(); err != nil {
		return plan.Choice{}, err
	}

	n := c.Needs
	n.FPR = cmp.Or(n.FPR, c.FPR)
	n.Keys = max(1, c.Keys)
	n.Later = max(n.Later, max(c.Capacity, n.Keys)-n.Keys)
	n.Unpatented = true
	n.Adversarial = c.Hashing.Secret != nil
	n.Writers = n.Writers || c.Concurrent
	n.Memory = cmp.Or(n.Memory, uint64(max(c.Building.Memory, 0)))
	n.Memory -= n.Memory / 16 // for the program and the buffers of its input
	n.For = cmp.Or(n.For, plan.Lasting)
	p, err := plan.For(ctx, n)
	if err != nil {
		return plan.Choice{}, err
	}
	return p.Choices[0], nil
}

// resolve returns a Config with a Spec. If c has none, resolve takes the default, or calls Choose and Building.Chosen,
// and sets Building.Memory to 7/8 of intake.BuildMemory: the rest is for buffers. The result has no Needs. Errors come
// from Choose.
func (c Config) resolve(ctx context.Context) (Config, error) {
	if err := c.checkFields(); err != nil || c.Spec != "" || c.Like.Set != nil {
		return c, err
	}

	memory := intake.BuildMemory(c.Building.Memory, c.Needs.Memory)
	memory -= memory / 8
	if !c.open() {
		c = c.withDefault()
		c.Building.Memory = memory
		return c, nil
	}

	choice, err := c.Choose(ctx)
	if err != nil {
		return c, err
	}

	c.Spec = choice.Spec.String()
	c.FPR = cmp.Or(family.Reader(choice.Spec).Float("fpr"), c.FPR, c.Needs.FPR) // a plan may have a lower rate

	c.Building.Memory = memory
	c.Needs = plan.Needs{} // the Spec replaces them
	if c.Building.Chosen != nil {
		c.Building.Chosen(choice)
	}
	return c, nil
}

// Check returns the error of NewBuilder for the Config, as far as it is known without the planner and without opening
// Sharding.Dir. It makes no filter. Errors wrap filter.ErrConfig, filter.ErrSpec, filter.ErrFamily, filter.ErrTooLarge,
// filter.ErrRate or errors.ErrUnsupported.
func (c Config) Check() error {
	if c.Sharding.Dir != "" {
		return c.checkDir()
	}
	if err := c.checkOne(); err != nil {
		return err
	}

	switch {
	case c.Like.Set != nil:
		if err := c.checkLike(); err != nil {
			return err
		}
		return c.checkAllow(c.Like.Set.Hasher())
	case c.open():
		return c.checkOpen()
	}

	f, s, _, err := c.resolved()
	if err != nil {
		return err
	}
	if c.Keys > 0 {
		_, _, err = f.Forecast(s, c.Keys)
	}
	return cmp.Or(err, c.checkForecast(c.Keys), intake.CheckSize(f, s, c.Keys, c.Limits.Bytes))
}

// checkOpen is Check for a Config whose Spec the planner chooses.
func (c Config) checkOpen() error {
	if err := c.checkNeeds(); err != nil {
		return err
	}
	h, err := families.OwnHasher(families.Hashing(c.Hashing))
	if err != nil {
		return err
	}

	if c.Sharding.Dir == "" {
		err = intake.CheckNeeds(c.Needs, c.Keys)
	}
	return cmp.Or(err, c.checkAllow(h))
}

// checkDir is Check for a Config with Dir.
func (c Config) checkDir() error {
	if err := cmp.Or(intake.CheckShards(cmp.Or(c.Sharding.Shards, 1), c.Keys, c.Concurrent), c.checkFields()); err != nil {
		return err
	}
	if c.open() {
		return c.checkOpen()
	}

	h, err := c.checkSharded(context.Background()) // without Needs it does not wait
	if err != nil {
		return err
	}
	return c.checkAllow(h)
}

// checkNeeds is Check for a Config with Needs.
func (c Config) checkNeeds() error {
	if err := cmp.Or(c.checkFields(), c.checkShrink()); err != nil {
		return err
	}

	switch {
	case c.Like.Set != nil:
		return family.Invalid("like", "set", "the planner has nothing to choose; leave out needs")
	case c.Needs.Adversarial && c.Hashing.Secret == nil:
		return family.Invalid("secret", "none", "filters that an adversary may query need a secret")
	case c.Hashing.ID != 0:
		return family.Invalid("hash", c.Hashing.ID, "a hash function of another system needs a Spec")
	}
	return nil
}

// checkSetSize returns an error if the shards of a set with that number of keys exceed Limits.Bytes together. each is
// the Config of a shard, from ForShard.
func (c Config) checkSetSize(each Config, keys uint64) error {
	if c.Limits.Bytes == 0 || each.Like.Set != nil { // then it is checked per shard
		return nil
	}
	f, s, err := each.family()
	if err != nil {
		return err
	}
	return intake.CheckSetSize(f, s, c.Sharding.Shards, keys, c.Limits.Bytes)
}

// ForShard returns the Config of each shard of a set with c.Sharding.Shards shards, for a program that builds the
// shards of one set on its own, as package distribute does. It has a Spec.
//
// Sizes of c are for the whole set: bytes= is divided by the number of shards. capacity=, later= and Capacity are
// divided and raised by six standard deviations of the number of keys in a shard, so that the fullest shard has room.
// With Needs, the planner chooses one Spec for all shards, for the set's Keys, divided in the same way; c.Keys must be
// set then. Limits is for the whole set; its FPR is 0 in the result, and ForShard compares its Bytes with the size of
// all shards together if c.Keys is set, else of shards with one key. The program must compare the size again when it
// knows the number of keys. Sharding is zero and Allow is nil in the result, and FPR is 0 unless the Spec has fpr=.
//
// The error wraps filter.ErrConfig if the number of shards is out of range or the Spec cannot be sharded: specs that
// fix all sizes, such as m=, and budget=, with which the bytes of a shard would depend on the speed of the machine. It
// wraps errors.ErrUnsupported for families that take raw keys. Other errors come from Check and Choose.
func (c Config) ForShard(ctx context.Context) (Config, error) {
	if err := intake.CheckShards(c.Sharding.Shards, c.Keys, c.Concurrent); err != nil {
		return c, err
	}
	if c.Like.Set != nil {
		return c, family.Invalid("like", "a Set", "set Dir to follow it")
	}
	if err := c.checkFields(); err != nil {
		return c, err
	}

	set := c
	c.Capacity, c.Limits.FPR, c.Allow = intake.PerShard(c.Capacity, c.Sharding.Shards), 0, nil
	if c.open() {
		if c.Keys == 0 {
			return c, family.Invalid("keys", 0,
				"the planner needs the number of keys: give it, or a spec with --spec")
		}
		c.Keys = intake.PerShard(c.Keys, c.Sharding.Shards)
		c.Needs.Later, c.Needs.Bytes = intake.PerShard(c.Needs.Later, c.Sharding.Shards), intake.Divided(c.Needs.Bytes,
			c.Sharding.Shards)
		var err error
		if c, err = c.resolve(ctx); err != nil {
			return c, err
		}
	} else {
		f, s, err := c.family()
		if err != nil {
			return c, err
		}
		if s, err = intake.ShardSpec(f, s, c.Sharding.Shards); err != nil {
			return c, err
		}
		c.Spec = s.String()
	}

	if s, err := filter.ParseSpec(c.Spec); err != nil || !family.Given(s, "fpr") {
		c.FPR = 0 // it is for the set: a shard may have more keys than the mean
	}

	c.Keys, c.Sharding = 0, Sharding{}
	if err := c.checkShard(); err != nil {
		return c, err
	}
	return c, cmp.Or(set.checkSetSize(c, set.Keys), set.checkForecast(set.Keys))
}

// checkShard returns an error if the Spec cannot be the Spec of a shard.
func (c Config) checkShard() error {
	f, s, err := c.family()
	if err == nil {
		err = intake.CheckShard(f, s)
	}
	if err != nil {
		return err
	}
	return c.Check()
}
