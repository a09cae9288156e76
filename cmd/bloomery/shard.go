package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bloomery/bloomery/internal/cli"
	"github.com/bloomery/bloomery/internal/steps"
	"github.com/bloomery/bloomery/shard"
)

func (a *app) shardCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "shard",
		Short: "Build a sharded set in steps, on any number of machines",
		Long: `Build a sharded set in steps that a scheduler of your own runs: make, Kubernetes Jobs, ssh. The machines
share the folder DIR and the input. The set is the one of bloomery build --shards, byte for byte. Run plan once, range
and then build in parallel, and finish once; status says what is missing.

Every step may be killed and run again at any moment: what is finished is checked and kept, and the result has the same
bytes. Two attempts at the same step may run at the same time. Only finish changes the set in DIR, so a late worker of a
plan that was given up does no harm.

For Kubernetes Jobs and make see https://github.com/bloomery/bloomery/blob/main/docs/guides/large.md`,
		Example: "  bloomery shard plan -o large.set --shards 16 --spec blocked large.txt\n" +
			"  bloomery shard range large.set --all\n  bloomery shard build large.set --all\n  bloomery shard finish large.set",
	}
	c.AddCommand(a.shardPlanCommand(), a.shardRangeCommand(), a.shardBuildCommand(), a.shardFinishCommand(),
		a.shardStatusCommand())
	return c
}

type stepFlags struct {
	plan  string
	all   bool
	every string
	limit steps.Options
}

func (f *stepFlags) registerPlan(c *cobra.Command) {
	c.Flags().StringVar(&f.plan, "plan", "", "id of the plan, if there are several in the folder")
}

func (a *app) readPlan(ctx context.Context, dir, id string) (*steps.Plan, steps.Store, error) {
	out := steps.Dir(dir)
	if err := cli.NoStdout("DIR", aSet, dir); err != nil {
		return nil, nil, err
	}
	if st, err := os.Stat(dir); err != nil {
		return nil, nil, err
	} else if !st.IsDir() {
		return nil, nil, fmt.Errorf("%s is a file; name the folder of -o of bloomery shard plan", dir)
	}

	p, err := steps.ReadPlan(ctx, out, id, nil)
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	if errors.Is(err, steps.ErrNoPlan) || id != "" && errors.Is(err, fs.ErrNotExist) {
		advice := fmt.Sprintf("Make one: bloomery shard plan -o %s --shards N INPUT...", dir)
		if _, err := out.Stat(ctx, shard.ManifestName); err == nil {
			advice = "There is a finished set, of which bloomery info tells more. To build another one: bloomery shard plan."
		}
		err = cli.Advise(err, advice)
	}
	return p, out, err
}

func (a *app) shardFinishCommand() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use:   "finish DIR",
		Short: "Write the manifest of a sharded set whose shards are built",
		Long: `Check the shards, which must all be built, move them to their final names, and write the manifest. Then
remove the working files, and the files of the set that was in the folder before. Run it again if it was interrupted.
If the set is finished already, it is only reported.`,
		Example: "  bloomery shard finish large.set",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			start, ctx := time.Now(), c.Context()
			p, out, err := a.readPlan(ctx, args[0], f.plan)
			if errors.Is(err, steps.ErrNoPlan) {
				if m, old := steps.ReadManifest(ctx, out); old == nil && m != nil {
					return a.reportShards(args[0], m, start)
				}
			}
			if err != nil {
				return err
			}
			m, err := p.Finish(ctx, out, steps.Options{})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return a.reportShards(args[0], m, start)
		},
	}
	f.registerPlan(c)
	return c
}

func (a *app) shardStatusCommand() *cobra.Command {
	var f stepFlags
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Say which ranges and shards of a plan are not finished",
		Long: `Say which ranges and shards of a plan are not finished, and whether the set in the folder has changed since
the plan was made, so that finish refuses to replace it. Files that are damaged count as missing, as far as their sizes
and headers tell. Exit code 0 if finish can run, 1 if something is missing or the set has changed, 2 after an error.`,
		Example: "  bloomery shard status large.set --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, out, err := a.readPlan(c.Context(), args[0], f.plan)
			if err != nil {
				return err
			}
			st, err := p.Status(c.Context(), out)
			if err != nil {
				return err
			}
			ranges, shards := st.MissingRanges, st.MissingShards
			err = a.answer(object{
				{"plan", p.ID()}, {"spec", p.Spec.String()}, {"ranges", st.Ranges}, {"shards", st.Shards},
				{"missing_ranges", ranges}, {"missing_shards", shards}, {"keys", st.Keys}, {"input_bytes", p.Size()},
				{"set_changed,omitempty", st.SetChanged}, // finish will refuse
			}, "plan %s: %s\nranges: %d of %d missing%s\nshards: %d of %d missing%s\n", p.ID(), p.Spec,
				len(ranges), st.Ranges, listed(ranges), len(shards), st.Shards, listed(shards))
			if err == nil && st.SetChanged {
				a.warn("%s: %v; finish will refuse to replace it", args[0], steps.ErrSetChanged)
			}
			return exitIf(st.SetChanged || len(ranges)+len(shards) > 0, err)
		},
	}
	f.registerPlan(c)
	return c
}

// listed formats at most 20 numbers for the end of a line.
func listed(numbers []int) string {
	text := ""
	for i, n := range numbers {
		if i == 20 {
			return text + " ..."
		}
		text += " " + strconv.Itoa(n)
	}
	return strings.Replace(text, " ", ": ", 1)
}
