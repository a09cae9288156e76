package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/families"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
	"github.com/bloomery/bloomery/plan"
)

// buildFlags are those of bloomery build.
type buildFlags struct {
	in     inputFlags
	size   sizeFlags
	output string
	family string
	effort effortFlags
	form   formFlags
	memory memoryFlags
	hash   hashFlags
	wishes wishFlags
}

func (a *app) buildCommand() *cobra.Command {
	var f buildFlags
	c := &cobra.Command{
		Use:   "build -o FILE [INPUT...]",
		Short: "Build a filter file from lists of keys",
		Long: `Build a filter from the keys in the inputs, or in standard input, and write it to a file, all or nothing.
Without --family, bloomery plan chooses the smallest filter that does what --needs say, or with --for speed the fastest, and
says which: of what takes no more than ten seconds and a GiB, or --budget and --memory, to build, and of what no patent is known
to cover. Without a size its rate of false positives is 1%. Say --capacity if keys are added later, and --needs merge or remove
if filters are united or keys removed.

The family is standard, blocked, fuse, partitioned, blockpartitioned, twochoice, rankindexed, counting or dleft, or a full spec
such as "blocked(layout=split,bits_per_key=12)". Without a size the rate of false positives is 1%; fuse takes about 9 bits a key,
and partitioned, blockpartitioned and twochoice take 8. These search for what fits the keys, as long as --effort or --budget say.

A rankindexed, counting or dleft filter gives keys back: see add, remove and count, and put and get for values of rankindexed.
It takes as many as its --capacity, counting any number. A key that comes twice in the inputs is in rankindexed and dleft
once; with --counting they count how often each comes.

guava, bitsandblooms and redisbloom are filters of other systems, as is "blocked(layout=split)" with --hash xxh64, which is
Parquet's: bloomery convert writes their files.

Parameters of a spec, besides bits_per_key=, fpr= and bytes=:
  standard          k=, m=
  blocked           k=, blocks=, layout=line|split
  fuse              width=
  partitioned       later=, effort=, passes=, budget=, target=
  blockpartitioned  later=, effort=, passes=, budget=, block=512|1024
  twochoice         choices=2..16, k=, hashing=independent|double, search=anneal|greedy, effort=, passes=, budget=
  rankindexed       capacity=, counting=1, value_bits=1..32, growth=1..24 (how often it may double), overflow=, bucket=512, fast=1
  counting          k=, m= (counters of 4 bits)
  dleft             remainder=4..32, counting=1 (copies share a cell), capacity=, buckets=
  guava             k=, words=, strategy=32|64
  bitsandblooms     k=, m=
  redisbloom        capacity= (of the first filter of the chain), expansion= (0: it does not grow)`,
		Example: `  bloomery build -o words.bloom /usr/share/dict/words
  bloomery build -o sessions.bloom --needs remove,merge --capacity 1M sessions.txt
  bloomery build -o revoked.bloom --family fuse --fpr 0.001 revoked-*.txt.gz
  bloomery build -o users.bloom --bits-per-key 12 --input-format csv --column email users.csv
  bloomery build -o small.bloom --family partitioned --effort max --fpr 0.1% keys.txt
  bloomery build -o line.bloom --family blockpartitioned --bits-per-key 8 --budget 30s keys.txt
  bloomery build -o two.bloom --family "twochoice(choices=4,passes=100)" --bits-per-key 16 keys.txt
  bloomery build -o sessions.bloom --family rankindexed --capacity 10M sessions.txt
  bloomery build -o growing.bloom --family "rankindexed(fpr=0.01,growth=6)" sessions.txt
  bloomery build -o room.bloom --family "dleft(capacity=1000000)" --fpr 0.1% keys.txt
  bloomery build -o java.bloom --family guava --fpr 0.1% keys.txt && bloomery convert java.bloom -o keys.guava
  bloomery build -o large.bloom --family partitioned --memory 1GiB large.txt
  zcat huge.gz | bloomery build -o huge.bloom --family blocked --bytes 64MiB`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := mayReplace(f.output); err != nil {
				return err
			}
			r, err := a.recipe(c, &f)
			if err != nil {
				return err
			}
			return a.build(c.Context(), &f, args, r)
		},
	}
	f.in.register(c)
	f.size.register(c)
	c.Flags().StringVarP(&f.output, "output", "o", "", "file to write")
	c.Flags().StringVar(&f.family, "family", "", "family of the filter, or a spec (default: what bloomery plan chooses)")
	f.effort.register(c)
	f.form.register(c)
	f.memory.register(c)
	f.hash.register(c)
	f.wishes.register(c)
	c.MarkFlagsMutuallyExclusive("family", "needs")
	c.MarkFlagsMutuallyExclusive("family", "for")
	var names []string
	for _, family := range families.All() {
		names = append(names, family.Name)
	}
	_ = c.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// recipe is what is built.
type recipe struct {
	// pick returns the spec, when the number of keys is known.
	pick   func(ctx context.Context, keys uint64) (filter.Spec, error)
	family families.Family // that of the spec; none if the plan will choose
	hasher filter.Hasher
}

// recipe reads the flags, before any key is read.
func (a *app) recipe(c *cobra.Command, f *buildFlags) (recipe, error) {
	sizing, err := f.size.sizing(c)
	if err != nil {
		return recipe{}, err
	}
	if err := f.memory.parse(c); err != nil {
		return recipe{}, err
	}
	secret, err := a.secret()
	if err != nil {
		return recipe{}, err
	}
	if f.family == "" {
		return a.chosen(c, f, sizing, secret)
	}
	spec, err := filter.ParseSpec(f.family)
	if err != nil {
		return recipe{}, err
	}
	if !sizing.IsZero() && (spec.Has("bits_per_key") || spec.Has("fpr") || spec.Has("bytes")) {
		return recipe{}, fmt.Errorf("--family %s has a size already; leave out --bits-per-key, --fpr and --bytes", spec)
	}
	if spec, err = f.effort.spec(c, spec); err != nil {
		return recipe{}, err
	}
	if spec, err = f.form.spec(c, spec); err != nil {
		return recipe{}, err
	}
	spec = plan.WithSize(spec, sizing)
	r := recipe{pick: func(context.Context, uint64) (filter.Spec, error) { return spec, nil }}
	if r.hasher, err = f.hash.hasher(c, spec, secret); err != nil {
		return recipe{}, err
	}
	if r.family, err = families.ByName(spec.Family()); err != nil {
		return recipe{}, err
	}
	if err := r.family.Check(spec); err != nil {
		return recipe{}, err
	}
	return r, nil
}

func (a *app) build(ctx context.Context, flags *buildFlags, paths []string, r recipe) error {
	start := time.Now()
	var spec filter.Spec
	var f filter.Filter
	var err error
	if r.family.Can.Has(filter.CanRawKeys) {
		if spec, err = r.pick(ctx, 0); err != nil {
			return err
		}
		f, err = a.collectKeys(ctx, flags.in, paths, spec, r.family)
	} else {
		f, err = a.collect(ctx, flags.in, paths, r.hasher, flags.memory, func(keys uint64) (filter.Builder, string, error) {
			var err error
			if spec, err = r.pick(ctx, keys); err != nil {
				return nil, "", err
			}
			family, err := families.ByName(spec.Family())
			if err != nil {
				return nil, "", err
			}
			b, err := family.NewBuilder(spec, keys)
			if err != nil {
				return nil, "", err
			}
			flags.memory.limit(b)
			if family.Can.Has(filter.CanSearch) {
				return b, "searching", nil
			}
			return b, "making the filter", nil
		})
	}
	if errors.Is(err, filter.ErrFull) {
		return fullBuild(err, spec)
	}
	if err != nil {
		return err
	}
	if err := container.WriteFile(ctx, flags.output, f, r.hasher); err != nil {
		return err
	}
	if i := f.Info(); i.Keys == 0 && i.Capacity <= 1 { // one with room for some is meant to be empty
		fmt.Fprintln(a.stderr, "bloomery: warning: there was no key in the input; the filter holds nothing")
	}
	if a.quiet {
		return nil
	}
	made, err := a.report(flags.output)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(made)
	}
	fmt.Fprintf(a.stderr, "%s: %d keys, %s, %.4g bits a key, false positive rate %.4g, in %.2f s\n",
		flags.output, made.Keys, bytesText(made.FileBytes), made.BitsPerKey, made.FPRPosterior, time.Since(start).Seconds())
	return nil
}

// starter returns a builder for a number of keys, and what its Build does.
type starter func(keys uint64) (filter.Builder, string, error)

// collect counts the keys, starts a builder for that many, gives it all of them and has it finish, for which progress has the
// word that start returns. What can be read only once is kept as hashes in between.
func (a *app) collect(ctx context.Context, in inputFlags, paths []string, hasher filter.Hasher, memory memoryFlags, start starter) (filter.Filter, error) {
	n, again, err := a.count(ctx, in, paths)
	if err != nil {
		return nil, err
	}
	if !again {
		return a.collectOnce(ctx, in, paths, hasher, memory, start)
	}
	b, last, err := start(n)
	if err != nil {
		return nil, err
	}
	defer drop(b)
	input, p, err := a.follow(in, paths, "building")
	if err != nil {
		return nil, err
	}
	err = hashAll(ctx, input, hasher, p, b.AddMany)
	p.end()
	if err != nil {
		return nil, err
	}
	return a.finish(ctx, b, last)
}

// count returns the number of keys, or false without having read any if they can be read only once.
func (a *app) count(ctx context.Context, in inputFlags, paths []string) (uint64, bool, error) {
	input, p, err := a.follow(in, paths, "counting")
	if err != nil {
		return 0, false, err
	}
	defer p.end()
	if !input.Rewindable() {
		return 0, false, nil
	}
	n, err := input.Count(ctx)
	return n, true, err
}

func (a *app) collectOnce(ctx context.Context, in inputFlags, paths []string, hasher filter.Hasher, memory memoryFlags, start starter) (filter.Filter, error) {
	input, p, err := a.follow(in, paths, "reading")
	if err != nil {
		return nil, err
	}
	limit := int64(keyio.DefaultSpoolMemory)
	if memory.memory != "" {
		limit = memory.bytes
	}
	spool := keyio.NewSpool(limit, memory.dir)
	defer spool.Close()
	err = hashAll(ctx, input, hasher, p, spool.Add)
	p.end()
	if err != nil {
		return nil, err
	}
	b, last, err := start(spool.Len())
	if err != nil {
		return nil, err
	}
	defer drop(b)
	if err := spool.Each(ctx, b.AddMany); err != nil {
		return nil, err
	}
	return a.finish(ctx, b, last)
}

// drop removes what a builder holds on disk, if it did not come to Build.
func drop(b filter.Builder) {
	if s, ok := b.(filter.Spiller); ok {
		_ = s.Close()
	}
}

// hashAll hashes all keys on all cores and gives the hashes to take, from several goroutines.
func hashAll(ctx context.Context, input *keyio.Input, hasher filter.Hasher, p *progress, take func([]filter.Hash) error) error {
	return input.Process(ctx, 0, func(_ int, b *keyio.Batch) error {
		for _, k := range b.Keys {
			b.Hashes = append(b.Hashes, hasher.Sum(k))
		}
		p.keys.Add(int64(len(b.Keys)))
		return take(b.Hashes)
	}, nil)
}
