package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/plan"
)

// The groups of flags that commands share. Each has a method register and a method that reads the values. An empty
// value of a flag that is given is an error.

// complete sets the words that the shell offers for a flag.
func complete(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// sizeFlags are the flags for the size of a filter.
type sizeFlags struct {
	bitsPerKey float64
	fpr        string
	bytes      string
}

func (f *sizeFlags) register(c *cobra.Command) {
	c.Flags().Float64Var(&f.bitsPerKey, "bits-per-key", 0, "size in bits per key, fractions allowed")
	c.Flags().StringVar(&f.fpr, "fpr", "", "size from the false-positive rate to keep, such as 0.01 or 1%")
	c.Flags().StringVar(&f.bytes, "bytes", "", "size of the whole filter, such as 65536, 64KiB or 10MB")
	c.MarkFlagsMutuallyExclusive("bits-per-key", "fpr", "bytes")
}

func (f *sizeFlags) read(c *cobra.Command) (s filter.Sizing, err error) {
	switch {
	case c.Flags().Changed("bits-per-key"):
		if !(f.bitsPerKey > 0) {
			return s, fmt.Errorf("--bits-per-key %v: want more than 0", f.bitsPerKey)
		}
		s.BitsPerKey = f.bitsPerKey
	case c.Flags().Changed("fpr"):
		s.FPR, err = parseRate("--fpr", f.fpr)
	case c.Flags().Changed("bytes"):
		s.Bytes, err = parseBytes("--bytes", f.bytes)
	}
	if err == nil {
		err = s.Check()
	}
	return s, err
}

// hashFlags are the flags for the hash function.
type hashFlags struct {
	name string
	seed uint64
}

func (f *hashFlags) register(c *cobra.Command) {
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the hash function")
	c.Flags().StringVar(&f.name, "hash", "",
		"hash function of another system: xxh64 makes a blocked(layout=split) filter one of Parquet")
	complete(c, "hash", filter.XXH64.String())
}

// read returns the hash function, 0 for that of the family. It checks the seed if one is given; the seed may be 0.
func (f *hashFlags) read(c *cobra.Command, foreign, secret bool) (id filter.HashID, err error) {
	if c.Flags().Changed("hash") {
		if id, err = parseHash(f.name); err != nil {
			return 0, err
		}
	}
	switch {
	case !c.Flags().Changed("seed"):
	case foreign || id.Foreign():
		err = fmt.Errorf("--seed %d: the hash function of another system takes no seed; leave it out", f.seed)
	case secret:
		err = fmt.Errorf("--seed %d: a keyed hash has a secret in place of a seed; leave one out", f.seed)
	}
	return id, err
}

// effortFlags are the flags for the effort of a search.
type effortFlags struct {
	level  string
	budget time.Duration
}

func (f *effortFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.level, "effort", "", "how long families with a search search: fast, default or max")
	c.Flags().DurationVar(&f.budget, "budget", 0, "time for the whole search, such as 30s or 5m, instead of --effort")
	c.MarkFlagsMutuallyExclusive("effort", "budget")
	complete(c, "effort", "fast", "default", "max")
}

func (f *effortFlags) read(c *cobra.Command) (filter.Effort, error) {
	e := filter.Effort{Level: filter.Level(f.level), Budget: f.budget}
	if c.Flags().Changed("budget") && f.budget <= 0 {
		return e, fmt.Errorf("--budget %v: want a time above 0, such as 30s", f.budget)
	}
	if e.Level == filter.Keep {
		return e, errors.New("--effort keep: want fast, default or max; optimize --keep-shifts makes no search")
	}
	return e, e.Check()
}

// spec returns the Spec with the effort as a parameter.
func (f *effortFlags) spec(c *cobra.Command, family families.Family, s filter.Spec) (filter.Spec, error) {
	e, err := f.read(c)
	if err != nil || e == (filter.Effort{}) {
		return s, err
	}
	if !family.Can.Has(filter.CanSearch) {
		return s, fmt.Errorf("--effort and --budget: family %s does not search; they need --family %s",
			family.Name, cli.Either(families.With(filter.CanSearch)))
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

// memoryFlags are the flags that limit the memory for keys.
type memoryFlags struct {
	memory string
	dir    string
}

func (f *memoryFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.memory, "memory", "",
		"most bytes of key hashes in memory, such as 512MiB; the others go to a temporary file (default no limit)")
	c.Flags().StringVar(&f.dir, "temp-dir", os.TempDir(), "folder of temporary files")
	_ = c.MarkFlagDirname("temp-dir")
}

func (f *memoryFlags) read(c *cobra.Command) (bytes int64, err error) {
	if !c.Flags().Changed("memory") {
		return 0, nil
	}
	n, err := parseBytes("--memory", f.memory)
	if err == nil && n > 1<<60 {
		err = fmt.Errorf("--memory %s: want at most 2^60 bytes", f.memory)
	}
	return int64(n), err
}

// formFlags are the flags for later keys, and for counts and values of keys.
type formFlags struct {
	counting bool
	values   uint64
	capacity string
}

func (f *formFlags) register(c *cobra.Command) {
	takers := func(parameter string) string { return " (" + strings.Join(families.Taking(parameter), ", ") + ")" }
	c.Flags().BoolVar(&f.counting, "counting", false, "count how often each key comes"+takers("counting"))
	c.Flags().Uint64Var(&f.values, "value-bits", 0, "bits of the value of a key, 1 to 32"+takers("value_bits"))
	c.Flags().StringVar(&f.capacity, "capacity", "",
		"number of keys to make room for, such as 10M, those that are added later included")
	c.MarkFlagsMutuallyExclusive("counting", "value-bits")
}

// needs sets the needs of the flags, and returns the capacity.
func (f *formFlags) needs(c *cobra.Command, n *plan.Needs) (room uint64, err error) {
	n.Count = n.Count || f.counting
	if c.Flags().Changed("value-bits") {
		if f.values == 0 {
			return 0, errNoValues
		}
		n.ValueBits = int(min(f.values, math.MaxInt))
	}
	if c.Flags().Changed("capacity") {
		room, err = f.room()
	}
	return room, err
}

var errNoValues = errors.New("--value-bits 0: want a number above 0, or leave it out")

func (f *formFlags) room() (uint64, error) {
	n, err := parseCount("--capacity", f.capacity)
	if err == nil && n == 0 {
		err = fmt.Errorf("--capacity %s: want a number above 0", f.capacity)
	}
	return n, err
}

// spec returns the Spec with the flags as parameters.
func (f *formFlags) spec(c *cobra.Command, family families.Family, s filter.Spec) (filter.Spec, error) {
	for _, flag := range []string{"counting", "value-bits", "capacity"} {
		if !c.Flags().Changed(flag) {
			continue
		}
		parameter := strings.ReplaceAll(flag, "-", "_")
		switch {
		case !family.Takes(parameter):
			return s, fmt.Errorf("--%s: family %s has no %s=; it needs --family %s",
				flag, family.Name, parameter, cli.Either(families.Taking(parameter)))
		case s.Has(parameter):
			return s, fmt.Errorf("--family %s has %s= already; leave out --%s", s, parameter, flag)
		case s.Has("buckets"):
			return s, fmt.Errorf("--family %s fixes all sizes; leave out --%s", s, flag)
		}
		v, err := f.value(flag)
		if err != nil {
			return s, err
		}
		s = s.With(parameter, v)
	}
	return s, nil
}

// value returns the value of one of the flags as a parameter of a Spec.
func (f *formFlags) value(flag string) (any, error) {
	switch {
	case flag == "capacity":
		return f.room()
	case flag == "value-bits" && f.values == 0:
		return nil, errNoValues
	case flag == "value-bits":
		return f.values, nil
	case f.counting:
		return 1, nil
	}
	return 0, nil
}
