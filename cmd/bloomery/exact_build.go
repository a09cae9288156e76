package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/keyio"
)

type exactBuildFlags struct {
	exactFlags
	output string
	seed   uint64
}

// register adds the flags that build and update share.
func (f *exactBuildFlags) register(c *cobra.Command) {
	f.exactFlags.register(c)
	outputFlag(c, &f.output)
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
		RunE: func(c *cobra.Command, _ []string) error { return a.exactBuild(c.Context(), &f) },
	}
	f.register(c)
	c.Flags().Uint64Var(&f.seed, "hash-seed", 0, "seed of the hash function")
	return c
}

// exactBuild builds the set, writes it and reports.
func (a *app) exactBuild(ctx context.Context, f *exactBuildFlags) error {
	start := time.Now()
	set, err := a.makeExact(ctx, f, func() (exact.Config, error) {
		secret, err := a.secret()
		return exact.Config{Seed: f.seed, Secret: secret, Partitioned: f.in.second != ""}, err
	}, (*exact.Builder).Build)
	if err != nil {
		return err
	}
	r := exactReportOf(set)
	a.warnNoUniverse(r.Universe)
	return a.report(r, "%s: %d members of %d keys, %s, %.4g bits a member (entropy %.4g), in %.2f s",
		pathName(f.output), r.Members, r.Universe, bytesText(r.Bytes), r.BitsPerMember(), r.EntropyPerMember(),
		time.Since(start).Seconds())
}

// makeExact makes a set of the keys of the lists and writes it. It checks the lists and the output before the work.
func (a *app) makeExact(ctx context.Context, f *exactBuildFlags, config func() (exact.Config, error),
	build func(*exact.Builder, context.Context) (*exact.Set, error)) (*exact.Set, error) {
	if err := cmp.Or(a.mayWriteExact(f.output), f.check()); err != nil {
		return nil, err
	}
	c, err := config()
	if err != nil {
		return nil, err
	}
	bar := a.later(func() string { return "building" })
	defer bar.End()
	c.Memory, c.TempDir, c.Progress = f.memory, f.tempDir, bar.report
	b, err := exact.NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	defer collectEarly(f.memory)()
	members, universe := b.AddMembersIn, b.AddUniverseIn
	if !c.Partitioned {
		members = func(_, keys [][]byte) error { return b.AddMembers(keys) }
		universe = func(_, keys [][]byte) error { return b.AddUniverse(keys) }
	}
	if err := a.readLists(ctx, &f.exactFlags, "reading ", members, universe); err != nil {
		return nil, err
	}
	set, err := build(b, ctx)
	var outside *exact.OutsideError
	if errors.As(err, &outside) && !slices.ContainsFunc(f.members, func(p string) bool { return p == stdio || isPipe(p) }) {
		// The lists are read again to name members. If that fails, the error names none.
		_ = a.pass(ctx, f.in, f.members, "naming keys", nil, func(b *keyio.Batch) error {
			outside.Name(f.in.partitions(b), b.Keys)
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	if f.output == stdio {
		_, err = set.WriteTo(a.stdout)
	} else {
		err = set.Save(ctx, f.output)
	}
	return set, err
}
