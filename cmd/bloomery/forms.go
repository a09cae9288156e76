package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/interop"
	"github.com/bloomery/bloomery/plan"
)

// form says which of the formFlags a family takes.
type form struct {
	counting, values, capacity bool
}

// forms lists the families that take any. A new one joins here.
var forms = map[string]form{
	"standard":    {capacity: true},
	"blocked":     {capacity: true},
	"counting":    {capacity: true},
	"rankindexed": {counting: true, values: true, capacity: true},
	"dleft":       {counting: true, capacity: true},

	"guava":         {capacity: true},
	"bitsandblooms": {capacity: true},
	"redisbloom":    {capacity: true},
}

// formFlags are the flags for room to come and for what a filter keeps beside its keys.
type formFlags struct {
	counting bool
	values   uint64
	capacity string
}

func (f *formFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.counting, "counting", false, "count how often each key comes (rankindexed, dleft)")
	c.Flags().Uint64Var(&f.values, "value-bits", 0, "bits of the value that put gives a key, 1 to 32 (rankindexed)")
	c.Flags().StringVar(&f.capacity, "capacity", "", "number of keys to make room for at least, such as 10M, those that are added later included")
	c.MarkFlagsMutuallyExclusive("counting", "value-bits")
}

// read fills in what the flags need, for the plan, and returns the number of keys to make room for.
func (f *formFlags) read(c *cobra.Command, n *plan.Needs) (room uint64, err error) {
	n.Count = n.Count || f.counting
	if c.Flags().Changed("value-bits") {
		if f.values == 0 {
			return 0, errNoValues
		}
		n.ValueBits = int(min(f.values, 64))
	}
	if !c.Flags().Changed("capacity") {
		return 0, nil
	}
	return f.room()
}

var errNoValues = errors.New("--value-bits 0: want a number above 0, or leave it out")

// room returns the --capacity.
func (f *formFlags) room() (uint64, error) {
	n, err := parseCount("--capacity", f.capacity)
	if err == nil && n == 0 {
		err = fmt.Errorf("--capacity %s: want a number above 0", f.capacity)
	}
	return n, err
}

// spec returns the spec with what the flags say as its parameters.
func (f *formFlags) spec(c *cobra.Command, s filter.Spec) (filter.Spec, error) {
	takes := forms[s.Family()]
	for _, x := range []struct {
		flag, parameter, lacks string
		ok                     func(form) bool
		value                  func() (any, error)
	}{
		{"counting", "counting", "does not count", func(t form) bool { return t.counting }, func() (any, error) {
			if !f.counting {
				return 0, nil
			}
			return 1, nil
		}},
		{"value-bits", "value_bits", "keeps no values", func(t form) bool { return t.values }, func() (any, error) {
			if f.values == 0 {
				return nil, errNoValues
			}
			return f.values, nil
		}},
		{"capacity", "capacity", "takes no later keys, or has later=", func(t form) bool { return t.capacity }, func() (any, error) { return f.room() }},
	} {
		if !c.Flags().Changed(x.flag) {
			continue
		}
		if _, err := families.ByName(s.Family()); err != nil {
			return s, err
		}
		if !x.ok(takes) {
			return s, fmt.Errorf("--%s: family %s %s; add --family %s", x.flag, s.Family(), x.lacks, familiesWith(x.ok))
		}
		if s.Has(x.parameter) {
			return s, fmt.Errorf("--family %s has %s= already; leave out --%s", s, x.parameter, x.flag)
		}
		if s.Has("buckets") {
			return s, fmt.Errorf("--family %s fixes everything; leave out --%s", s, x.flag)
		}
		v, err := x.value()
		if err != nil {
			return s, err
		}
		s = s.With(x.parameter, v)
	}
	return s, nil
}

// familiesWith lists the families whose form is ok.
func familiesWith(ok func(form) bool) string {
	var names []string
	for name, takes := range forms {
		if family, err := families.ByName(name); err == nil && family.Hash == 0 && ok(takes) { // none of another system
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " or ")
}

// advised is an error with its own hint.
type advised struct {
	error
	hint string
}

func (e *advised) Unwrap() error { return e.error }

// fullBuild says what to do about a filter that was full before all keys were in it.
func fullBuild(err error, spec filter.Spec) error {
	const room = `if there are more keys than that, make room for them: --capacity N`
	if spec.Family() == string(interop.RedisBloom) {
		return &advised{err, "Leave out expansion=0, and the chain grows as it fills; or make room: --capacity N."}
	}
	if spec.Has("counting") {
		return &advised{err, "A key that comes hundreds of times fills its bucket, however large the filter: leave out --counting, and each\n  key is taken once; " + room + "."}
	}
	return &advised{err, "A key that comes again and again takes room each time where duplicates are not dropped: --counting;\n  " + room + ", or give a spec that says no sizes."}
}

// fullAdd says the same of keys that come later.
func fullAdd(path string, spec filter.Spec, err error) error {
	err = fmt.Errorf("%s: %w", path, err)
	if spec.Family() == string(interop.RedisBloom) {
		return &advised{err, "Nothing was written. Chains made with expansion=0, or NONSCALING in Redis, do not grow: build it again without\n" +
			"  that, or with --capacity N."}
	}
	return &advised{err,
		"Nothing was written. Build it again with room for what will come: --capacity N, or growth=G in the spec, such as\n" +
			`  "rankindexed(fpr=0.01,growth=6)", which lets it double six times. A key that comes again and again takes room each time,` + "\n" +
			"  with --counting every fourth time."}
}
