package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/keyio"
)

// exactMemory is the default of exact build --memory, and of exact verify.
const exactMemory = 2 << 30

// exactBuildFlags are the flags of bloomery exact build.
type exactBuildFlags struct {
	in     inputFlags
	lists  exactLists
	output string
	seed   uint64
	memory memoryFlags
	limit  int64 // of memory, in bytes
}

// register adds the flags that build and update share.
func (f *exactBuildFlags) register(c *cobra.Command) {
	f.in.register(c)
	f.in.partitionFlag(c)
	f.lists.register(c)
	c.Flags().StringVarP(&f.output, "output", "o", "", "file to write, - for standard output")
	registerExactMemory(c, &f.memory)
}

// read reads the memory limit, and returns an error if the output cannot be written.
func (f *exactBuildFlags) read(a *app, c *cobra.Command) (err error) {
	if f.limit, err = exactLimit(c, &f.memory); err != nil {
		return err
	}
	return a.mayWriteExact(f.output)
}

func (a *app) exactBuildCommand() *cobra.Command {
	var f exactBuildFlags
	c := &cobra.Command{
		Use:   "build -o FILE --members LIST --universe LIST",
		Short: "Build an exact set from its members and the universe",
		Long: `Build an exact set and write it to a file, all or nothing, or with -o - to standard output. --universe
names lists with all keys that will ever be asked for, the members too: a member that is in none of them is an error,
and nothing is written. Duplicates count once, and the order of keys does not matter: the same keys give the same bytes.

With --partition-column both lists are csv or tsv and have that column. The same key in two partitions is two keys.

The file takes about log2(U/R) + 1.9 bits a member for R members in a universe of U keys, if R is a small part of U.
Keys outside of the universe get an answer that means nothing; exact info says how often it is yes.

A key of the universe takes 16 bytes of memory while the set is built, and a member 32; beyond --memory they go to
temporary files. Each list is read once. It may be a pipe; then the error about members that are not in the universe
names none of them.`,
		Example: `  bloomery exact build -o revoked.exact --members revoked.txt --universe issued.txt
  bloomery exact build -o parts.exact --members revoked.csv --universe issued.csv ` +
			`--input-format csv --column serial --partition-column issuer
  zcat seen.gz | bloomery exact build -o bots.exact --members bots.txt --universe - --memory 1GiB`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.read(a, c); err != nil {
				return err
			}
			return a.exactBuild(c.Context(), &f)
		},
	}
	f.register(c)
	c.Flags().Uint64Var(&f.seed, "hash-seed", 0, "seed of the hash function")
	return c
}

// registerExactMemory registers the flags for memory, with the default of exact sets.
func registerExactMemory(c *cobra.Command, f *memoryFlags) {
	f.register(c)
	c.Flags().Lookup("memory").Usage = "most bytes of key hashes in memory, such as 512MiB; " +
		"the others go to temporary files (default 2GiB)"
}

// exactLimit returns the limit of memory in bytes.
func exactLimit(c *cobra.Command, f *memoryFlags) (int64, error) {
	if !c.Flags().Changed("memory") {
		return exactMemory, nil
	}
	return f.read(c)
}

// exactBuild builds the set, writes it and reports.
func (a *app) exactBuild(ctx context.Context, f *exactBuildFlags) error {
	start := time.Now()
	if err := f.lists.check(); err != nil {
		return err
	}
	set, err := a.exactSet(ctx, f)
	if err != nil {
		return err
	}
	if err := a.saveExact(ctx, set, f.output); err != nil {
		return err
	}
	r := exactReportOf(set)
	a.warnNoUniverse(r.Universe)
	return a.report(r, "%s: %d members of %d keys, %s, %.4g bits a member (entropy %.4g), in %.2f s",
		pathName(f.output), r.Members, r.Universe, bytesText(r.FileBytes), r.BitsPerMember, r.EntropyPerMember,
		time.Since(start).Seconds())
}

// saveExact writes a set to a file or to standard output.
func (a *app) saveExact(ctx context.Context, set *exact.Set, output string) error {
	if output == stdio {
		_, err := set.WriteTo(a.stdout)
		return err
	}
	return set.Save(ctx, output)
}

// exactSet builds the set.
func (a *app) exactSet(ctx context.Context, f *exactBuildFlags) (set *exact.Set, err error) {
	secret, err := a.secret()
	if err != nil {
		return nil, err
	}
	c := exact.Config{Seed: f.seed, Secret: secret, Partitioned: f.in.second != ""}
	err = a.gatherExact(ctx, f, c, func(b *exact.Builder) error {
		set, err = b.Build(ctx)
		return err
	})
	return set, err
}

// gatherExact calls build with a Builder that has all keys of the lists.
func (a *app) gatherExact(
	ctx context.Context, f *exactBuildFlags, c exact.Config, build func(*exact.Builder) error,
) error {
	bar := a.later(func() string { return "building" })
	defer bar.End()
	c.Memory, c.TempDir, c.Progress = f.limit, f.memory.dir, bar.report
	b, err := exact.NewBuilder(c)
	if err != nil {
		return err
	}
	defer b.Close()
	defer collectEarly(f.limit)()
	add := [2]func(partitions, keys [][]byte) error{b.AddMembersIn, b.AddUniverseIn}
	if f.in.second == "" {
		add = [2]func(partitions, keys [][]byte) error{
			func(_, keys [][]byte) error { return b.AddMembers(keys) },
			func(_, keys [][]byte) error { return b.AddUniverse(keys) },
		}
	}
	for i, paths := range [][]string{f.lists.members, f.lists.universe} {
		what := [2]string{"reading members", "reading universe"}[i]
		err := a.pass(ctx, f.in, paths, what, func(b *keyio.Batch) error {
			return add[i](b.Second, b.Keys)
		}, nil)
		if err != nil {
			return err
		}
	}
	err = build(b)
	var outside *exact.OutsideError
	if errors.As(err, &outside) {
		a.nameOutside(ctx, f, outside)
	}
	return err
}

// nameOutside adds some of the members that are not in the universe to the error, if the lists can be read again.
func (a *app) nameOutside(ctx context.Context, f *exactBuildFlags, e *exact.OutsideError) {
	for _, path := range f.lists.members {
		if path == stdio || isPipe(path) {
			return
		}
	}
	// If the list cannot be read again, the error names no keys.
	_ = a.pass(ctx, f.in, f.lists.members, "naming keys", func(*keyio.Batch) error { return nil },
		func(b *keyio.Batch) error {
			var partitions [][]byte
			if f.in.second != "" {
				partitions = b.Second
			}
			e.Name(partitions, b.Keys)
			return nil
		})
}
