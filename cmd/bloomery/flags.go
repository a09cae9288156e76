package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/plan"
)

// parsed is the value of a flag whose text the function read parses. Errors of read are whole messages.
type parsed[T any] struct {
	to         *T
	name, text string
	read       func(flag, text string) (T, error)
}

func (p *parsed[T]) Set(text string) (err error) {
	p.text = text
	*p.to, err = p.read("--"+p.name, text)
	return err
}

func (p *parsed[T]) String() string { return p.text }

func (p *parsed[T]) Type() string { return "string" } // in the help

// parse adds a flag that sets to. It also passes an empty text to read, so that an unset shell variable is an error.
func parse[T any](c *cobra.Command, to *T, name, usage string, read func(flag, text string) (T, error)) {
	c.Flags().Var(&parsed[T]{to: to, name: name, read: read}, name, usage)
}

// parseDefault is parse for a flag with a default.
func parseDefault[T any](c *cobra.Command, to *T, name, text, usage string, read func(flag, text string) (T, error)) {
	parse(c, to, name, usage, read)
	f := c.Flags().Lookup(name)
	_ = f.Value.Set(text)
	f.DefValue = text
}

// complete sets the words for shell completion of a flag.
func complete(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func outputFlag(c *cobra.Command, to *string) {
	c.Flags().StringVarP(to, "output", "o", "", "`FILE`: file to write, or -")
}

// maxFPRFlag adds --max-fpr, for commands that raise the false-positive rate of a filter.
func maxFPRFlag(c *cobra.Command, to *float64) {
	parse(c, to, "max-fpr", "fail if the rate is more than a tenth above `RATE`", parseRate)
}

// shrinkFlag adds --shrink, for commands that replace a file by one made from a list. It sets the fraction of the keys
// that may be lost. normal describes the default.
func shrinkFlag(c *cobra.Command, to *float64, normal string) {
	usage := "allow a list that lost up to `P%` of the keys (default " + normal + ")"
	parse(c, to, "shrink", usage, func(flag, text string) (float64, error) {
		if text == "100%" {
			return 1, nil
		}
		return parseRate(flag, text)
	})
	c.Flags().Lookup("shrink").NoOptDefVal = "100%"
}

// rateNoted returns parseRate for --fpr of a command. It notes on stderr that a high rate without % is not in percent.
func rateNoted(c *cobra.Command) func(flag, text string) (float64, error) {
	return func(flag, text string) (float64, error) {
		v, err := parseRate(flag, text)
		if err == nil && v >= 0.05 && !strings.Contains(text, "%") {
			fmt.Fprintf(c.ErrOrStderr(), "bloomery: note: %s %s is %s\n", flag, text, stat.Percent(v))
		}
		return v, err
	}
}

func sizeFlags(c *cobra.Command, s *family.Sizing) {
	c.Flags().Float64Var(&s.BitsPerKey, "bits-per-key", 0, "`BITS`: size per key")
	parse(c, &s.FPR, "fpr", "`RATE`: false positives, 0.001 or 0.1% (default 1%)", rateNoted(c))
	parse(c, &s.Bytes, "bytes", "`SIZE`: size of the filter, such as 64KiB or 10MB", parseBytes)
	c.MarkFlagsMutuallyExclusive("bits-per-key", "fpr", "bytes")
}

func checkBitsPerKey(c *cobra.Command, v float64) error {
	if c.Flags().Changed("bits-per-key") && !(v > 0) {
		return fmt.Errorf("--bits-per-key %v: want more than 0", v)
	}
	return nil
}

type hashFlags struct {
	id   filter.HashID // 0 for the hash function of the family
	seed uint64
}

func (f *hashFlags) register(c *cobra.Command) {
	c.Flags().Uint64Var(&f.seed, "seed", 0, "`NUMBER`: seed of the hash function")
	parse(c, &f.id, "hash",
		"`NAME`: hash function of another system; see convert", parseHash)
	complete(c, "hash", filter.XXH64.String())
}

type effortFlags struct{ filter.Effort }

func (f *effortFlags) register(c *cobra.Command) {
	c.Flags().StringVar((*string)(&f.Level), "effort", "", "`TERM`: length of a search: fast, default or max")
	c.Flags().DurationVar(&f.Budget, "budget", 0, "`TIME`: length of a search, such as 30s or 5m")
	c.MarkFlagsMutuallyExclusive("effort", "budget")
	complete(c, "effort", "fast", "default", "max")
}

func (f *effortFlags) check(c *cobra.Command) error {
	switch {
	case c.Flags().Changed("budget") && f.Budget <= 0:
		return fmt.Errorf("--budget %v: want a time above 0, such as 30s", f.Budget)
	case f.Level == filter.Keep:
		return errors.New("--effort keep: want fast, default or max; build --like makes no search")
	}
	return family.CheckEffort(f.Effort)
}

// spec returns the Spec with the effort as a parameter.
func (f *effortFlags) spec(c *cobra.Command, kind families.Family, s filter.Spec) (filter.Spec, error) {
	if err := f.check(c); err != nil || *f == (effortFlags{}) {
		return s, err
	}
	if !kind.Can.Has(family.CanSearch) {
		return s, fmt.Errorf("--effort and --budget: family %s does not search; they need --spec %s",
			kind.Name, cli.Either(families.With(family.CanSearch)))
	}

	for _, name := range []string{"effort", "passes", "budget", "target"} {
		if family.Given(s, name) {
			return s, fmt.Errorf("%s %s says already how long to search; leave out --effort and --budget",
				cli.Typed(c, "spec"), s)
		}
	}
	if f.Budget != 0 {
		return s.With("budget", f.Budget.String()), nil
	}
	return s.With("effort", string(f.Level)), nil
}

// formFlags are the flags for later keys, and for counts and values of keys.
type formFlags struct {
	counting         bool
	values, capacity uint64
}

func (f *formFlags) register(c *cobra.Command) {
	takers := func(parameter string) string { return " (" + strings.Join(families.Taking(parameter), ", ") + ")" }
	c.Flags().BoolVar(&f.counting, "counting", false, "count how often each key was added"+takers("counting"))
	c.Flags().Uint64Var(&f.values, "value-bits", 0, "`BITS`: value that each key has"+takers("value_bits"))
	parse(c, &f.capacity, "capacity", "`N`: room for keys, later ones included, such as 10M", parseKeys)
	c.MarkFlagsMutuallyExclusive("counting", "value-bits")
}

var errNoValues = errors.New("--value-bits 0: want a number above 0, or leave it out")

func (f *formFlags) needs(c *cobra.Command, n *plan.Needs) error {
	n.Count = n.Count || f.counting
	n.ValueBits = int(min(f.values, math.MaxInt))
	if c.Flags().Changed("value-bits") && f.values == 0 {
		return errNoValues
	}
	return nil
}

// spec returns the Spec with the flags as parameters.
func (f *formFlags) spec(c *cobra.Command, kind families.Family, s filter.Spec) (filter.Spec, error) {
	counting := 0
	if f.counting {
		counting = 1
	}

	for _, p := range []struct {
		flag  string
		value any
	}{{"counting", counting}, {"value-bits", f.values}, {"capacity", f.capacity}} {
		if !c.Flags().Changed(p.flag) {
			continue
		}
		parameter := strings.ReplaceAll(p.flag, "-", "_")
		switch {
		case !kind.Takes(parameter):
			return s, fmt.Errorf("--%s: family %s has no %s=; it needs --spec %s",
				p.flag, kind.Name, parameter, cli.Either(families.Taking(parameter)))
		case family.Given(s, parameter):
			return s, fmt.Errorf("%s %s has %s= already; leave out --%s", cli.Typed(c, "spec"), s, parameter, p.flag)
		case family.Given(s, "buckets"):
			return s, fmt.Errorf("%s %s fixes all sizes; leave out --%s", cli.Typed(c, "spec"), s, p.flag)
		case p.flag == "value-bits" && f.values == 0:
			return s, errNoValues
		}
		s = s.With(parameter, p.value)
	}
	return s, nil
}

type wishFlags struct {
	needs     []string
	objective string
}

var needWords = map[string]func(*plan.Needs){
	"remove": func(n *plan.Needs) { n.Remove = true }, "count": func(n *plan.Needs) { n.Count = true },
	"merge": func(n *plan.Needs) { n.Merge = true }, "line": func(n *plan.Needs) { n.OneLine = true },
	"writers": func(n *plan.Needs) { n.Writers = true }, "adversarial": func(n *plan.Needs) { n.Adversarial = true },
	"unpatented": func(n *plan.Needs) { n.Unpatented = true }, "add": func(n *plan.Needs) { n.Add = true },
}

func needNames() []string { return slices.Sorted(maps.Keys(needWords)) }

func (f *wishFlags) register(c *cobra.Command) {
	usage := "`LIST`: what the filter must do (help specs): " + strings.Join(needNames(), ", ")
	c.Flags().StringSliceVar(&f.needs, "needs", nil, usage)
	c.Flags().StringVar(&f.objective, "for", "", "`GOAL`: choose by size or by speed")
	complete(c, "needs", needNames()...)
	complete(c, "for", string(plan.Smallest), string(plan.Fastest))
}

func (f *wishFlags) read(n *plan.Needs) error {
	n.For = plan.Objective(f.objective)
	for _, word := range f.needs {
		set, ok := needWords[strings.TrimSpace(word)]
		if !ok {
			err := fmt.Errorf("--needs %s: there are %s", word, strings.Join(needNames(), ", "))
			if slices.ContainsFunc(topics, func(t cli.Topic) bool { return t.Name == "values" && t.Is(word) }) {
				return cli.Advise(err, "For values of keys, give --value-bits V; see bloomery help values.")
			}
			return err
		}
		set(n)
	}
	return nil
}
