package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/keyio"
)

func (a *app) exactBuildCommand() *cobra.Command {
	var f exactFlags
	c := &cobra.Command{
		Use:   "build -o FILE --members LIST --universe LIST",
		Short: "Build an exact set from its members and the universe",
		Long: `A member outside --universe is an error. The same keys give the same bytes, in any order. A key takes 16
bytes of memory during the build, and a member 32.

--partition-column makes the file smaller if the density of members differs, by issuer or by day. A key in two
partitions is two keys.`,
		Example: `  bloomery exact build -o revoked.exact \
    --members revoked.txt --universe issued.txt
  bloomery exact build -o parts.exact --input-format csv --column serial \
    --partition-column issuer --members revoked.csv --universe issued.csv
  zcat seen.gz | bloomery exact build -o bots.exact --memory 1GiB \
    --members bots.txt --universe -`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.exactBuild(c.Context(), &f) },
	}
	f.register(c)
	outputFlag(c, &f.output)
	return c
}

func (a *app) exactBuild(ctx context.Context, f *exactFlags) error {
	start := time.Now()
	set, err := a.makeExact(ctx, f, func() (exact.Config, error) {
		secret, err := a.secret()
		return exact.Config{Secret: secret, Partitioned: f.in.second != ""}, err
	})
	if err != nil {
		return err
	}

	r := set.Info()
	a.warnNoUniverse(r.Universe)
	return a.report(exactReport{r}, "%s: %d members of %d keys, %s, %.4g bits per member (entropy %.4g), in %.2f s",
		pathName(f.output), r.Members, r.Universe, bytesText(r.Bytes), r.BitsPerMember, r.EntropyPerMember,
		time.Since(start).Seconds())
}

// makeExact makes a set of the keys of the lists and writes it. It checks the lists and the output before the work.
func (a *app) makeExact(
	ctx context.Context, f *exactFlags, config func() (exact.Config, error),
) (*exact.Set, error) {
	if err := a.mayWriteExact(f.output); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}

	c, err := config()
	if err != nil {
		return nil, err
	}

	bar := a.later("building")
	defer bar.End()
	c.Memory, c.TempDir, c.Progress = f.memory, f.tempDir, bar.report
	b, err := exact.NewBuilder(c)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	defer collectEarly(f.memory)()
	if err := a.readLists(ctx, f, "reading ", b.AddMembers, b.AddUniverse); err != nil {
		return nil, err
	}

	set, err := b.Build(ctx)
	var outside *exact.OutsideError
	once := func(path string) bool { return path == stdio || isPipe(path) }
	if errors.As(err, &outside) && !slices.ContainsFunc(f.members, once) {
		// Read the lists again to name members. If that fails, the error names none.
		_ = a.pass(ctx, f.in, f.members, "naming keys", nil, func(b *keyio.Batch) error {
			outside.Name(b.Keys, b.Second...)
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

func (a *app) exactUpdateCommand() *cobra.Command {
	var f exactFlags
	c := &cobra.Command{
		Use:   "update -o NEW --base OLD --members LIST --universe LIST",
		Short: "Append what has changed since a set was built",
		Long: `NEW has the bytes of OLD and an update, with right answers for all keys of the new lists. Each change
takes about log2(U/changes) + 2 bits for U keys of the universe, an update 30 to 50 bytes more. NEW may be OLD. After
100 updates, or a third of the size, the report proposes a new build; 255 are the limit.`,
		Example: `  bloomery exact update -o tuesday.exact --base monday.exact \
    --members revoked.txt --universe issued.txt
  bloomery diff monday.exact tuesday.exact -o tuesday.delta`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.exactUpdate(c.Context(), &f) },
	}
	f.register(c)
	outputFlag(c, &f.output)
	shrinkFlag(c, &f.shrink, "10% of the members")
	c.Flags().StringVar(&f.base, "base", "", "`OLD`: set to update, or -")
	_ = c.MarkFlagRequired("base")
	return c
}

func (a *app) exactUpdate(ctx context.Context, f *exactFlags) error {
	set, err := a.makeExact(ctx, f, func() (c exact.Config, err error) {
		c.Shrink = f.shrink
		if c.Base, err = a.openExact(f.base); err != nil {
			return c, err
		}
		return c, f.in.fitsPartitions(c.Base, pathName(f.base))
	})
	switch {
	case errors.Is(err, exact.ErrUpdates):
		return cli.Advise(err, "bloomery exact build -o FILE --members LIST --universe LIST")
	case errors.Is(err, filter.ErrShrunk):
		return fmt.Errorf("%s: %w", pathName(f.base), err)
	case err != nil:
		return err
	}

	info := set.Info()
	a.warnNoUniverse(info.Universe)
	return a.printUpdated(pathName(f.output), info)
}

func (a *app) printUpdated(path string, i exact.Info) error {
	u, method := i.Changed, "set"
	switch {
	case u.Positions:
		method = "positions"
	case u.Bytes == 0:
		method = "none"
	}

	r := object{
		{"members", i.Members}, {"universe", i.Universe}, {"added", u.Added}, {"removed", u.Removed}, {"method", method},
		{"bytes", u.Bytes}, {"entropy_bytes", uint64(u.Entropy+7) / 8}, {"updates", i.Updates},
		{"update_bytes", i.UpdateBytes}, // of all updates
		{"file_bytes", i.Bytes}, {"build_due,omitempty", i.BuildDue},
	}
	if u.Bytes == 0 {
		return a.report(r, "%s: nothing has changed", path)
	}

	due := ""
	if i.BuildDue != "" {
		due = "\nbloomery: a full build is due, by exact build: " + i.BuildDue
	}
	return a.report(r, "%s: %d added, %d removed of %d keys by an update of %s, method %s; %s, updates: %d%s",
		path, u.Added, u.Removed, i.Universe, bytesText(u.Bytes), method, bytesText(i.Bytes), i.Updates, due)
}
