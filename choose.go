package bloomery

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// smallBuild limits the memory for key hashes of a build that the planner chooses, unless Config.Memory or Needs.Memory
// set another limit.
const smallBuild = 1 << 30

// Choose returns the filter that plan.Default takes for Config.Needs, Config.Keys and Config.Capacity, among those
// without a known patent. Its family depends on the needs only, unless Needs.For, Build or Memory is set or no filter
// of that family meets the needs. 0 keys count as 1. Errors are those of plan.For and Check.
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
	n.Memory = cmp.Or(n.Memory, uint64(max(c.Memory, 0)))
	n.Memory -= n.Memory / 16 // for the program and the buffers of its input
	return plan.Default(ctx, n)
}

// BuildMemory returns the most bytes in addition to the filter that a build takes whose filter the planner chooses:
// Memory, else Needs.Memory, else 1 GiB, or what the family needs if that is more and no limit is set: see
// plan.Choice.BytesBuild. What the garbage collector has not yet freed is not counted; see debug.SetMemoryLimit.
func (c Config) BuildMemory() int64 {
	return cmp.Or(max(c.Memory, 0), int64(min(c.Needs.Memory, 1<<60)), smallBuild)
}

// Resolve returns a Config with a Spec. If c has Needs and no Spec, it calls Choose and Chosen, and sets Memory to 7/8
// of BuildMemory: the rest is for buffers; the result has no Needs. Else it returns c. Errors are those of Choose.
func (c Config) Resolve(ctx context.Context) (Config, error) {
	if !c.open() {
		return c, c.checkFields()
	}
	choice, err := c.Choose(ctx)
	if err != nil {
		return c, err
	}
	c.Spec = choice.Spec.String()
	if c.Needs.FPR > 0 { // without it the Spec says what was chosen
		c.FPRChosen = cmp.Or(c.FPRChosen, c.Needs.FPR)
	}
	c.Memory = c.BuildMemory() - c.BuildMemory()/8
	c.Needs = plan.Needs{} // a Spec takes their place
	if c.Chosen != nil {
		c.Chosen(choice)
	}
	return c, nil
}

// Check returns an error if the Config is invalid, as far as this is known before the keys. It makes no filter and does
// not call the planner. Errors wrap filter.ErrConfig, filter.ErrSpec, filter.ErrFamily, filter.ErrTooLarge or
// filter.ErrUnsupported.
func (c Config) Check() error {
	switch {
	case c.Like != nil:
		return c.checkLike()
	case c.open():
		h, err := families.OwnHasher(c.Hash, c.Seed, c.Secret)
		return errors.Join(c.checkNeeds(), err, c.checkAllow(h))
	}
	_, err := (&Builder{config: c}).resolve()
	return err
}

// checkNeeds is Check for a Config with Needs.
func (c Config) checkNeeds() error {
	if err := errors.Join(c.checkFields(), c.checkShrink()); err != nil {
		return err
	}
	switch {
	case c.Like != nil:
		const reason = "the planner has nothing to choose; leave out needs"
		return &filter.ConfigError{Field: "like", Value: "set", Reason: reason}
	case c.Needs.Adversarial && c.Secret == nil:
		return &filter.ConfigError{Field: "secret", Value: "none", Reason: "filters that an adversary may query need a secret"}
	case c.Hash != 0:
		return &filter.ConfigError{Field: "hash", Value: c.Hash, Reason: "a hash function of another system needs a Spec"}
	}
	return nil
}

// chosenFPR returns the rate to store with a new set of that number of keys, see Config.FPRChosen.
func (c Config) chosenFPR(f families.Family, s filter.Spec, keys uint64, set *Set) float64 {
	r := s.Reader()
	size, room := filter.ReadSizing(r), r.Uint("capacity")
	switch {
	case c.FPRChosen != 0:
		return c.FPRChosen
	case size.FPR != 0:
		return size.FPR
	case size.Bytes != 0 || slices.ContainsFunc(f.Sizes, s.Has):
		return 0
	case size.BitsPerKey == 0 && f.DefaultFPR != 0:
		return f.DefaultFPR
	}
	keys = max(keys, room)
	if keys == 0 {
		return 0
	}
	var fpr float64
	var err error
	if f.Can.Has(filter.CanSearch) && !s.Has(filter.LaterParameter.Name) {
		fpr = set.Info().FPRPosterior // a forecast would take a search of its own
	} else if _, fpr, err = f.Forecast(set.Spec(), keys); err != nil { // no size needs to be found again
		_, fpr, err = f.Forecast(s, keys) // the family does not build from the Spec of a filter
	}
	if err != nil || !(fpr > 0 && fpr <= filter.UselessFPR) {
		return 0
	}
	return threeDigits(fpr)
}

// threeDigits rounds, so that a forecast is the same number on machines whose floating-point results differ slightly.
func threeDigits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // parses what was formatted
	return v
}
