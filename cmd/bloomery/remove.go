package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery"
	"github.com/bloomery/bloomery/filter"
	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/keyio"
)

type removeFlags struct {
	in         inputFlags
	config     bloomery.JobConfig // limits
	all, force bool
}

// maxNamed is the number of missing keys that remove prints.
const maxNamed = 5

func (a *app) removeCommand() *cobra.Command {
	var f removeFlags
	c := &cobra.Command{
		Use:   "remove FILE [INPUT...]",
		Short: "Remove keys from a filter file",
		Long: `Remove only keys that were added, and as often: at the false-positive rate, another key removes a member.
Without --counting, a filter may contain a key once, however often it was in the build.

If more than half of the keys are not found, or 0.5 members or more would be lost on average, nothing is changed (exit
code 2). Otherwise the keys that are found are removed. --json has expected_strangers and expected_lost.`,
		Example: `  bloomery build -o sessions.bloom --needs remove --capacity 1M sessions.txt
  bloomery remove sessions.bloom ended.txt
  echo key-77 | bloomery remove --all --json sessions.bloom`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := a.lock(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			return a.remove(c.Context(), f, l, args[0], args[1:])
		},
	}
	f.in.register(c)
	withoutKeyFlag(c)
	memoryFlags(c, &f.config.Building.Memory, &f.config.Building.TempDir, "64MiB")
	c.Flags().BoolVar(&f.all, "all", false, "remove nothing unless every key is found")
	c.Flags().BoolVar(&f.force, "force", false, "remove although members are lost")
	return c
}

// remove removes the keys of the inputs from the file at path, which is locked, and reports. It returns errNo if a key
// was not found.
func (a *app) remove(ctx context.Context, f removeFlags, l *bloomery.Locked, path string, inputs []string) error {
	left, removed, written := l.Len(), uint64(0), false
	seen, err := a.removeFrom(ctx, f, l.Set, inputs)
	refused := errors.Is(err, filter.ErrStrangers)
	if err != nil && !refused {
		return err
	}
	if seen.Removed > 0 && !refused && (!f.all || seen.NotFound == 0) {
		if err := l.Commit(ctx); err != nil {
			return err
		}
		left, removed, written = l.Len(), seen.Removed, true
	}
	r := object{
		{"removed", removed}, {"not_found", seen.NotFound}, {"keys", left}, {"written", written},
		{"expected_strangers", seen.Strangers}, // keys that look present but were never added
		{"expected_lost", seen.Lost},           // members that were lost, or would be with --force
	}
	if refused {
		if a.json {
			if err := a.printJSON(r); err != nil {
				return err
			}
		}
		return cli.Advise(fmt.Errorf("%s: %w; nothing was changed", path, err),
			`Check that the list belongs to this filter, and that no key is in it more often than it was added:
  sort -u leaves each key once. --force removes what is found all the same.`)
	}
	end := ""
	if !written {
		end = "; the file is as it was"
	} else if seen.Strangers >= bloomery.MaxStrangers {
		end = fmt.Sprintf("; about %.0f of the removed keys were never added, and about %.0f members are lost",
			seen.Strangers, seen.Lost)
	}
	err = a.report(r, "%s: %d keys removed, %d not found, %d left%s", path, removed, seen.NotFound, left, end)
	return exitIf(seen.NotFound > 0, err)
}

// removeFrom removes the keys of the inputs from a set. With --all it removes no key if one is not found.
func (a *app) removeFrom(
	ctx context.Context, f removeFlags, set *bloomery.Set, inputs []string,
) (seen bloomery.Removed, err error) {
	bar := a.later("removing")
	defer bar.End()
	f.config.Building.Progress = bar.report
	list, err := set.Removal(f.config)
	if err != nil {
		return seen, err
	}
	defer list.Close()
	f.in.form = set.Hasher().Form()
	watch := watchValues(set, f.in)
	defer a.warnValues("the filter", watch)
	named := 0
	if a.quiet {
		named = maxNamed
	}

	hash := hashing(set.Hasher())
	err = a.pass(ctx, f.in, inputs, "reading", func(b *keyio.Batch) error {
		_ = hash(b) // it never fails
		hits := make([]bool, len(b.Hashes))
		set.ContainsHashes(hits, b.Hashes)
		for i, hit := range hits {
			if !hit {
				b.Values = append(b.Values, uint64(i)) // index of a missing key
			}
		}
		return nil
	}, func(b *keyio.Batch) error {
		for _, i := range b.Values[:min(len(b.Values), maxNamed-named)] {
			watch.absent(b.Text(int(i)))
			named++
			a.note("not found: %q", f.in.key(b.Text(int(i))))
		}
		return list.AddMany(b.Keys)
	})
	if err != nil {
		return seen, err
	}
	if seen, err = list.Look(ctx); err != nil || f.all && seen.NotFound > 0 {
		return seen, err
	}
	if f.force {
		list.Force()
	}
	return list.Commit(ctx)
}
