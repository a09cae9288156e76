package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/plan"
)

// wishFlags are the flags for the needs of the planner.
type wishFlags struct {
	needs     []string
	objective string
}

// needWords are the values of --needs.
var needWords = map[string]func(*plan.Needs){
	"remove": func(n *plan.Needs) { n.Remove = true }, "count": func(n *plan.Needs) { n.Count = true },
	"merge": func(n *plan.Needs) { n.Merge = true }, "line": func(n *plan.Needs) { n.OneLine = true },
	"writers": func(n *plan.Needs) { n.Writers = true }, "adversarial": func(n *plan.Needs) { n.Adversarial = true },
	"unpatented": func(n *plan.Needs) { n.Unpatented = true }, "add": func(n *plan.Needs) { n.Add = true },
}

func needNames() []string {
	var names []string
	for name := range needWords {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (f *wishFlags) register(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.needs, "needs", nil, "what the filter must do: "+strings.Join(needNames(), ", "))
	c.Flags().StringVar(&f.objective, "for", "", "rank by size or speed; the first may change with the number of keys")
	complete(c, "needs", needNames()...)
	complete(c, "for", string(plan.Smallest), string(plan.Fastest))
}

// read sets the needs.
func (f *wishFlags) read(n *plan.Needs) error {
	n.For = plan.Objective(f.objective)
	for _, word := range f.needs {
		set, ok := needWords[strings.TrimSpace(word)]
		if !ok {
			return fmt.Errorf("--needs %s: there are %s", word, strings.Join(needNames(), ", "))
		}
		set(n)
	}
	return nil
}

// planFlags are the flags of bloomery plan.
type planFlags struct {
	keys, later, fpr, bytes string
	bitsPerKey, absent      float64
	values                  uint64
	build                   time.Duration
	memory                  string
	wishes                  wishFlags
}

func (f *planFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.keys, "keys", "", "number of keys, such as 133604, 10M or 5G")
	c.Flags().StringVar(&f.later, "later", "", "number of keys that are added after the build")
	c.Flags().StringVar(&f.fpr, "fpr", "",
		"false-positive rate to keep, such as 0.01 or 1% (default 1% without a limit on the size)")
	c.Flags().Float64Var(&f.bitsPerKey, "bits-per-key", 0, "most bits per key")
	c.Flags().StringVar(&f.bytes, "bytes", "", "most bytes of the whole filter, such as 64KiB or 10MB")
	c.Flags().Uint64Var(&f.values, "value-bits", 0, "bits of the value that each key has")
	c.Flags().Float64Var(&f.absent, "absent", 0.5, "share of queries for absent keys")
	c.Flags().DurationVar(&f.build, "build", 0, "longest build on one core, such as 10s")
	c.Flags().StringVar(&f.memory, "memory", "",
		"most memory of a build besides the filter, such as 1GiB; keys that can go to a file do not count")
	f.wishes.register(c)
	c.MarkFlagsMutuallyExclusive("bits-per-key", "bytes")
	_ = c.MarkFlagRequired("keys")
}

// exact reports whether the rate must be 0.
func (f *planFlags) exact() bool {
	v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(f.fpr), "%"), 64)
	return err == nil && v == 0
}

func (f *planFlags) read(c *cobra.Command) (n plan.Needs, err error) {
	if n.Keys, err = parseCount("--keys", f.keys); err != nil {
		return n, err
	}
	if c.Flags().Changed("later") {
		if n.Later, err = parseCount("--later", f.later); err != nil {
			return n, err
		}
	}
	if c.Flags().Changed("fpr") && !f.exact() {
		if n.FPR, err = parseRate("--fpr", f.fpr); err != nil {
			return n, err
		}
	}
	for _, size := range []struct {
		flag, text string
		to         *uint64
	}{{"bytes", f.bytes, &n.Bytes}, {"memory", f.memory, &n.Memory}} {
		if !c.Flags().Changed(size.flag) {
			continue
		}
		if *size.to, err = parseBytes("--"+size.flag, size.text); err != nil {
			return n, err
		}
	}
	switch {
	case c.Flags().Changed("bits-per-key") && !(f.bitsPerKey > 0):
		return n, fmt.Errorf("--bits-per-key %v: want more than 0", f.bitsPerKey)
	case c.Flags().Changed("build") && f.build <= 0:
		return n, fmt.Errorf("--build %v: want a time above 0, such as 10s", f.build)
	case !(f.absent > 0 && f.absent <= 1):
		return n, fmt.Errorf("--absent %v: want a share above 0 and at most 1", f.absent)
	}
	n.BitsPerKey, n.Absent, n.Build = f.bitsPerKey, f.absent, f.build
	n.ValueBits = int(min(f.values, math.MaxInt))
	return n, f.wishes.read(&n)
}
