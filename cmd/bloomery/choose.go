package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/plan"
)

// wishFlags are the flags for what a filter has to do, which plan and build share.
type wishFlags struct {
	needs     []string
	objective string
}

// needWords are what --needs takes.
var needWords = map[string]func(*plan.Needs){
	"remove": func(n *plan.Needs) { n.Remove = true }, "count": func(n *plan.Needs) { n.Count = true },
	"merge": func(n *plan.Needs) { n.Merge = true }, "line": func(n *plan.Needs) { n.OneLine = true },
	"writers": func(n *plan.Needs) { n.Writers = true }, "adversarial": func(n *plan.Needs) { n.Adversarial = true },
	"unpatented": func(n *plan.Needs) { n.Unpatented = true },
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
	c.Flags().StringSliceVar(&f.needs, "needs", nil, "what it has to do: "+strings.Join(needNames(), ", "))
	c.Flags().StringVar(&f.objective, "for", "size", "what comes first: size or speed")
	_ = c.RegisterFlagCompletionFunc("needs", cobra.FixedCompletions(needNames(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("for", cobra.FixedCompletions([]string{"size", "speed"}, cobra.ShellCompDirectiveNoFileComp))
}

// read fills in the needs.
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

// What a build takes at most that nobody named a family for: a time, or one a key if that is more, and bytes beside the filter.
const (
	quickBuild    = 10 * time.Second
	quickBuildKey = time.Microsecond
	smallBuild    = 1 << 30
)

// chosen is the recipe of a build without --family: the plan picks what comes first, and says so.
func (a *app) chosen(c *cobra.Command, f *buildFlags, size filter.Sizing, secret *[filter.SecretSize]byte) (recipe, error) {
	if c.Flags().Changed("hash") {
		return recipe{}, fmt.Errorf(`--hash %s: that of a filter of Parquet; add --family "blocked(layout=split)"`, f.hash.name)
	}
	n := plan.Needs{FPR: size.FPR, BitsPerKey: size.BitsPerKey, Bytes: size.Bytes}
	if err := f.wishes.read(&n); err != nil {
		return recipe{}, err
	}
	if n.Adversarial && secret == nil {
		return recipe{}, errors.New("--needs adversarial: who asks must not know the hash function; give --secret-file FILE")
	}
	n.Adversarial = secret != nil
	n.Unpatented = true // nobody comes to a patent without knowing
	if f.memory.bytes == 0 {
		f.memory.bytes = smallBuild
	}
	n.Memory = uint64(f.memory.bytes)
	effort, err := f.effort.effort(c)
	if err != nil {
		return recipe{}, err
	}
	if effort.Level != "" {
		return recipe{}, errors.New("--effort: say which family shall search: add --family partitioned, blockpartitioned or twochoice")
	}
	room, err := f.form.read(c, &n)
	if err != nil {
		return recipe{}, err
	}
	hasher, err := f.hash.hasher(c, filter.NewSpec("standard"), secret) // as in all our families
	if err != nil {
		return recipe{}, err
	}
	return recipe{hasher: hasher, pick: func(ctx context.Context, keys uint64) (filter.Spec, error) {
		n := n
		n.Keys = max(1, keys)
		n.Later = max(room, n.Keys) - n.Keys
		n.Build = max(quickBuild, quickBuildKey*time.Duration(min(n.Keys, 1<<50)))
		if effort.Budget != 0 {
			n.Build = effort.Budget
		}
		p, err := plan.For(ctx, n)
		if err != nil {
			return filter.Spec{}, err
		}
		best := p.Choices[0]
		if !a.quiet {
			fmt.Fprintf(a.stderr, "bloomery: chose %s: %s\n", best.Spec, best.Reason)
			if best.Warning != "" {
				fmt.Fprintf(a.stderr, "  but: %s\n", best.Warning)
			}
		}
		return best.Spec, nil
	}}, nil
}
