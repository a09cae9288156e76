package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/exact"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
)

// exactUpdateFlags are the flags of bloomery exact update: those of exact build, and the file to update.
type exactUpdateFlags struct {
	exactBuildFlags
	base   string
	shrink float64 // of the keys may be lost, 0 for the default
}

func (a *app) exactUpdateCommand() *cobra.Command {
	var f exactUpdateFlags
	c := &cobra.Command{
		Use:   "update -o NEW --base OLD --members LIST --universe LIST",
		Short: "Append what has changed since a set was built",
		Long: `Write NEW: the bytes of OLD, followed by one update with the keys whose answer changes. --members and
--universe name the lists as they are now, as for exact build; the answers of NEW are right for all keys of this
universe. Removed members, new ones, and new keys that OLD answers wrongly cost about log2(U/changes) + 2 bits each, and
the update 30 to 50 bytes besides. Keys that left the universe cost nothing. If nothing has changed, NEW is OLD. NEW may
be the same file as OLD.

A list that was cut would take away members without an error. So nothing is written if NEW would have less than 90% of
the members of OLD, or fewer keys in the universe. If that is meant, because certificates expire faster than new ones
are issued, --shrink=P% allows to lose up to that part of both, and --shrink everything. Only the numbers are compared,
since a set does not have the keys of its universe; the report says how many members were removed.

bloomery diff, publish and follow ship only what was appended. OLD may have updates already, at most 255. Each makes
queries a little slower. When the updates take a third of the bytes of the base, or are 100, the report says that a full
build is due: bloomery exact build.`,
		Example: "  bloomery exact update -o tuesday.exact --base monday.exact --members revoked.txt " +
			"--universe issued.txt\n" +
			"  bloomery diff monday.exact tuesday.exact -o tuesday.delta",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.exactUpdate(c.Context(), &f) },
	}
	f.register(c)
	shrinkFlag(c, &f.shrink, "10% of the members, and no key of the universe")
	c.Flags().StringVar(&f.base, "base", "", "exact set to update, - for standard input")
	_ = c.MarkFlagRequired("base")
	return c
}

// exactUpdate updates the set, writes it and reports.
func (a *app) exactUpdate(ctx context.Context, f *exactUpdateFlags) error {
	var old *exact.Set
	var u exact.Updated
	set, err := a.makeExact(ctx, &f.exactBuildFlags, func() (c exact.Config, err error) {
		if old, err = a.openExact(f.base); err != nil {
			return c, err
		}
		return old.Config(exact.Config{Shrink: f.shrink}), f.in.fitsPartitions(old, pathName(f.base))
	}, func(b *exact.Builder, ctx context.Context) (set *exact.Set, err error) {
		set, u, err = b.Update(ctx, old)
		return set, err
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
	return a.printUpdated(pathName(f.output), info, u)
}

// printUpdated prints the report of exact update.
func (a *app) printUpdated(path string, i exact.Info, u exact.Updated) error {
	method := "set"
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
		{"file_bytes", i.Bytes}, {"build_due,omitempty", i.BuildDue()},
	}
	if u.Bytes == 0 {
		return a.report(r, "%s: nothing has changed", path)
	}
	updates := "1 update"
	if i.Updates > 1 {
		updates = fmt.Sprintf("%d updates", i.Updates)
	}
	due := ""
	if i.BuildDue() != "" {
		due = "\nbloomery: a full build is due, by exact build: " + i.BuildDue()
	}
	return a.report(r, "%s: %d added, %d removed of %d keys by an update of %s, method %s; %s with %s%s",
		path, u.Added, u.Removed, i.Universe, bytesText(u.Bytes), method, bytesText(i.Bytes), updates, due)
}
