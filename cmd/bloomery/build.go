package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/container"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/keyio"
	"github.com/bloomery/bloomery/plan"
)

func (a *app) buildCommand() *cobra.Command {
	var (
		in     inputFlags
		size   sizeFlags
		output string
		family string
		effort effortFlags
		form   formFlags
		memory memoryFlags
		hash   hashFlags
	)
	c := &cobra.Command{
		Use:   "build -o FILE [INPUT...]",
		Short: "Build a filter file from lists of keys",
		Long: `Build a filter from the keys in the inputs, or in standard input, and write it to a file, all or nothing.
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
			if err := mayReplace(output); err != nil {
				return err
			}
			sizing, err := size.sizing(c)
			if err != nil {
				return err
			}
			spec, err := filter.ParseSpec(family)
			if err != nil {
				return err
			}
			if !sizing.IsZero() && (spec.Has("bits_per_key") || spec.Has("fpr") || spec.Has("bytes")) {
				return fmt.Errorf("--family %s has a size already; leave out --bits-per-key, --fpr and --bytes", spec)
			}
			if spec, err = effort.spec(c, spec); err != nil {
				return err
			}
			if spec, err = form.spec(c, spec); err != nil {
				return err
			}
			if err := memory.parse(c); err != nil {
				return err
			}
			secret, err := a.secret()
			if err != nil {
				return err
			}
			hasher, err := hash.hasher(c, spec, secret)
			if err != nil {
				return err
			}
			return a.build(c.Context(), in, args, plan.WithSize(spec, sizing), hasher, output, memory)
		},
	}
	in.register(c)
	size.register(c)
	c.Flags().StringVarP(&output, "output", "o", "", "file to write")
	c.Flags().StringVar(&family, "family", "standard", "family of the filter, or a spec")
	effort.register(c)
	form.register(c)
	memory.register(c)
	hash.register(c)
	var names []string
	for _, f := range container.Families() {
		names = append(names, f.Name)
	}
	_ = c.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) build(ctx context.Context, in inputFlags, paths []string, spec filter.Spec, hasher filter.Hasher, output string, memory memoryFlags) error {
	start := time.Now()
	family, err := container.FamilyByName(spec.Family())
	if err != nil {
		return err
	}
	if err := family.Check(spec); err != nil { // before any key is read
		return err
	}
	if memory.memory != "" {
		if err := spills(family, spec); err != nil {
			return fmt.Errorf("--memory %s: %w", memory.memory, err)
		}
	}
	last := "searching"
	if !family.Searched {
		last = "making the filter"
	}
	var f filter.Filter
	if family.Keyed {
		f, err = a.collectKeys(ctx, in, paths, spec, family)
	} else {
		f, err = a.collect(ctx, in, paths, hasher, memory, last, func(keys uint64) (filter.Builder, error) {
			b, err := family.NewBuilder(spec, keys)
			if err == nil {
				memory.limit(b)
			}
			return b, err
		})
	}
	if errors.Is(err, filter.ErrFull) {
		return fullBuild(err, spec)
	}
	if err != nil {
		return err
	}
	if err := container.WriteFile(ctx, output, f, hasher); err != nil {
		return err
	}
	if i := f.Info(); i.Keys == 0 && i.Capacity <= 1 { // one with room for some is meant to be empty
		fmt.Fprintln(a.stderr, "bloomery: warning: there was no key in the input; the filter holds nothing")
	}
	if a.quiet {
		return nil
	}
	r, err := a.report(output)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	fmt.Fprintf(a.stderr, "%s: %d keys, %s, %.4g bits a key, false positive rate %.4g, in %.2f s\n",
		output, r.Keys, bytesText(r.FileBytes), r.BitsPerKey, r.FPRPosterior, time.Since(start).Seconds())
	return nil
}

// collect counts the keys, starts a builder for that many, gives it all of them and has it finish, which progress calls last. What can be read only once is kept as
// hashes in between.
func (a *app) collect(ctx context.Context, in inputFlags, paths []string, hasher filter.Hasher, memory memoryFlags, last string, start func(uint64) (filter.Builder, error)) (filter.Filter, error) {
	n, again, err := a.count(ctx, in, paths)
	if err != nil {
		return nil, err
	}
	if !again {
		return a.collectOnce(ctx, in, paths, hasher, memory, last, start)
	}
	b, err := start(n)
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

func (a *app) collectOnce(ctx context.Context, in inputFlags, paths []string, hasher filter.Hasher, memory memoryFlags, last string, start func(uint64) (filter.Builder, error)) (filter.Filter, error) {
	input, p, err := a.follow(in, paths, "reading")
	if err != nil {
		return nil, err
	}
	limit := int64(keyio.DefaultSpoolMemory)
	if memory.bytes != 0 {
		limit = memory.bytes
	}
	spool := keyio.NewSpool(limit, memory.dir)
	defer spool.Close()
	err = hashAll(ctx, input, hasher, p, spool.Add)
	p.end()
	if err != nil {
		return nil, err
	}
	b, err := start(spool.Len())
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
