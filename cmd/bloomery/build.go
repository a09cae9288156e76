package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/families"
	"github.com/bloomery/bloomery/internal/family"
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
		Long:  buildHelp + "\n\n" + familyHelp(),
		Example: `  bloomery build -o words.bloom words.txt
  bloomery build -o sessions.bloom --needs remove,merge --capacity 1M sessions.txt
  bloomery build -o revoked.bloom --fpr 0.001 revoked-*.txt.gz
  bloomery build -o users.bloom --bits-per-key 12 --input-format csv --column email users.csv
  bloomery build -o small.bloom --spec partitioned --effort max --fpr 0.1% keys.txt
  bloomery build -o growing.bloom --spec "rankindexed(fpr=0.01,growth=6)" sessions.txt
  bloomery build -o countries.bloom --spec ribbon --value-bits 8 addresses.tsv
  bloomery build -o java.bloom --spec guava --fpr 0.1% keys.txt && bloomery convert java.bloom -o keys.guava
  zcat huge.gz | bloomery build -o huge.bloom --spec blocked --bytes 64MiB
  bloomery build -o large.set --shards 16 --spec blocked large.txt
  bloomery build -o next.bloom --like small.bloom keys.txt
  bloomery build -o blocklist.bloom --spec standard --allow allowed.txt blocklist.txt`,
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
	f.register(c, "ribbon, or what --needs asks for")
	outputFlag(c, &f.output)
	c.Flags().StringVar(&f.like, "like", "",
		"filter `file` or sharded set of a similar list: its size, hash function and rate, no search; few bits differ")
	memoryFlags(c, &f.config.Building.Memory, &f.config.Building.TempDir, oneFile)
	f.allow.register(c)
	shrinkFlag(c, &f.config.Like.Shrink, "with --like at most half, never all")
	shardsFlag(c, &f.shards,
		"write a sharded set to the folder -o DIR: number of shards, or auto for one per 4 million keys")
	complete(c, "shards", "auto")
	for _, name := range fixedByLike {
		c.MarkFlagsMutuallyExclusive("like", name)
	}
	return c
}

// register adds the flags that describe a filter. normal is the default of --spec.
func (f *buildFlags) register(c *cobra.Command, normal string) {
	f.in.register(c)
	f.values.register(c)
	sizeFlags(c, &f.size)
	maxFPRFlag(c, &f.config.Limits.FPR)
	c.Flags().StringVar(&f.spec, "spec", "", "family of the filter, or a spec (default: "+normal+")")
	cli.Alias(c, "family", "spec")
	f.effort.register(c)
	f.form.register(c)
	f.hash.register(c)
	f.wishes.register(c)
	c.MarkFlagsMutuallyExclusive("spec", "needs")
	c.MarkFlagsMutuallyExclusive("spec", "for")
	complete(c, "spec", families.Names()...)
}

const buildHelp = `Build a filter from the keys in the inputs, or in standard input, and write it to a file, all or
nothing, or with -o - to standard output.

Without --spec the filter is of the first of these families that does what you need, at any number of keys:

  ribbon                    nothing else: a static filter, to which no key can be added
  standard                  --needs add, --capacity, --needs merge
  blocked                   --needs line
  rankindexed               --needs remove, --counting, --value-bits
  counting                  --needs remove,merge

The choice is printed, with what the filter can do later. Filters with a known patent are never chosen. --for size and
--for speed take the first filter in the order of bloomery plan instead. Without a size the false-positive rate is 1%.
Below a rate of 2^-32, and above 33 bits per key, ribbon is replaced by the smallest of the others.

With --spec the filter is of that family, with its default size, or what a full spec says, such as
"blocked(layout=split,bits_per_key=12)". A size that the family cannot use is an error. --effort and --budget say how
long the families with a search search. Duplicate keys count once or every time, depending on the family; with
--counting the filter counts how often each key comes.

The rate that you choose is stored in the file: --fpr, or the rate that follows from --bits-per-key. The commands
that change or describe the filter warn if its rate has left the chosen one.

With --value-bits 8 a build reads lines such as "10.0.0.1<TAB>3", as put does, or with --input-format csv or tsv a
--value-column, by default the second one. A key may come again with the same value only. bloomery get prints the
values. Values of rankindexed can change (put), keys that look alike share one, and without values in the inputs all are
0. Values of ribbon cannot change, are always right, and every key needs one. "ribbon(r=0)" stores values without
fingerprints: every key then seems to be present, and a key that was not in the input has an arbitrary value.

Keys of any bytes come as lines of hexadecimal digits, --input-format hex: an integer as the 16 digits of its eight
bytes, little endian. A value and the tab before it are then part of the digits.

A list without keys makes an empty filter, with a warning; with --like it is refused. Inputs that are regular files are
read twice, the first time to count the keys; if they change in between, nothing is written. Of others the hashes of all
keys are kept, beyond --memory or 64 MiB in a temporary file. For bitsandblooms these are the keys themselves.

With --like OLD the new filter has size, hash function, chosen rate and form (see trim) of OLD, and what a search has
chosen for OLD stays. For a list that changes little few bits then differ, so that a small file brings a copy of OLD up
to date (bloomery diff, bloomery publish). Nothing is searched again: the rate rises as keys change. Make room for that
in the first build: --spec "partitioned(fpr=0.01,later=8000)", or --capacity, and build anew when a warning says so.
OLD may be a sharded set, and -o may name it. All bits of ribbon and fuse change with their keys. Nothing is written if
the new filter has less than half of the keys of OLD, or of its --allow list: --shrink allows it.

With --allow the filter is exact for a list of allowed keys, such as popular domains for a blocklist: no key of the list
is found. Each false positive among them costs about 1.44·log2(keys / exceptions) + 4.4 bits. No key can be added to
the filter or removed: build it again. A key of the list that is also in the inputs is an error. Hashes of all keys stay
in memory up to --memory, by default 64 MiB, then in a temporary file.

With --shards the output is a sharded set: a folder with one filter file per shard and manifest.json, for sets that are
larger than the memory of a build or that are built on many machines (bloomery shard). Other commands take the folder in
place of a file. Sizes and rates are for the whole set. Inputs are read once, except with auto or without --spec.
Hashes of keys stay in memory up to half of --memory, by default 1 GiB, then in a temporary file. An existing set is
replaced when the new one is complete.`

func familyHelp() string {
	var b strings.Builder
	b.WriteString("Families and the parameters of their specs, besides bits_per_key=, fpr= and bytes=:\n")
	for _, f := range families.All() {
		fmt.Fprintf(&b, "\n  %s: %s\n", f.Name, f.Summary)
		fmt.Fprintf(&b, "    %-27s  %s\n", "without a size", f.Default)
		for _, p := range f.Parameters {
			fmt.Fprintf(&b, "    %-27s  %s\n", p.Name+"="+p.Value, p.Help)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// buildConfig returns the checked Config of the flags. It reads no keys.
func (a *app) buildConfig(c *cobra.Command, f *buildFlags) (b bloomery.Config, err error) {
	b = f.config
	b.Hashing.Seed, b.Hashing.ID = f.hash.seed, f.hash.id
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

	b.Capacity = f.form.capacity
	if f.spec == "" {
		err = f.choose(c, &b)
	} else {
		err = f.name(c, &b)
	}
	if err != nil {
		return b, err
	}
	return b, b.Check()
}

func (f *buildFlags) name(c *cobra.Command, b *bloomery.Config) error {
	spec, err := filter.ParseSpec(f.spec)
	if err != nil {
		return err
	}

	kind, err := families.ByName(spec.Family())
	if err != nil {
		return err
	}
	if !f.size.IsZero() && family.GivenAny(spec, []string{"bits_per_key", "fpr", "bytes"}) {
		return fmt.Errorf("%s %s has a size already; leave out --bits-per-key, --fpr and --bytes",
			cli.Typed(c, "spec"), spec)
	}
	if spec, err = f.effort.spec(c, kind, spec); err != nil {
		return err
	}
	if spec, err = f.form.spec(c, kind, spec); err != nil {
		return err
	}
	b.Spec = f.size.AddTo(spec).String()
	return nil
}

func (f *buildFlags) choose(c *cobra.Command, b *bloomery.Config) error {
	if f.hash.id != 0 {
		return fmt.Errorf(`--hash %s: that of filters of Parquet; add --spec "blocked(layout=split)"`, f.hash.id)
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
		fmt.Fprintln(a.stderr, "  exact for the list of --allow: nothing can change later; build it again for that")
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
		fmt.Fprintf(a.stderr, "  but: %s\n", best.Warning)
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
	if r.ExceptionBits > 0 && r.Allowed == 0 {
		a.warn("--allow: there is no key in the list; the filter is exact for nothing")
	}

	rate := fmt.Sprintf("false positive rate %.4g", r.FPRPosterior)
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
	if err = s.feed(ctx, what, parse, b.AddMany, b.AddManyValues); err == nil {
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
