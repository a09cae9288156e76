package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
)

// effortFlags are the flags that say how long a search goes on.
type effortFlags struct {
	level  string
	budget time.Duration
}

func (f *effortFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.level, "effort", "", "how long the families with a search go on: fast, default or max")
	c.Flags().DurationVar(&f.budget, "budget", 0, "time that the whole search may take, such as 30s or 5m, instead of --effort")
	c.MarkFlagsMutuallyExclusive("effort", "budget")
	_ = c.RegisterFlagCompletionFunc("effort", cobra.FixedCompletions([]string{"fast", "default", "max"}, cobra.ShellCompDirectiveNoFileComp))
}

// effort returns what was asked for, or an error wrapping filter.ErrConfig.
func (f *effortFlags) effort(c *cobra.Command) (filter.Effort, error) {
	e := filter.Effort{Level: filter.Level(f.level), Budget: f.budget}
	if c.Flags().Changed("budget") && f.budget <= 0 {
		return e, fmt.Errorf("--budget %v: want a time above 0, such as 30s", f.budget)
	}
	return e, e.Check()
}

// spec returns the spec with the effort as its parameter.
func (f *effortFlags) spec(c *cobra.Command, s filter.Spec) (filter.Spec, error) {
	e, err := f.effort(c)
	if err != nil || e == (filter.Effort{}) {
		return s, err
	}
	if family, err := families.ByName(s.Family()); err != nil || !family.Can.Has(filter.CanSearch) {
		return s, fmt.Errorf("--effort and --budget: family %s does not search; add --family partitioned, blockpartitioned or twochoice", s.Family())
	}
	for _, name := range []string{"effort", "passes", "budget", "target"} {
		if s.Has(name) {
			return s, fmt.Errorf("--family %s says already how long to search; leave out --effort and --budget", s)
		}
	}
	if e.Budget != 0 {
		return s.With("budget", e.Budget.String()), nil
	}
	return s.With("effort", string(e.Level)), nil
}

// memoryFlags are the flags that bound what is kept in memory.
type memoryFlags struct {
	memory string
	dir    string
	bytes  int64
}

func (f *memoryFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.memory, "memory", "", "memory for the hashes of keys while they are gathered, such as 512MiB; the others go to a temporary file (default no limit)")
	c.Flags().StringVar(&f.dir, "temp-dir", os.TempDir(), "folder of temporary files")
	_ = c.MarkFlagDirname("temp-dir")
}

// parse reads the flags.
func (f *memoryFlags) parse(c *cobra.Command) error {
	if !c.Flags().Changed("memory") {
		return nil
	}
	n, err := parseBytes("--memory", f.memory)
	if err == nil && n > 1<<60 {
		err = fmt.Errorf("--memory %s: want at most 2^60 bytes", f.memory)
	}
	f.bytes = int64(n)
	return err
}

// limit applies the flags to a builder that gathers keys. Others keep no keys, so that any limit holds.
func (f *memoryFlags) limit(b filter.Builder) {
	if s, ok := b.(filter.Spiller); ok {
		s.Limit(f.bytes, f.dir)
	}
}
