package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
	"github.com/bloomery/bloomery/internal/stat"
	"github.com/bloomery/bloomery/plan"
)

type buildFlags struct {
	in           inputFlags
	values       valueFlags
	size         family.Sizing
	config       bloomery.Config // limits, from flags
	output, like string
	spec         string
	effort       effortFlags
	form         formFlags
	hash         hashFlags
	wishes       wishFlags
	shards       int
	allow        allowFlags
}

func (a *app) buildCommand() *cobra.Command {
	var f buildFlags
	c := &cobra.Command{
		Use:   "build -o FILE [INPUT...]",
		Short: "Build a filter file from lists of keys",
		Long: `Without --spec and --needs, the filter is a ribbon filter with 1% false positives, to which no key can be
added. A list without keys makes an empty filter, with a warning.

Keys are bytes: "A" and "a " are not "a". --input-format fields --column 2 reads hosts files, --comments leaves comments
out, --trim cuts off blanks, --lower ignores case. The file remembers --trim and --lower; all commands apply them.`,
		Example: `  bloomery build -o revoked.bloom --fpr 0.1% revoked-*.txt.gz
  bloomery build -o users.bloom --input-format csv --column email users.csv
  bloomery build -o sessions.bloom --needs remove --capacity 1M sessions.txt
  bloomery build -o small.bloom --spec "partitioned(fpr=0.001)" keys.txt
  zcat huge.gz | bloomery build -o huge.bloom --spec blocked --bytes 64MiB`,
		RunE: func(c *cobra.Command, args []string) error {
			given := c.Flags().Changed
			sharded := given("shards")
			err := f.allow.check()
			switch {
			case err != nil:
			case given("like"):
				return a.buildLike(c, &f, args)
			case given("shrink"):
				err = errors.New("--shrink: only a filter like an older one is compared with it; add --like OLD")
			case !sharded:
				err = a.mayWrite(f.output)
			default:
				err = mayMakeFolder(f.output)
			}
			if err != nil {
				return err
			}

			config, err := a.buildConfig(c, &f)
			if err != nil {
				return err
			}
			if sharded {
				config.Sharding.Dir, config.Sharding.Shards = f.output, f.shards
			}
			return a.build(c.Context(), &f, args, config)
		},
	}
	f.register(c, "ribbon")
	outputFlag(c, &f.output)
	const maxKeys = "fail if there are more than `N` keys; saves memory for pipes (help rates)"
	parse(c, &f.config.Capacity, "max-keys", maxKeys, parseKeys)
	c.MarkFlagsMutuallyExclusive("capacity", "max-keys")
	c.Flags().StringVar(&f.like, "like", "",
		"`FILE`: copy size, hash and search, for small deltas")
	memoryFlags(c, &f.config.Building.Memory, &f.config.Building.TempDir, noLimit)
	f.allow.register(c)
	shrinkFlag(c, &f.config.Like.Shrink, "with --like 50%")
	shardsFlag(c, &f.shards, "`N`: number of filters in the folder -o DIR, or auto")
	complete(c, "shards", "auto")
	cli.GroupFlags(c, "Filter", filterFlags...)
	cli.GroupFlags(c, "Output and memory", "output", "shards", "memory", "max-keys", "temp-dir")
	cli.GroupFlags(c, "Other lists", "like", "shrink", "allow", "conflicts")
	for _, name := range fixedByLike {
		c.MarkFlagsMutuallyExclusive("like", name)
	}
	return c
}

// filterFlags are the flags that describe a filter, except the flags for inputs.
var filterFlags = []string{
	"spec", "fpr", "bits-per-key", "bytes", "capacity", "needs", "for", "counting", "value-bits", "effort", "budget",
	"hash", "seed", "max-fpr",
}

// register adds the flags that describe a filter. normal is the default of --spec.
func (f *buildFlags) register(c *cobra.Command, normal string) {
	f.in.register(c)
	f.values.register(c)
	sizeFlags(c, &f.size)
	maxFPRFlag(c, &f.config.Limits.FPR)
	c.Flags().StringVar(&f.spec, "spec", "", "`SPEC`: family and parameters; see help specs (default "+normal+")")
	cli.Alias(c, "family", "spec")
	f.effort.register(c)
	f.form.register(c)
	f.hash.register(c)
	f.wishes.register(c)
	c.MarkFlagsMutuallyExclusive("spec", "needs")
	c.MarkFlagsMutuallyExclusive("spec", "for")
	complete(c, "spec", families.Names()...)
	complete(c, "family", families.Names()...)
}

// buildConfig returns the checked Config of the flags. It reads no keys.
func (a *app) buildConfig(c *cobra.Command, f *buildFlags) (b bloomery.Config, err error) {
	b = f.config
	b.Hashing.Seed, b.Hashing.ID = f.hash.seed, f.hash.id
	b.Hashing.Form = filter.KeyForm{Trim: f.in.trim, Lower: f.in.lower}
	b.Building.Chosen = func(best plan.Choice) { a.printChoice(best, b.Allow != nil) }
	if len(f.allow.lists) > 0 {
		b.Allow = func(func([]byte) bool) {} // only for Check; allow sets the list
	}
	if err := checkBitsPerKey(c, f.size.BitsPerKey); err != nil {
		return b, err
	}
	if err := f.size.Check(); err != nil {
		return b, err
	}
	if b.Hashing.Secret, err = a.secret(); err != nil {
		return b, err
	}

	if b.Capacity > 0 && f.spec == "" {
		return b, fmt.Errorf("--max-keys needs --spec, such as %s", cli.Either(families.With(family.CanFold)))
	}
	b.Capacity = max(b.Capacity, f.form.capacity)
	if f.spec == "" {
		err = f.choose(c, &b)
	} else {
		err = f.name(c, &b)
	}
	if err != nil {
		return b, err
	}

	counted := b
	if b.Needs.ValueBits > 0 && b.Keys == 0 {
		counted.Keys = math.MaxUint64 // with values the command counts the keys before it makes a builder
	}
	return b, counted.Check()
}

func (f *buildFlags) name(c *cobra.Command, b *bloomery.Config) error {
	spec, kind, err := families.Parse(f.spec)
	if err != nil {
		return err
	}
	size := f.size
	b.FPR, size.FPR = size.FPR, 0 // beside another size it is the rate to keep
	if !size.IsZero() && family.GivenAny(spec, []string{"bits_per_key", "fpr", "bytes"}) {
		return fmt.Errorf("%s %s has a size already; leave out --bits-per-key and --bytes", cli.Typed(c, "spec"), spec)
	}
	if spec, err = f.effort.spec(c, kind, spec); err != nil {
		return err
	}
	if spec, err = f.form.spec(c, kind, spec); err != nil {
		return err
	}
	b.Spec = size.AddTo(spec).String()
	return nil
}

func (f *buildFlags) choose(c *cobra.Command, b *bloomery.Config) error {
	if f.hash.id != 0 {
		return fmt.Errorf(`--hash %s: filters of Parquet use it; add --spec "blocked(layout=split)"`, f.hash.id)
	}
	b.Needs = plan.Needs{FPR: f.size.FPR, BitsPerKey: f.size.BitsPerKey, Bytes: f.size.Bytes, Build: f.effort.Budget}
	if f.size.IsZero() {
		b.Needs.FPR = plan.DefaultFPR
	}
	if err := f.wishes.read(&b.Needs); err != nil {
		return err
	}
	if b.Needs.Adversarial && b.Hashing.Secret == nil {
		return errors.New("--needs adversarial: the hash function must be secret; give --secret-file FILE")
	}
	if err := f.effort.check(c); err != nil {
		return err
	}
	if f.effort.Level != "" {
		return fmt.Errorf("--effort needs --spec %s", cli.Either(families.With(family.CanSearch)))
	}
	return f.form.needs(c, &b.Needs)
}

// printChoice prints the choice of the planner, for a filter that is exact for a list or not.
func (a *app) printChoice(best plan.Choice, exact bool) {
	if a.quiet {
		return
	}

	fmt.Fprintf(a.stderr, "bloomery: chose %s: %s\n", best.Spec, best.Reason)
	of, form := formOf(best)
	switch {
	case exact:
		fmt.Fprintln(a.stderr, "  exact for the list of --allow: nothing can change later; to change it, build again")
	case form.Can.Has(family.CanAdd):
		can := form.Can & (family.CanAdd | family.CanRemove | family.CanCount | family.CanValues | family.CanMerge)
		full := ""
		if of.Bounded && !family.Given(best.Spec, "capacity") {
			can &^= family.CanAdd
			full = "\n  it has room for the keys of the build; --capacity N makes room for others"
		}
		fmt.Fprintf(a.stderr, "  later it can: %s%s\n", can, full)
	default:
		fmt.Fprintln(a.stderr, "  static: no key can be added; --needs add for that")
	}
	if form.Can.Has(family.CanValues) {
		later := "; put changes them"
		if exact {
			later = ""
		}
		fmt.Fprintf(a.stderr, "  values: behind a tab in each line of the input, else 0%s\n", later)
	}
	if best.Warning != "" {
		printWrapped(a.stderr, "but: "+best.Warning)
	}
}

// formOf returns the family and the form of a choice.
func formOf(c plan.Choice) (families.Family, family.Form) {
	f, err := families.ByName(c.Spec.Family())
	if err != nil {
		return f, family.Form{}
	}
	form, _ := f.Form(c.Spec)
	return f, form
}

// build builds a filter, or a sharded set if config has a Dir, and reports.
func (a *app) build(ctx context.Context, f *buildFlags, paths []string, config bloomery.Config) error {
	start := time.Now()
	set, err := a.gather(ctx, f, paths, config)
	if err != nil {
		return err
	}

	if m := set.Manifest(); m != nil {
		if err := set.Close(); err != nil {
			return err
		}
		return a.reportShards(f.output, m, start)
	}
	if err := a.save(ctx, set, f.output); err != nil {
		return err
	}

	r, err := written(set, f.output)
	if err != nil {
		return err
	}
	if r.Keys == 0 && r.Capacity <= 1 { // an empty filter with room for keys is intentional
		a.warn("there was no key in the input; the filter holds nothing")
	}
	return a.reportBuilt(f.output, f.like, "", r, start)
}

// reportBuilt reports a filter that was just built. like, if not empty, is the path of the filter that it was built
// like, and shards describes the shards.
func (a *app) reportBuilt(path, like, shards string, r report, start time.Time) error {
	a.warnRate(path, r.Info)
	if like != "" && r.Capacity > 0 && r.Keys > r.Capacity {
		a.warn("%s: %d keys, and the size of %s is for %d; soon they will have no room\n"+
			"  Build a new one with more room: --capacity N.", pathName(path), r.Keys, like, r.Capacity)
	}
	r.notes = a.keyNotes
	if r.ExceptionBits > 0 && r.Allowed == 0 {
		a.warn("--allow: there is no key in the list; the filter is exact for nothing")
	}

	rate := "false-positive rate " + stat.Percent(r.FPRPosterior)
	if r.ValuesOnly() {
		rate = "values without fingerprints: every key seems to be present"
	}

	exact := ""
	if r.ExceptionBits > 0 {
		exact = "\n  exact for the list: " + exceptionsText(r.Info)
	}
	return a.report(r, "%s: %s%s, %s, %s, in %.2f s%s", pathName(path), shards, keysText(r.Keys),
		sizeText(r.file.Bytes, r.Bits, r.Keys), rate, time.Since(start).Seconds(), exact)
}

// gather builds a set of all keys of the inputs, a sharded one if config has a Dir. It counts the keys first if the
// filter or the number of shards depends on them and they can be read twice.
func (a *app) gather(
	ctx context.Context, f *buildFlags, paths []string, config bloomery.Config,
) (*bloomery.Set, error) {
	sharded := config.Sharding.Dir != ""
	failed := a.allow(ctx, f.allow, f.in, &config)
	defer limitGarbage(&config)()
	in, parse, err := f.values.input(f.in, specAtBuild(config))
	if err != nil {
		return nil, err
	}

	s, err := a.source(in, paths)
	if err != nil {
		return nil, err
	}

	what := "reading"
	depends := config.Spec == "" || !sharded && parse == nil || sharded && config.Sharding.Shards == 0
	if s.Rewindable() && config.Like.Set == nil && depends {
		if config.Keys, err = s.count(ctx, parse); err != nil {
			return nil, err
		}
		if !sharded {
			what = "building"
		}
	}

	bar := a.later("building shards")
	defer bar.End()
	config.Building.Progress = bar.report
	b, err := bloomery.NewBuilder(ctx, config)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if !sharded {
		bar.what = building(b.Spec(), config.Like.Set != nil)
	}

	var set *bloomery.Set
	sample := newKeySample(in)
	if err = s.feed(ctx, what, parse, b.AddMany, b.AddManyValues, sample.look); err == nil {
		a.noteKeys(sample)
		set, err = b.Build(ctx)
		err = s.nameConflict(ctx, &in, parse, b.Hasher(), err)
	}
	if listErr := failed(); listErr != nil { // the list ended early, which the build cannot notice
		err = listErr
	}
	return set, a.listConflicts(f, adviseBuild(err, b.Spec(), ""))
}

// building returns the text of the progress bar after the last key. like is true for a filter built with --like.
func building(s filter.Spec, like bool) string {
	if f, err := families.ByName(s.Family()); like || err == nil && !f.Can.Has(family.CanSearch) {
		return "making the filter"
	}
	return "searching"
}
